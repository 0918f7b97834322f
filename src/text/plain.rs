//! Makes foreign text safe to display.
//!
//! Agents, commands and file names may contain terminal escapes, control characters and direction
//! marks, any of which can make one thing look like another.

use crate::redact;
use crate::text::invisible_chars::is_invisible;

/// One line of at most `most` characters, ending in `…` if shortened. Line breaks and tabs become
/// single spaces. Reads only as much of the text as needed.
pub(crate) fn line(text: &str, most: usize) -> String {
    let whole = joined(text, most);
    let Some((over, _)) = whole.char_indices().nth(most) else { return whole };
    let most = most.saturating_sub(1);
    // Do not cut a secret in two: redaction would miss the half.
    let more = joined(text, over + redact::MARGIN);
    let end = more.char_indices().nth(most).map_or(more.len(), |(at, _)| at);
    let cut = redact::beginning(&more[..end], &more);
    if over == 0 { String::new() } else { format!("{}…", cut.trim_end()) }
}

/// The words of a text separated by single spaces, stopping after `enough` characters.
fn joined(text: &str, enough: usize) -> String {
    let mut line = String::new();
    let (mut length, mut gap) = (0, false);
    for c in Visible::new(text) {
        if c.is_whitespace() {
            gap = length > 0;
            continue;
        }
        if gap {
            line.push(' ');
            length += 1;
        }
        line.push(c);
        length += 1;
        gap = false;
        if length > enough {
            break;
        }
    }
    line
}

/// An unambiguous file name: unchanged if it can be shown as it is, otherwise quoted and escaped as
/// by git.
pub(crate) fn name(bytes: &[u8], most: usize) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text) => line(text, most),
        Ok(_) | Err(_) => line(&quoted(bytes), most),
    }
}

/// Whether a name can be shown unchanged.
fn is_plain(name: &str) -> bool {
    let shown = |c: char| c == ' ' || !must_be_escaped(c);
    name.chars().all(shown)
        && !name.starts_with(' ')
        && !name.ends_with(' ')
        && !["  ", " -> "].iter().any(|odd| name.contains(odd))
}

fn must_be_escaped(c: char) -> bool {
    matches!(c, '"' | '\\') || c.is_control() || c.is_whitespace() || is_invisible(c)
}

fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                // Escape the second of two spaces, so that all are visible.
                ' ' if !text.ends_with(' ') => text.push(' '),
                c if must_be_escaped(c) => octal(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut text),
                c => text.push(c),
            }
        }
        octal(chunk.invalid(), &mut text);
    }
    text.push('"');
    text
}

fn octal(bytes: &[u8], text: &mut String) {
    bytes.iter().for_each(|byte| text.push_str(&format!("\\{byte:03o}")));
}

/// Cleans a whole text. Keeps line breaks and tabs; drops carriage returns.
pub(crate) fn text(text: &str) -> String {
    Visible::new(text).collect()
}

/// Like [`text`], for printed output: keeps the last state of a line that was overwritten, such as
/// a progress bar.
pub(crate) fn printed(text: &str) -> String {
    if !text.contains('\r') {
        return self::text(text);
    }
    text.split_inclusive('\n').map(last_state).collect()
}

/// The last non-blank line of printed output, redacted.
pub(crate) fn last_line(printed: &str) -> Option<String> {
    last_of(&redacted(printed)).map(str::to_owned)
}

/// Printed output, redacted. Must see the text before a line, because a line of a private key alone
/// looks like any other, and must see it without colours.
pub(crate) fn redacted(printed: &str) -> String {
    redact::text(&self::printed(printed)).into_owned()
}

/// The last line that is not blank.
pub(crate) fn last_of(shown: &str) -> Option<&str> {
    shown.lines().rev().map(str::trim).find(|line| !line.is_empty())
}

fn last_state(line: &str) -> String {
    let (states, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
    let shown = states.rsplit('\r').map(text).find(|state| !state.trim().is_empty());
    shown.unwrap_or_default() + end
}

/// One line of a text, keeping its carriage returns.
pub(crate) fn line_of_text(line: &str) -> String {
    if is_shown_as_it_is(line) {
        return line.to_owned();
    }
    Visible { returns: Returns::Kept, ..Visible::new(line) }.collect()
}

/// Like [`line_of_text`]. Also moves the sorted `places` in the line to their positions in the
/// result.
pub(crate) fn line_of_text_placed(line: &str, places: &mut [usize]) -> String {
    if is_shown_as_it_is(line) {
        return line.to_owned();
    }
    let mut visible = Visible { returns: Returns::Kept, ..Visible::new(line) };
    let mut shown = String::new();
    let mut places = places.iter_mut().peekable();
    loop {
        let next = visible.next();
        let passed = line.len() - visible.rest.as_str().len();
        while let Some(place) = places.next_if(|place| next.is_none() || **place < passed) {
            *place = shown.len();
        }
        match next {
            Some(c) => shown.push(c),
            None => return shown,
        }
    }
}

/// True for most lines; must be fast.
fn is_shown_as_it_is(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
}

/// The displayable characters of a text, lazily.
struct Visible<'a> {
    rest: std::str::Chars<'a>,
    returns: Returns,
}

/// How carriage returns are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Returns {
    Dropped,
    Kept,
}

impl<'a> Visible<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.chars(), returns: Returns::Dropped }
    }

    /// Skips the rest of an escape sequence.
    fn skip_escape(&mut self) {
        match self.rest.next() {
            Some('[') => self.skip_control_sequence(),
            // Strings for the terminal: titles, links, device commands.
            Some(']' | 'P' | 'X' | '^' | '_') => self.skip_terminal_string(),
            // Two-character escapes, and those with one intermediate.
            Some(' '..='/') => {
                self.rest.next();
            }
            Some(_) | None => {}
        }
    }

    /// Skips parameters up to the final letter.
    fn skip_control_sequence(&mut self) {
        let mut ahead = self.rest.clone();
        while let Some(c) = ahead.next() {
            match c {
                ' '..='?' => self.rest = ahead.clone(),
                '@'..='~' => {
                    self.rest = ahead;
                    return;
                }
                // Not a sequence: what follows is text again.
                _ => return,
            }
        }
    }

    /// Skips up to the bell, string terminator or cancel character. If the line has none of them,
    /// what follows is text.
    fn skip_terminal_string(&mut self) {
        let mut ahead = self.rest.clone();
        let mut before = ahead.clone();
        while let Some(c) = ahead.next() {
            match c {
                '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}' => {
                    self.rest = ahead;
                    return;
                }
                '\u{1b}' => {
                    // Another escape ends it too.
                    let is_terminator = ahead.next() == Some('\\');
                    self.rest = if is_terminator { ahead } else { before };
                    return;
                }
                '\n' => return,
                _ => before = ahead.clone(),
            }
        }
    }

    /// Skips a sequence introduced by U+009B, if numbers and a letter follow. Otherwise the
    /// character may be half of a letter that was encoded twice.
    fn skip_short_sequence(&mut self) {
        let rest = self.rest.as_str();
        let numbers = rest.bytes().take_while(|c| matches!(c, b'0'..=b'?')).count();
        let ends = rest[numbers..].starts_with(|c: char| c.is_ascii_alphabetic());
        if numbers > 0 && ends {
            self.rest = rest[numbers + 1..].chars();
        }
    }
}

impl Iterator for Visible<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            match self.rest.next()? {
                '\u{1b}' => self.skip_escape(),
                '\u{9b}' => self.skip_short_sequence(),
                c @ ('\n' | '\t') => return Some(c),
                '\r' if self.returns == Returns::Kept => return Some('\r'),
                '\u{2028}' | '\u{2029}' => return Some('\n'),
                c if c.is_control() || is_invisible(c) => {}
                c => return Some(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::test_rows;

    #[test]
    fn of_a_line_that_is_written_over_the_last_state_is_left() {
        assert_eq!(printed("a\r\nget 1%\rget 50%\rget 100%\nend"), "a\nget 100%\nend");
        assert_eq!(printed("bar 1\rbar 2\r\u{1b}[K"), "bar 2");
        assert_eq!(printed("bar 1\r\u{1b}[Kdone\r\r\n\r\nx"), "done\n\nx");
    }

    #[test]
    fn the_last_line_is_none_of_a_private_key() {
        let lines = "MIIEpAIBAAKCAQEAx7Bq9ZkT3mXw5Rc1VnY8dLf2Gs6Hj4Ep0UoKx7iQ2bWz8Nt5\n".repeat(3);
        for begins in [
            "BEGIN RSA PRIVATE",
            "\u{1b}[1mBEGIN\u{1b}[m\u{1b}[K RSA PRIVATE",
            "BEGIN \u{1b}[1mPRIVATE\u{1b}[m",
        ] {
            let printed = format!("-----{begins} KEY-----\n{lines}\n");
            assert_eq!(last_line(&printed).as_deref(), Some("[redacted:private-key]"));
        }
        // A key without its marker cannot be recognised, and may be what was asked for.
        assert!(last_line(&format!("sum\n{lines}")).is_some_and(|line| line.starts_with("MIIE")));
        assert_eq!(last_line("10%\r20%\n \n\u{1b}[m").as_deref(), Some("20%"));
    }

    #[test]
    fn a_title_that_is_cancelled_hides_nothing_after_it() {
        for cancel in ['\u{18}', '\u{1a}'] {
            assert_eq!(text(&format!("A\u{1b}]0;oops{cancel}B")), "AB");
        }
    }

    #[test]
    fn a_line_is_plain() {
        let rows = include_str!("../../tests/data/plain_lines.jsonl");
        for [given, expected] in test_rows::<[String; 2]>(rows) {
            assert_eq!(line(&given, 40), expected);
        }
    }

    #[test]
    fn an_unfinished_escape_does_not_swallow_what_follows_its_line() {
        for begins in [']', 'P', 'X', '^', '_'] {
            assert_eq!(text(&format!("a\u{1b}{begins}0;b\nc\u{7}")), "a0;b\nc");
        }
        assert_eq!(text("a\u{1b}]0;b\u{1b}[31mc\nd"), "ac\nd");
    }

    #[test]
    fn text_that_was_encoded_twice_is_all_there() {
        for word in ["Straße", "Øresund", "Привет", "日本語", "total Û 1234567 failed", "Über Ûber"]
        {
            let twice: String = word.bytes().map(char::from).collect();
            let seen = |c: &char| !c.is_control() && !is_invisible(*c);
            let expected: String = twice.chars().filter(seen).collect();
            assert_eq!(text(&format!("{twice}\nend")), format!("{expected}\nend"), "{word}");
        }
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(line(&"é".repeat(100), 40), format!("{}…", "é".repeat(39)));
        assert_eq!(line(&format!("{} b", "a".repeat(39)), 40), format!("{}…", "a".repeat(39)));
        assert_eq!(line(&"a".repeat(40), 40), "a".repeat(40));
        assert_eq!(line("abc", 0), "");
    }

    #[test]
    fn a_text_keeps_its_lines() {
        assert_eq!(text("a\r\n\tb\u{1b}[0m\u{7}"), "a\n\tb");
        assert_eq!(line_of_text("a\rb\u{1b}[0m\u{7}"), "a\rb");
    }

    #[test]
    fn a_place_in_a_line_is_found_again_in_what_is_shown() {
        let line = "a\u{1b}]0;title\u{7}é\u{9b}31mb\r";
        for (at, shown) in [(0, 0), (1, 1), (6, 1), (11, 1), (13, 3), (15, 3), (18, 3), (19, 4), (20, 5)] {
            let mut places = [at];
            assert_eq!(line_of_text_placed(line, &mut places), "aéb\r");
            assert_eq!(places, [shown], "{at}");
        }
    }

    #[test]
    fn every_name_is_shown_and_told_from_every_other() {
        let names: [(&[u8], &str); 9] = [
            (b"src/main.rs", "src/main.rs"),
            ("a bé".as_bytes(), "a bé"),
            (b"e\x1b[31mr", r#""e\033[31mr""#),
            (b"new\nline\t", r#""new\nline\t""#),
            (b" lead trail ", r#"" lead trail ""#),
            (b"two  gaps", r#""two \040gaps""#),
            (b"bad\xfeutf", r#""bad\376utf""#),
            (b"quo\"te\\", r#""quo\"te\\""#),
            ("a -> b\u{202e}".as_bytes(), r#""a -> b\342\200\256""#),
        ];
        for (given, shown) in names {
            assert_eq!(name(given, 40), shown);
        }
        assert_eq!(name(&[b'x'; 50], 10), "xxxxxxxxx…");
    }

    proptest! {
        #[test]
        fn whatever_comes_is_short_and_plain(given in any::<String>(), most in 0usize..20) {
            let line = line(&given, most);
            prop_assert!(line.chars().count() <= most);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_invisible(c)));
        }
    }
}
