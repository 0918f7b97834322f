//! Searches a long text for a word, ignoring case.
//!
//! A regex engine searches for all spellings of the word's beginning. This module compares three of its
//! letters with the text, ignoring case and many bytes at a time, which takes a third of the time.

use std::iter;

use memchr::{memchr, memchr_iter};
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::inspect::simd::wide;

/// The block size.
const BLOCK: usize = 128;
/// Shorter words occur too often by chance.
const SHORTEST: usize = 3;
/// If this many characters have only one spelling, an engine that searches for them is faster.
const UNIQUE: usize = 3;
/// The bit that distinguishes a small letter from a capital.
const SMALL: u8 = 0x20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word(Vec<Letter>);

/// A character of ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Letter {
    /// [`SMALL`] if both cases match, otherwise zero.
    either: u8,
    /// The character with these bits.
    byte: u8,
}

impl Word {
    /// What a pattern matches, if it is a single word, ignoring case.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        let mut letters = Vec::new();
        spell(hir, &mut letters)?;
        let is_unique = |letters: &[Letter]| letters.iter().all(|letter| letter.either == 0);
        let is_taken = letters.len() >= SHORTEST && !letters.windows(UNIQUE).any(is_unique);
        is_taken.then_some(Self(letters))
    }

    /// One position in each line that contains it.
    pub(super) fn lines(&self, chunk: &[u8]) -> impl Iterator<Item = usize> {
        let mut from = 0;
        iter::from_fn(move || {
            let at = self.first(chunk, from)?;
            from = memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |length| at + length + 1);
            Some(at)
        })
    }

    fn first(&self, chunk: &[u8], mut from: usize) -> Option<usize> {
        let last = self.0.len() - 1;
        let sample = Sample([0, last / 2, last].map(|at| (at, self.0[at])));
        loop {
            from = wide(|| sample.passed(chunk, from));
            let Some(places) = sample.places(chunk, from) else { break };
            let fits = wide(|| fits(places));
            if let Some(at) = memchr_iter(1, &fits).find(|at| self.is_at(chunk, from + at)) {
                return Some(from + at);
            }
            from += BLOCK;
        }
        // At the end of the chunk, each position is checked individually.
        (from..chunk.len()).find(|at| self.is_at(chunk, *at))
    }

    fn is_at(&self, chunk: &[u8], at: usize) -> bool {
        let bytes = chunk[at..].get(..self.0.len());
        bytes.is_some_and(|bytes| self.0.iter().zip(bytes).all(|(letter, byte)| letter.is(*byte)))
    }
}

impl Letter {
    #[inline(always)]
    fn is(self, byte: u8) -> bool {
        byte | self.either == self.byte
    }
}

/// Some letters of a word, and their offsets in it.
#[derive(Clone, Copy)]
struct Sample([(usize, Letter); 3]);

/// Where the letters would be if the word began anywhere in a block.
type Places<'a> = [(&'a [u8; BLOCK], Letter); 3];

impl Sample {
    /// Skips blocks in which the word does not begin.
    #[inline(always)]
    fn passed(self, chunk: &[u8], mut from: usize) -> usize {
        while let Some([(a, x), (b, y), (c, z)]) = self.places(chunk, from) {
            let mut any = 0;
            for at in 0..BLOCK {
                any |= u8::from(x.is(a[at]) & y.is(b[at]) & z.is(c[at]));
            }
            if any != 0 {
                break;
            }
            from += BLOCK;
        }
        from
    }

    /// `None` at the end of the chunk.
    #[inline(always)]
    fn places(self, chunk: &[u8], from: usize) -> Option<Places<'_>> {
        let place = |at: usize| chunk.get(from + at..)?.first_chunk();
        let [(a, x), (b, y), (c, z)] = self.0;
        Some([(place(a)?, x), (place(b)?, y), (place(c)?, z)])
    }
}

/// One bit for every position that has all the letters.
#[inline(always)]
fn fits([(a, x), (b, y), (c, z)]: Places<'_>) -> [u8; BLOCK] {
    std::array::from_fn(|at| u8::from(x.is(a[at]) & y.is(b[at]) & z.is(c[at])))
}

/// `None` if the pattern is not a single word, or if a letter also has a variant in another alphabet (`k`
/// matches the Kelvin sign).
fn spell(hir: &Hir, letters: &mut Vec<Letter>) -> Option<()> {
    match hir.kind() {
        HirKind::Empty => Some(()),
        HirKind::Literal(literal) => literal.0.iter().try_for_each(|byte| {
            let is_shown = *byte == b' ' || byte.is_ascii_graphic();
            is_shown.then(|| letters.push(Letter { either: 0, byte: *byte }))
        }),
        HirKind::Class(Class::Unicode(class)) => {
            let [capital, small] = class.ranges() else { return None };
            let is_one = capital.start() == capital.end() && small.start() == small.end();
            let is_letter = is_one
                && capital.start().is_ascii_uppercase()
                && small.start() == capital.start().to_ascii_lowercase();
            is_letter.then(|| letters.push(Letter { either: SMALL, byte: small.start() as u8 }))
        }
        HirKind::Capture(capture) => spell(&capture.sub, letters),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| spell(part, letters)),
        HirKind::Class(Class::Bytes(_))
        | HirKind::Look(_)
        | HirKind::Repetition(_)
        | HirKind::Alternation(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::RegexBuilder;
    use regex_syntax::ParserBuilder;

    use super::*;

    fn word(pattern: &str) -> Option<Word> {
        Word::of(&ParserBuilder::new().case_insensitive(true).build().parse(pattern).unwrap())
    }

    /// The lines with a match, by an engine.
    fn lines(pattern: &str, text: &[u8]) -> Vec<usize> {
        let regex = RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
        let mut lines: Vec<usize> = regex.find_iter(text).map(|found| line(text, found.start())).collect();
        lines.dedup();
        lines
    }

    fn line(text: &[u8], at: usize) -> usize {
        memchr_iter(b'\n', &text[..at]).count()
    }

    #[test]
    fn only_a_word_that_may_be_written_in_many_ways_is_one() {
        for pattern in ["error", "Error", "(build) failed", "v2 beta", "e-1o", "(?:a(?:bc))"] {
            assert!(word(pattern).is_some(), "{pattern}");
        }
        // The sign of kelvins and the long s are letters, too.
        for pattern in
            ["", "no", "kelvin", "assert", "err?or", "a|bcd", "^error", "e.ror", "[0-9]rr", "[abc]rr", "é"]
        {
            assert_eq!(word(pattern), None, "{pattern}");
        }
        for pattern in ["404", "2026-01-02", "error 404", "e-1-o", "(?-i:error)", "error\t"] {
            assert_eq!(word(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn it_is_found_at_every_place_of_a_block() {
        for before in 0..3 * BLOCK {
            for after in [0, 1, BLOCK, 2 * BLOCK] {
                let text = format!("{}eRRor{}", "r".repeat(before), "e".repeat(after));
                let found: Vec<usize> = word("error").unwrap().lines(text.as_bytes()).collect();
                assert_eq!(found, [before]);
            }
        }
    }

    proptest! {
        #[test]
        fn its_lines_are_those_that_an_engine_finds(
            pattern in "[abAB]{3,6}|a-b", text in prop::collection::vec(prop::sample::select(&b"aaabbbAB-\n!\xc3"[..]), 0..900),
        ) {
            let found: Vec<usize> =
                word(&pattern).unwrap().lines(&text).map(|at| line(&text, at)).collect();
            prop_assert_eq!(found, lines(&pattern, &text));
        }
    }
}
