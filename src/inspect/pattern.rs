//! A pattern to search for in lines: ripgrep's syntax and engine, linear in time for every pattern, and
//! limited in size.

use std::fmt;
use std::fmt::{Debug, Formatter};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::inspect::InspectError;
use crate::inspect::pattern_visibility::{Kinds, Sight, all_kinds, is_understood, loosened, word};
use crate::inspect::word_search::Word;
use crate::text::plain;

const LONGEST: usize = 4 << 10;
/// The limit in bytes for a compiled pattern, and for its caches while searching.
const MOST_MEMORY: usize = 2 << 20;
const DEEPEST: u32 = 100;
const LONGEST_ERROR: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Kept,
    Ignored,
}

#[derive(Clone)]
pub(crate) struct Pattern {
    text: String,
    pub(super) matcher: RegexMatcher,
    /// The pattern without its conditions on neighbouring characters, for lines whose bytes must not be asked
    /// for them.
    pub(super) loose: Option<Box<RegexMatcher>>,
    /// Finds candidate lines, if that is all it takes.
    pub(super) word: Option<Word>,
    pub(super) sight: Sight,
    /// The secrets whose marks it can see.
    pub(super) kinds: Kinds,
}

impl Pattern {
    pub(crate) fn new(text: &str, case: Case) -> Result<Self, InspectError> {
        if text.len() > LONGEST {
            return Err(InspectError::Pattern(format!("it is longer than {LONGEST} bytes")));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(case == Case::Ignored)
            // A line is shown without its break, so a break cannot match.
            .multi_line(true)
            .crlf(true)
            .size_limit(MOST_MEMORY)
            .dfa_size_limit(MOST_MEMORY)
            .nest_limit(DEEPEST);
        let build = |text: &str| {
            builder.build(text).map_err(|error| InspectError::Pattern(reason(&error.to_string())))
        };
        // The engine puts a pattern in parentheses. If the pattern ends in a comment, the closing one would
        // be part of it.
        let commented = |error| match is_understood(text, case) {
            true => build(&format!("{text}\n")).map_err(|_| error),
            false => Err(error),
        };
        let matcher = build(text).or_else(commented)?;
        let (mut sight, mut kinds) = Sight::of(text, case);
        let mut loose = None;
        if let Some(loosened) = loosened(text, case).filter(|_| sight == Sight::Text) {
            match build(&loosened) {
                Ok(built) => loose = Some(Box::new(built)),
                // Without the edges it may be nested too deeply to parse.
                Err(_) => (sight, kinds) = (Sight::Marks, all_kinds()),
            }
        }
        Ok(Self { text: text.to_owned(), matcher, loose, word: word(text, case), sight, kinds })
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The first match in a text without line breaks.
    pub(super) fn find(&self, text: &str, from: usize) -> Option<(usize, usize)> {
        let found = self.matcher.find_at(text.as_bytes(), from).ok()??;
        Some((found.start(), found.end()))
    }

    /// Whether the bytes of a line may match from `from` on.
    pub(super) fn may_match(&self, line: &[u8], from: usize) -> bool {
        let matcher = self.loose.as_deref().unwrap_or(&self.matcher);
        matcher.shortest_match_at(line, from).is_ok_and(|end| end.is_some())
    }

    /// The end of the earliest match that begins at or after `from`.
    pub(super) fn earliest_end(&self, text: &[u8], from: usize) -> Option<usize> {
        self.matcher.shortest_match_at(text, from).ok()?
    }
}

impl Debug for Pattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Pattern").field(&self.text).finish()
    }
}

/// A parser marks the position of the error in the pattern; its message follows.
fn reason(error: &str) -> String {
    let said = error.rsplit_once("error: ").map_or(error, |(_, said)| said);
    plain::line(said, LONGEST_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, message: &str) {
        let error = Pattern::new(pattern, Case::Ignored).unwrap_err().to_string();
        assert_eq!(error, format!("invalid pattern: {message}"));
    }

    #[test]
    fn what_cannot_be_used_is_refused_in_one_line() {
        check("(", "unclosed group");
        check("a{2,1}", "invalid repetition count range, the start must be <= the end");
        check(r"a\nb", r#"the literal "\n" is not allowed in a regex"#);
        check(r"\w{100}{100}{100}", "compiled regex exceeds size limit of 2097152");
        check(&"a".repeat(5000), "it is longer than 4096 bytes");
        assert!(Pattern::new(&"(".repeat(2000), Case::Kept).is_err());
        assert!(Pattern::new(&format!("{}a{}", "(".repeat(2000), ")".repeat(2000)), Case::Kept).is_err());
    }

    #[test]
    fn a_pattern_may_end_in_a_comment() {
        for (pattern, line, matches) in [
            ("(?x) foo # not bar", "a foo", true),
            ("(?x) foo # not bar", "bar", false),
            (r"foo(?x: \d ) (?x) # (", "foo7 ", true),
            ("foo # bar", "foo", false),
            ("foo # bar", "foo # bar", true),
        ] {
            let pattern = Pattern::new(pattern, Case::Kept).unwrap();
            assert_eq!(pattern.find(line, 0).is_some(), matches, "{pattern:?}");
        }
        check("(?x) ( # )", "unclosed group");
        check("foo(?x) # bar\n(", "unclosed group");
    }

    #[test]
    fn the_edges_of_words_may_be_nested_as_deeply_as_anything() {
        for depth in 90..100 {
            let nested = |inner: &str| format!("{}{inner}{}", "(".repeat(depth), ")".repeat(depth));
            let is_taken = |inner: &str| Pattern::new(&nested(inner), Case::Kept).is_ok();
            assert_eq!(is_taken(r"\berror"), is_taken("^error"), "{depth}");
            if let Ok(pattern) = Pattern::new(&nested(r"\berror"), Case::Kept) {
                assert!(pattern.loose.is_some() || pattern.sight == Sight::Marks, "{depth}");
            }
        }
    }
}
