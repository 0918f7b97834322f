//! Cuts a request into tokens. Only its beginning is looked at.

use std::ops::Range;

/// The characters in which a sentence about tasks must be found.
pub(super) const LOOKED_AT: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// In lower case, straight apostrophes.
    pub(super) text: String,
    /// As it was written, without quotation marks.
    pub(super) raw: String,
    /// Where it stands in the request, in bytes.
    pub(super) at: Range<usize>,
    pub(super) kind: Kind,
    /// A comma or a colon stands before it.
    pub(super) set_off: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    /// Inside quotation marks or backticks.
    Quoted,
    /// The end of a sentence.
    Stop,
    /// The end of a line, or a semicolon.
    Break,
    /// Anything else, which no sentence about tasks has.
    Other,
}

/// The tokens of the beginning, and whether that is all of the request.
pub(super) fn tokens(text: &str) -> (Vec<Token>, bool) {
    let cut = text.char_indices().nth(LOOKED_AT).map_or(text.len(), |(at, _)| at);
    let mut lexer = Lexer { text: &text[..cut], at: 0, set_off: false, tokens: Vec::new() };
    while lexer.step() {}
    (lexer.tokens, cut == text.len())
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    set_off: bool,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn push(&mut self, kind: Kind, text: &str, at: Range<usize>) {
        let set_off = std::mem::take(&mut self.set_off);
        let lower = text.to_lowercase().replace('’', "'");
        self.tokens.push(Token { text: lower, raw: text.to_owned(), at, kind, set_off });
    }

    /// Reads one token or skips one character. Returns `false` at the end.
    fn step(&mut self) -> bool {
        let Some(first) = self.peek() else { return false };
        let start = self.at;
        let rest = &self.text[start..];
        if let Some(end) = quoted(rest, self.text[..start].chars().next_back()) {
            self.at += end;
            let inner = rest[..end].trim_matches(|c| QUOTES.iter().any(|(a, b)| c == *a || c == *b));
            self.push(Kind::Quoted, inner.trim(), start..start + end);
            return true;
        }
        if first.is_alphanumeric() || (first == '#' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let length = word(rest);
            self.at += length;
            self.words(start, length);
            return true;
        }
        self.at += first.len_utf8();
        match first {
            ',' | ':' | '–' | '—' => {
                self.set_off = true;
                // Elsewhere a colon announces what no sentence has.
                if first == ':' && rest[1..].trim_start().is_empty() {
                    self.push(Kind::Other, ":", start..self.at);
                }
            }
            // Between words, but no bullet at the beginning of a line.
            '-' if is_dash(&self.text[..start], &rest[1..]) => self.set_off = true,
            '.' | '!' | '?' | '…' => self.push(Kind::Stop, "", start..self.at),
            '\n' | ';' => self.push(Kind::Break, "", start..self.at),
            '¿' | '¡' | '\'' => {}
            _ if first.is_whitespace() || (!first.is_ascii() && !first.is_alphanumeric()) => {}
            _ => self.push(Kind::Other, &rest[..first.len_utf8()], start..self.at),
        }
        true
    }

    /// A word, and the ending that an apostrophe joins to it.
    fn words(&mut self, start: usize, length: usize) {
        let word = &self.text[start..start + length];
        let ending = word.rfind(['\'', '’']).filter(|at| {
            let tail = word[*at..].trim_start_matches(['\'', '’']).to_ascii_lowercase();
            ["s", "d", "re", "ve", "ll", "m"].contains(&tail.as_str())
        });
        match ending {
            Some(at) if at > 0 => {
                self.push(Kind::Word, &word[..at], start..start + at);
                self.push(Kind::Word, &word[at..], start + at..start + length);
            }
            Some(_) | None => match QUICK.iter().find(|quick| word.eq_ignore_ascii_case(quick)) {
                Some(quick) => {
                    let at = start + quick.len() - 1;
                    self.push(Kind::Word, &word[..quick.len() - 1], start..at);
                    self.push(Kind::Word, "'s", at..start + length);
                }
                None => self.push(Kind::Word, word, start..start + length),
            },
        }
    }
}

fn is_dash(before: &str, after: &str) -> bool {
    before.ends_with(' ') && after.starts_with(' ') && !before.trim_end_matches(' ').ends_with('\n')
}

/// Written without their apostrophe.
const QUICK: [&str; 4] = ["whats", "hows", "wheres", "thats"];

const QUOTES: [(char, char); 7] =
    [('"', '"'), ('`', '`'), ('“', '”'), ('„', '“'), ('«', '»'), ('\'', '\''), ('‘', '’')];

/// The length of the quotation that `text` begins with.
fn quoted(text: &str, before: Option<char>) -> Option<usize> {
    let first = text.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    // Between letters it is an apostrophe.
    if before.is_some_and(char::is_alphanumeric) && first == '\'' {
        return None;
    }
    let fence = text.len() - text.trim_start_matches(first).len();
    let inner = &text[fence..];
    let end = inner.char_indices().find(|(at, c)| {
        let after = inner[at + c.len_utf8()..].chars().next();
        *c == *close && (!matches!(first, '\'' | '‘') || !after.is_some_and(char::is_alphanumeric))
    });
    match end {
        Some((at, c)) => Some(fence + at + inner[at..].len() - inner[at..].trim_start_matches(c).len()),
        // A lone apostrophe opens nothing; a lone quotation mark opens the rest.
        None if matches!(first, '\'' | '‘') => None,
        None => Some(text.len()),
    }
}

/// The length of the word that `text` begins with: `T-local-0a1b`, `main.rs`, `don't`.
fn word(text: &str) -> usize {
    let inner = |c: char| matches!(c, '-' | '_' | '\'' | '’' | '.' | '/' | '@' | ':' | '+' | '#');
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut joins = || chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if c.is_alphanumeric() || (at == 0 && c == '#') || (inner(c) && joins()) {
            end = at + c.len_utf8();
        } else {
            break;
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Kind)]) {
        let (tokens, _) = tokens(text);
        let read: Vec<(&str, Kind)> = tokens.iter().map(|token| (token.text.as_str(), token.kind)).collect();
        assert_eq!(read, expected, "{text}");
    }

    #[test]
    fn words_quotations_and_ends_are_told_apart() {
        use Kind::{Break, Other, Quoted, Stop, Word};
        check("What's #2?", &[("what", Word), ("'s", Word), ("#2", Word), ("", Stop)]);
        check("don’t `stop it`;", &[("don't", Word), ("stop it", Quoted), ("", Break)]);
        check(
            "fix 'my task' in main.rs",
            &[("fix", Word), ("my task", Quoted), ("in", Word), ("main.rs", Word)],
        );
        check(
            "the users' task\n* a",
            &[("the", Word), ("users", Word), ("task", Word), ("", Break), ("*", Other), ("a", Word)],
        );
        check("```\nstop\n``` \"open", &[("stop", Quoted), ("open", Quoted)]);
    }

    #[test]
    fn only_the_beginning_is_looked_at() {
        let long = "é ".repeat(100_000);
        let (tokens, whole) = tokens(&long);
        assert_eq!((tokens.len(), whole), (LOOKED_AT / 2, false));
    }
}
