//! Removes escapes from a text, to find secrets that they hide: `\/`, `\u002B` and `\x3d`, also
//! escaped repeatedly; `%3D` and `&quot;`; and terminal colours, raw or as `\u001b[31m`.
//!
//! Which characters are escaped depends on the writer: PHP escapes slashes, .NET `+` and quotes,
//! Gson `=`, Go `&`, and some escape everything.

use std::ops::Range;

use memchr::{memchr, memchr3_iter};

/// At least one of these occurs in every text in which an escape hides a literal of a secret. Any
/// escaped character may be part of one, except a slash.
pub(super) const LITERALS: &[&str] = &[
    r"\u002",
    r"\u003",
    r"\u004",
    r"\u005",
    r"\u006",
    r"\u007",
    r"\x2",
    r"\x3",
    r"\x4",
    r"\x5",
    r"\x6",
    r"\x7",
    r"\u001b[",
    r"\x1b[",
    r":\/",
    r":\\",
    r"1\/",
    r"1\\",
    "%3a%2f",
    "%26sig",
    "%3fsig",
    "amp;sig",
    "bearer%20",
];

pub(super) struct Unescaped {
    pub(super) text: String,
    escapes: Vec<Escape>,
}

/// The position of an escape.
struct Escape {
    /// The end of its character in the unescaped text.
    end: usize,
    /// Its range in the original text.
    place: Range<usize>,
    is_colour: bool,
}

impl Unescaped {
    /// `None` if there are no such escapes.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut made = Self { text: String::new(), escapes: Vec::new() };
        let mut done = 0;
        let mut take = |at: usize| {
            let Some((character, length)) = escape(&text.as_bytes()[at..]) else { return };
            let before = &text[done..at];
            // Preceding backslashes are escapes of the escape.
            let is_escape = text.as_bytes()[at] == b'\\';
            let start = done + if is_escape { before.trim_end_matches('\\') } else { before }.len();
            made.text.push_str(&text[done..start]);
            made.text.extend(character);
            done = at + length;
            let is_colour = character.is_none();
            made.escapes.push(Escape { end: made.text.len(), place: start..done, is_colour });
        };
        match memchr(ESCAPE, text.as_bytes()) {
            None => memchr3_iter(b'\\', b'%', b'&', text.as_bytes()).for_each(take),
            Some(_) => {
                let begins = |(_, byte): &(usize, u8)| matches!(*byte, b'\\' | b'%' | b'&' | ESCAPE);
                text.bytes().enumerate().filter(begins).for_each(|(at, _)| take(at));
            }
        }
        made.text.push_str(&text[done..]);
        (done > 0).then_some(made)
    }

    /// The range in the original text.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        let known = |at: usize| self.escapes.partition_point(|escape| escape.end <= at);
        let place = |known: usize, at: usize| {
            let (end, from) = known.checked_sub(1).map_or((0, 0), |one| {
                let escape = &self.escapes[one];
                (escape.end, escape.place.end)
            });
            from + (at - end)
        };
        // Includes an escape at the start of the range, and one at its end unless that is a colour.
        let after = |one: &&Escape| one.is_colour && one.end == range.end;
        let last = known(range.end);
        let colours = self.escapes[..last].iter().rev().take_while(after).count();
        place(known(range.start), range.start)..place(last - colours, range.end)
    }
}

const ESCAPE: u8 = 0x1b;
/// The ways in which it is written.
const WRITTEN: [&[u8]; 5] = [b"\x1b", br"\u001b", br"\u001B", br"\x1b", br"\x1B"];

/// The length of a colour sequence.
fn colour(text: &[u8]) -> Option<usize> {
    let begin = WRITTEN.iter().find(|written| text.starts_with(written))?.len();
    let rest = text[begin..].strip_prefix(b"[")?;
    let numbers = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'?')).count();
    rest.get(numbers).filter(|byte| byte.is_ascii_alphabetic())?;
    Some(begin + 1 + numbers + 1)
}

const ENTITIES: [(&str, char); 6] =
    [("&quot;", '"'), ("&#34;", '"'), ("&#39;", '\''), ("&#x27;", '\''), ("&amp;", '&'), ("&#61;", '=')];

/// The character and length of an escape; no character for a colour.
fn escape(text: &[u8]) -> Option<(Option<char>, usize)> {
    if let Some(length) = colour(text) {
        return Some((None, length));
    }
    let (digits, length) = match text {
        [b'\\', b'/', ..] => return Some((Some('/'), 2)),
        [b'\\', b'u', b'0', b'0', high, low, ..] => ([*high, *low], 6),
        [b'\\', b'x', high, low, ..] => ([*high, *low], 4),
        [b'%', high, low, ..] => ([*high, *low], 3),
        text => {
            let entity = ENTITIES.iter().find(|(entity, _)| text.starts_with(entity.as_bytes()));
            return entity.map(|(entity, character)| (Some(*character), entity.len()));
        }
    };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let character = char::from_u32(digit(digits[0])? * 16 + digit(digits[1])?)?;
    matches!(character, ' '..='~').then_some((Some(character), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        let made = Unescaped::of(given);
        assert_eq!(made.as_ref().map_or(given, |made| &made.text), expected);
    }

    #[test]
    fn plain_characters_are_unescaped() {
        check(r"https:\/\/h\/x", "https://h/x");
        check(r"a\u002Bb\u002fc\u003d\u003D", "a+b/c==");
        check(r"\\\/ \\u0026 \\\\x27", "/ & '");
        check(r"\u0067\u0068p_", "ghp_");
        check("a%3D%2f &quot;b&quot; &amp; &amp;quot;", "a=/ \"b\" & &quot;");
    }

    #[test]
    fn colours_are_taken_out() {
        check("a\u{1b}[01;31m\u{1b}[Kb\u{1b}[mc %3D", "abc =");
        check(r"API_\u001b[1;31mKEY\u001B[0m=\x1b[32mx", "API_KEY=x");
        check(r"\\u001b[1ma \u001b]0;t \u001b[é", r"a \u001b]0;t \u001b[é");
    }

    #[test]
    fn others_stay() {
        for given in [
            r"C:\new\u12 \n \u001b[é \u00e9 \xe9 \",
            r#"\"a\" \\ \u00"#,
            r"\u{61}",
            "é",
            "100% of a&b %zz %e9 &eacute;",
        ] {
            assert!(Unescaped::of(given).is_none(), "{given}");
        }
    }

    #[test]
    fn every_part_is_found_where_it_stood() {
        let given = r"é\u002Bx\\\/y\/";
        let made = Unescaped::of(given).unwrap();
        assert_eq!(made.text, "é+x/y/");
        for (range, original) in [
            (0..2, "é"),
            (2..3, r"\u002B"),
            (3..4, "x"),
            (4..5, r"\\\/"),
            (2..7, r"\u002Bx\\\/y\/"),
            (0..7, given),
        ] {
            assert_eq!(&given[made.original(&range)], original, "{range:?}");
        }
    }
}
