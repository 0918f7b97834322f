//! A text without the escapes that writers of JSON and scripts put in place of
//! plain characters: `\/`, `\u002B`, `\x3d`, as often escaped as may be; and
//! without those of addresses and of HTML: `%3D`, `&quot;`.
//!
//! Secrets are looked for in it as well, and taken out of the text that is
//! shown. Which escapes there are depends on who wrote them: PHP escapes
//! slashes, .NET `+` and quotes, Gson `=`, Go `&`, and some all there is.

use std::ops::Range;

use memchr::memchr3_iter;

/// What stands in every text in which an escape keeps a secret's own literals
/// from being seen: any escaped character may be one of these, but a slash.
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
    /// Where an escape stood: the end of its character here, and its own.
    escapes: Vec<(usize, Range<usize>)>,
}

impl Unescaped {
    /// Nothing where there are no such escapes.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut made = Self { text: String::new(), escapes: Vec::new() };
        let mut done = 0;
        for at in memchr3_iter(b'\\', b'%', b'&', text.as_bytes()) {
            let Some((character, length)) = escape(&text.as_bytes()[at..]) else { continue };
            let before = &text[done..at];
            // All but the last of several in a row are escapes of escapes.
            let is_escape = text.as_bytes()[at] == b'\\';
            let start = done + if is_escape { before.trim_end_matches('\\') } else { before }.len();
            made.text.push_str(&text[done..start]);
            made.text.push(character);
            done = at + length;
            made.escapes.push((made.text.len(), start..done));
        }
        made.text.push_str(&text[done..]);
        (done > 0).then_some(made)
    }

    /// Where a range of it stands in the text that it was made of.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        // An escape that a range begins with belongs to it, and so does one that it ends with.
        let place = |at: usize| {
            let known = self.escapes.partition_point(|(end, _)| *end <= at);
            let (end, from) = known.checked_sub(1).map_or((0, 0), |one| {
                let (end, escape) = &self.escapes[one];
                (*end, escape.end)
            });
            from + (at - end)
        };
        place(range.start)..place(range.end)
    }
}

const ENTITIES: [(&str, char); 6] =
    [("&quot;", '"'), ("&#34;", '"'), ("&#39;", '\''), ("&#x27;", '\''), ("&amp;", '&'), ("&#61;", '=')];

/// The plain character of an escape, and how long that is.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let (digits, length) = match text {
        [b'\\', b'/', ..] => return Some(('/', 2)),
        [b'\\', b'u', b'0', b'0', high, low, ..] => ([*high, *low], 6),
        [b'\\', b'x', high, low, ..] => ([*high, *low], 4),
        [b'%', high, low, ..] => ([*high, *low], 3),
        text => {
            let entity = ENTITIES.iter().find(|(entity, _)| text.starts_with(entity.as_bytes()));
            return entity.map(|(entity, character)| (*character, entity.len()));
        }
    };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let character = char::from_u32(digit(digits[0])? * 16 + digit(digits[1])?)?;
    matches!(character, ' '..='~').then_some((character, length))
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
    fn others_stay() {
        for given in [
            r"C:\new\u12 \n \u001b[1m \u00e9 \xe9 \",
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
