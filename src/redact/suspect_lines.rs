//! Finds the lines of a large text that may contain secrets, with a SIMD search for many literals.
//!
//! [`literal_finder`] has no set-up cost but is slower per byte. This is for gigabytes.

use std::collections::BTreeSet;

use aho_corasick::packed::{Config, MatchKind, Searcher};
use memchr::{memchr, memrchr};

use crate::redact::literal_finder;

/// With more literals at once, false matches become frequent.
const MOST_AT_ONCE: usize = 36;
/// With more groups, a single search with the table of all literals is faster.
const MOST_GROUPS: usize = 6;
/// Each piece is searched by all groups while it is in the cache.
const PIECE: usize = 64 << 10;

pub(crate) struct SuspectFinder {
    /// `None` if the processor lacks the instructions, or for too many literals.
    searchers: Option<Vec<Searcher>>,
    small: Vec<u8>,
    kinds: BTreeSet<&'static str>,
}

impl SuspectFinder {
    /// Searches for secrets of these kinds.
    pub(crate) fn new(kinds: &BTreeSet<&'static str>) -> Self {
        let literals =
            literal_finder::literals().filter(|(_, kind)| kind.is_none_or(|kind| kinds.contains(kind)));
        let mut literals: Vec<String> = literals.map(|(literal, _)| literal.to_ascii_lowercase()).collect();
        literals.sort();
        // A literal that extends another is found with it.
        literals.dedup_by(|literal, before| literal.starts_with(before.as_str()));
        let groups = literals.len().div_ceil(MOST_AT_ONCE).max(1);
        let group = literals.len().div_ceil(groups).max(1);
        let searchers = literals.chunks(group).map(|group| {
            let mut builder = Config::new().match_kind(MatchKind::LeftmostFirst).builder();
            builder.extend(group).build()
        });
        let searchers = (groups <= MOST_GROUPS).then(|| searchers.collect()).flatten();
        Self { searchers, small: Vec::new(), kinds: kinds.clone() }
    }

    /// At least one position in every line with a [`literal_finder`] literal of the wanted kinds or
    /// of no kind. Other lines may have one where such a literal is written in another case.
    pub(crate) fn find(&mut self, text: &[u8]) -> Vec<usize> {
        let Some(searchers) = &self.searchers else {
            let is_asked = |kind: Option<&str>| kind.is_none_or(|kind| self.kinds.contains(kind));
            let found = crate::redact::suspects(text).filter(|(_, kind)| is_asked(*kind));
            return found.map(|(at, _)| at).collect();
        };
        let (mut found, mut from) = (Vec::new(), 0);
        while from < text.len() {
            let rest = &text[from..];
            let piece = &rest[..rest.len().min(PIECE)];
            // Whole lines: no literal contains a line break.
            let length = if piece.len() == rest.len() {
                piece.len()
            } else if let Some(end) = memrchr(b'\n', piece) {
                end + 1
            } else {
                memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)
            };
            self.small.clear();
            self.small.extend_from_slice(&rest[..length]);
            self.small.make_ascii_lowercase();
            for searcher in searchers {
                found.extend(searcher.find_iter(&self.small).map(|literal| from + literal.start()));
            }
            from += length;
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use memchr::memmem;
    use proptest::prelude::*;

    use super::*;
    use crate::redact;

    /// The lines that contain these positions.
    fn lines(text: &[u8], positions: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let line = |at: usize| text[..at].iter().filter(|c| **c == b'\n').count();
        let mut lines: Vec<usize> = positions.into_iter().map(line).collect();
        lines.dedup();
        lines
    }

    fn check(text: &[u8]) {
        let all: BTreeSet<&str> = redact::kinds().collect();
        for kinds in [all, BTreeSet::from(["token"]), BTreeSet::from(["password", "github"]), BTreeSet::new()]
        {
            let is_asked = |kind: Option<&str>| kind.is_none_or(|kind| kinds.contains(kind));
            let found = redact::suspects(text).filter(|(_, kind)| is_asked(*kind));
            let expected = lines(text, found.map(|(at, _)| at));
            let found = lines(text, SuspectFinder::new(&kinds).find(text));
            assert!(expected.iter().all(|line| found.contains(line)), "{kinds:?}: {expected:?}, {found:?}");
            let lower = text.to_ascii_lowercase();
            let asked = literal_finder::literals().filter(|(_, kind)| is_asked(*kind));
            let at = asked.flat_map(|(literal, _)| {
                memmem::find_iter(&lower, &literal.to_ascii_lowercase()).collect::<Vec<_>>()
            });
            let known: BTreeSet<usize> = at.flat_map(|at| lines(text, [at])).collect();
            assert!(found.iter().all(|line| known.contains(line)), "{kinds:?}: {found:?}, {known:?}");
        }
    }

    #[test]
    fn long_text_is_looked_at_in_pieces() {
        let mut text = Vec::new();
        for number in 0..2000 {
            let word = ["Token", "passing", "toke", "GHP_", "ke\ny", "tskey-"][number % 6];
            text.extend_from_slice(format!("{}{word} a\n", ".".repeat(number % 50)).as_bytes());
        }
        text.extend_from_slice(&b"-".repeat(200 << 10));
        text.extend_from_slice(b"key");
        check(&text);
    }

    proptest! {
        #[test]
        fn every_line_with_a_literal_is_found(
            parts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..20, "[ -~é\n]{0,3}", any::<bool>()), 0..9)
        ) {
            let literals: Vec<&str> = literal_finder::literals().map(|(literal, _)| literal).collect();
            let mut text = String::new();
            for (which, cut, after, shout) in parts {
                let literal = *which.get(&literals);
                let literal = &literal[..literal.len().saturating_sub(cut.saturating_sub(15))];
                text += &if shout { literal.to_ascii_uppercase() } else { literal.to_owned() };
                text += &after;
            }
            check(text.as_bytes());
        }
    }
}
