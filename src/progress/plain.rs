//! Text of others, made safe to show.
//!
//! Agents, commands and file names may carry terminal escapes, control
//! characters, and marks that turn the direction of writing; on a screen each
//! can make one thing look like another. Meaning is not touched.

use crate::redact;

/// One line: line breaks and tabs become single spaces. At most `most`
/// characters, the last one `…` when there was more. Stops reading soon after,
/// so a megabyte costs no more than a line.
pub(crate) fn line(text: &str, most: usize) -> String {
    let whole = joined(text, most);
    let Some((over, _)) = whole.char_indices().nth(most) else { return whole };
    let most = most.saturating_sub(1);
    // No secret is cut in two: the half of one is not recognised later.
    let more = joined(text, over + redact::MARGIN);
    let end = more.char_indices().nth(most).map_or(more.len(), |(at, _)| at);
    let cut = redact::beginning(&more[..end], &more);
    if over == 0 { String::new() } else { format!("{}…", cut.trim_end()) }
}

/// The words of a text with single spaces between them, until there are more
/// than `enough` characters.
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

/// A whole text: line breaks and tabs stay, a carriage return alone does not.
pub(crate) fn text(text: &str) -> String {
    Visible::new(text).collect()
}

/// The characters of a text that may be shown, lazily.
struct Visible<'a> {
    rest: std::str::Chars<'a>,
}

impl<'a> Visible<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text.chars() }
    }

    /// Passes over what follows an escape character.
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

    /// Parameters up to the letter that ends them.
    fn skip_control_sequence(&mut self) {
        let mut ahead = self.rest.clone();
        while let Some(c) = ahead.next() {
            match c {
                ' '..='?' => self.rest = ahead.clone(),
                '@'..='~' => {
                    self.rest = ahead;
                    return;
                }
                // Not a sequence after all: what follows is text again.
                _ => return,
            }
        }
    }

    /// Up to the bell or the string terminator; an unfinished one hides the rest.
    fn skip_terminal_string(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\u{7}' | '\u{9c}' => return,
                '\u{1b}' => {
                    self.rest.next();
                    return;
                }
                _ => {}
            }
        }
    }
}

impl Iterator for Visible<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        loop {
            match self.rest.next()? {
                '\u{1b}' => self.skip_escape(),
                '\u{9b}' => self.skip_control_sequence(),
                '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => self.skip_terminal_string(),
                c @ ('\n' | '\t') => return Some(c),
                '\u{2028}' | '\u{2029}' => return Some('\n'),
                c if c.is_control() || is_hidden(c) => {}
                c => return Some(c),
            }
        }
    }
}

/// Characters without a shape of their own that change how others are shown or
/// hide text from the reader: direction marks and the invisible tag alphabet.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        assert_eq!(line(given, 40), expected);
    }

    #[test]
    fn terminal_escapes_are_gone() {
        check("\u{1b}[1;31mred\u{1b}[0m text", "red text");
        check("\u{1b}]0;title\u{7}after", "after");
        check("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
        check("\u{9b}2Jcleared \u{1b}(Bset \u{1b}7saved", "cleared set saved");
    }

    #[test]
    fn an_unfinished_escape_does_not_swallow_what_follows_its_line() {
        check("\u{1b}[31", "");
        check("\u{1b}[3é", "é");
        check("\u{1b}", "");
    }

    #[test]
    fn marks_that_turn_text_around_are_gone() {
        check("user\u{202e}gpj.exe\u{2066}x\u{2069}", "usergpj.exex");
        check("a\u{200b}b\u{feff}c\u{e0041}", "abc");
    }

    #[test]
    fn a_line_has_no_breaks_and_no_wide_gaps() {
        check("  a\r\n\n\tb  c\u{2028}d\u{0} ", "a b c d");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        check(&"é".repeat(100), &format!("{}…", "é".repeat(39)));
        check(&format!("{} b", "a".repeat(39)), &format!("{}…", "a".repeat(39)));
        check(&"a".repeat(40), &"a".repeat(40));
        assert_eq!(line("abc", 0), "");
    }

    #[test]
    fn a_text_keeps_its_lines() {
        assert_eq!(text("a\r\n\tb\u{1b}[0m\u{7}"), "a\n\tb");
    }

    proptest! {
        #[test]
        fn whatever_comes_is_short_and_plain(given in any::<String>(), most in 0usize..20) {
            let line = line(&given, most);
            prop_assert!(line.chars().count() <= most);
            prop_assert!(!line.chars().any(|c| c.is_control() || is_hidden(c)));
        }
    }
}
