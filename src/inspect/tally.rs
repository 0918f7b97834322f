//! Counts the facts of a summary while the content is read.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::{memchr, memchr2_iter, memrchr};
use regex::bytes::{Regex, RegexBuilder};

use crate::inspect::line_fingerprint::{Alike, of_line};
use crate::inspect::repeated_lines::Repeats;
use crate::inspect::timestamp;

/// A word that reports an error, in any case: alone, or at the end of a name such as `TypeError`.
const ERRORS: &str =
    r"(?:errors?|exceptions?|\b(?:fatal|panic|panicked|traceback|failed|failures?|critical))\b";
/// Before such a word, this means that there is none.
const NONE: &[u8] = b"0 ";
/// Longer than any of these words with its prefix: the overlap of two parts of a long line.
const WORD: usize = 32;
/// How much of a line is used to find its time and to compare it.
const BEGINNING: usize = 2 << 10;

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) bytes: u64,
    /// How many lines ended.
    pub(super) lines: u64,
    pub(super) longest: Option<Longest>,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    pub(super) first_time: Option<String>,
    pub(super) last_time: Option<String>,
    pub(super) repeats: Repeats,
    /// The unfinished line: where it starts, its beginning, its end and its length.
    start: u64,
    beginning: Vec<u8>,
    ending: Vec<u8>,
    length: u64,
    has_error: bool,
    has_warning: bool,
    alike: Alike,
}

/// What is counted in complete lines, independent of what came before.
#[derive(Debug, Default)]
pub(super) struct Counted {
    bytes: u64,
    lines: u64,
    longest: Option<Longest>,
    errors: u64,
    warnings: u64,
    first_time: Option<String>,
    last_time: Option<String>,
    /// The hash of each line that is not blank, its number and where it starts.
    hashes: Vec<(u64, u32, u32)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Longest {
    pub(crate) line: u64,
    pub(crate) bytes: u64,
}

impl Tally {
    /// Continues with the next bytes.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        let mut offset = self.bytes;
        self.bytes += bytes.len() as u64;
        if self.length > 0
            && let Some(end) = memchr(b'\n', bytes)
        {
            self.part(&bytes[..end]);
            self.end_line();
            bytes = &bytes[end + 1..];
            offset += end as u64 + 1;
        }
        let whole = if self.length > 0 { 0 } else { memrchr(b'\n', bytes).map_or(0, |at| at + 1) };
        let (lines, rest) = bytes.split_at(whole);
        if !lines.is_empty() {
            let counted = Counted::of(lines, &mut self.alike);
            self.count(&counted, offset);
        }
        if !rest.is_empty() {
            if self.length == 0 {
                self.start = offset + whole as u64;
            }
            self.part(rest);
        }
    }

    /// Called at the end of the content.
    pub(super) fn finish(&mut self) {
        if self.length > 0 {
            self.end_line();
        }
    }

    /// Continues with complete lines, at a line start.
    pub(super) fn add(&mut self, counted: &Counted) {
        let offset = self.bytes;
        self.bytes += counted.bytes;
        self.count(counted, offset);
    }

    fn count(&mut self, counted: &Counted, offset: u64) {
        if let Some(Longest { line, bytes }) = counted.longest {
            self.note_length(self.lines + line, bytes);
        }
        for &(hash, line, start) in &counted.hashes {
            self.repeats.push(hash, self.lines + u64::from(line), offset + u64::from(start));
        }
        self.lines += counted.lines;
        self.errors += counted.errors;
        self.warnings += counted.warnings;
        self.first_time = self.first_time.take().or_else(|| counted.first_time.clone());
        self.last_time = counted.last_time.clone().or(self.last_time.take());
    }

    /// A part of a line that continues, or began before.
    fn part(&mut self, part: &[u8]) {
        let room = BEGINNING - self.beginning.len();
        self.beginning.extend_from_slice(&part[..part.len().min(room)]);
        // A word may span two parts.
        self.ending.extend_from_slice(part);
        self.length += part.len() as u64;
        self.look(End::OfPart);
        self.ending.drain(..self.ending.len().saturating_sub(WORD));
    }

    fn look(&mut self, end: End) {
        // A word that begins in the first bytes was already seen with what precedes it.
        let is_cut = self.length > self.ending.len() as u64;
        let from = if is_cut { self.ending.len().min(NONE.len() + 1) } else { 0 };
        self.has_error |= Word::Error.is_in(&self.ending, from, end);
        self.has_warning |= Word::Warning.is_in(&self.ending, from, end);
    }

    fn end_line(&mut self) {
        self.look(End::OfLine);
        let mut beginning = std::mem::take(&mut self.beginning);
        let (error, warning) = (Word::Error.is_level_of(&beginning), Word::Warning.is_level_of(&beginning));
        self.errors += u64::from(std::mem::take(&mut self.has_error) || error);
        self.warnings += u64::from(std::mem::take(&mut self.has_warning) || warning);
        if let Some(time) = timestamp::at_start(&beginning) {
            self.first_time.get_or_insert_with(|| time.to_owned());
            self.last_time = Some(time.to_owned());
        }
        let length = std::mem::take(&mut self.length);
        self.lines += 1;
        self.note_length(self.lines, length - u64::from(self.ending.ends_with(b"\r")));
        if let Some(hash) = of_line(&beginning) {
            self.repeats.push(hash, self.lines, self.start);
        }
        self.ending.clear();
        beginning.clear();
        self.beginning = beginning;
    }

    fn note_length(&mut self, line: u64, bytes: u64) {
        if self.longest.is_none_or(|longest| bytes > longest.bytes) {
            self.longest = Some(Longest { line, bytes });
        }
    }
}

impl Counted {
    /// Searching many lines at once is faster than searching each.
    pub(super) fn of(chunk: &[u8], alike: &mut Alike) -> Self {
        let lines = || chunk[..chunk.len() - 1].split(|c| *c == b'\n');
        let first_time = lines().find_map(timestamp::at_start).map(str::to_owned);
        let last_time = first_time.as_ref().and_then(|_| lines().rev().find_map(timestamp::at_start));
        let mut counted = Self {
            bytes: chunk.len() as u64,
            errors: Word::Error.count_lines(chunk),
            warnings: Word::Warning.count_lines(chunk),
            last_time: last_time.map(str::to_owned),
            first_time,
            ..Self::default()
        };
        let Self { lines, longest, errors, warnings, hashes, .. } = &mut counted;
        alike.lines(chunk, |range, hash| {
            let start = range.start as u32;
            let line = &chunk[range];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            *lines += 1;
            if longest.is_none_or(|longest| line.len() as u64 > longest.bytes) {
                *longest = Some(Longest { line: *lines, bytes: line.len() as u64 });
            }
            for (word, count) in [(Word::Error, &mut *errors), (Word::Warning, &mut *warnings)] {
                // A line with the word is already counted.
                *count += u64::from(word.is_level_of(line) && !word.is_in(line, 0, End::OfLine));
            }
            hashes.extend(hash.map(|hash| (hash, *lines as u32, start)));
        });
        counted
    }
}

/// Tells whether the part continues: then a word may, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    OfLine,
    OfPart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Error,
    Warning,
}

impl Word {
    /// Where the next occurrence is, from a position on.
    fn find(self, bytes: &[u8], from: usize) -> Option<Range<usize>> {
        match self {
            Self::Error => {
                static COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
                let build = || RegexBuilder::new(ERRORS).unicode(false).case_insensitive(true).build().ok();
                COMPILED.get_or_init(build).as_ref()?.find_at(bytes, from).map(|found| found.range())
            }
            // Some logs have one in every other line, which is slow with a regular expression.
            Self::Warning => {
                let mut starts = memchr2_iter(b'w', b'W', &bytes[from..]).map(|at| from + at);
                starts.find_map(|at| Some(at..at + warning(bytes, at)?))
            }
        }
    }

    /// Whether a line's leading level letter says so.
    fn is_level_of(self, line: &[u8]) -> bool {
        match timestamp::klog_level(line) {
            Some(b'E' | b'F') => self == Self::Error,
            Some(b'W') => self == Self::Warning,
            Some(_) | None => false,
        }
    }

    /// How many lines contain one.
    fn count_lines(self, chunk: &[u8]) -> u64 {
        let (mut at, mut count) = (0, 0);
        while let Some(end) = self.end_of_first(chunk, at) {
            count += 1;
            match memchr(b'\n', &chunk[end..]) {
                Some(length) => at = end + length + 1,
                None => break,
            }
        }
        count
    }

    /// Whether there is one from a position on.
    fn is_in(self, part: &[u8], from: usize, end: End) -> bool {
        self.end_of_first(part, from).is_some_and(|stop| stop < part.len() || end == End::OfLine)
    }

    /// The end of the first one from a position on. `0 errors` has none.
    fn end_of_first(self, bytes: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            let found = self.find(bytes, at)?;
            if !says_none(&bytes[..found.start]) {
                return Some(found.end);
            }
            at = found.end;
        }
    }
}

/// The length of a separate word `warn`, `warning` or `warnings` here, in any case.
fn warning(bytes: &[u8], at: usize) -> Option<usize> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let begins =
        |word: &[u8]| bytes.get(at..at + word.len()).is_some_and(|here| here.eq_ignore_ascii_case(word));
    if !begins(b"warn") || at > 0 && is_word(&bytes[at - 1]) {
        return None;
    }
    let length = ["warnings", "warning", "warn"].into_iter().find(|word| begins(word.as_bytes()))?.len();
    (!bytes.get(at + length).is_some_and(is_word)).then_some(length)
}

/// Whether the text before a word is the number zero and not the end of another number.
fn says_none(before: &[u8]) -> bool {
    let number = before.strip_suffix(NONE);
    number.is_some_and(|before| {
        !before.last().is_some_and(|last| last.is_ascii_alphanumeric() || b".,".contains(last))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::test_rows;

    fn tally(parts: &[&[u8]]) -> Tally {
        let mut tally = Tally::default();
        for part in parts {
            tally.feed(part);
        }
        tally.finish();
        tally
    }

    #[test]
    fn errors_and_warnings_are_told_by_words() {
        let text = "ERROR: x\n0 errors\nTypeError: y\nmirror terrorist\nfailed to z\nit fails\nWARN a\nwarnings: 2\nforewarn\n";
        let found = tally(&[text.as_bytes()]);
        assert_eq!((found.errors, found.warnings, found.lines), (3, 2, 9));
    }

    #[test]
    fn none_of_them_are_none() {
        let rows = include_str!("../../tests/data/counted_lines.jsonl");
        for (line, errors, warnings) in test_rows::<(String, u64, u64)>(rows) {
            let found = tally(&[line.as_bytes()]);
            assert_eq!((found.errors, found.warnings), (errors, warnings), "{line}");
        }
    }

    #[test]
    fn a_letter_before_the_time_is_a_level() {
        let text = "E1116 05:00:01.123456 1 main.go:7] no route\nW1116 05:00:02.123456 1 x\nI1116 05:00:03.123456 1 y\n\
                    F1116 05:00:04.123456 1 error twice\nE1116 is a number\nE1116 05:00:05.123456 1 last";
        for parts in [vec![text.as_bytes()], text.as_bytes().chunks(7).collect()] {
            let found = tally(&parts);
            assert_eq!((found.errors, found.warnings, found.lines), (3, 1, 6));
        }
    }

    #[test]
    fn the_first_and_the_last_time_are_told() {
        let found = tally(&[b"start\n2026-01-02 03:04:05 a\nx\n2026-01-03 03:04:05 b\nend"]);
        assert_eq!(found.first_time.as_deref(), Some("2026-01-02 03:04:05"));
        assert_eq!(found.last_time.as_deref(), Some("2026-01-03 03:04:05"));
        assert_eq!(found.longest, Some(Longest { line: 2, bytes: 21 }));
    }

    proptest! {
        #[test]
        fn parts_of_any_length_are_counted_alike(
            text in "(error|warn|0 | |x|\n|\r\n|2026-01-02 03:04 |E1116 05:00:01.123456 ){0,30}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &text.as_bytes()[cut[0]..cut[1]]).collect();
            let (whole, parted) = (tally(&[text.as_bytes()]), tally(&parts));
            prop_assert_eq!((whole.lines, whole.bytes), (parted.lines, parted.bytes));
            prop_assert_eq!((whole.errors, whole.warnings), (parted.errors, parted.warnings));
            prop_assert_eq!((whole.longest, whole.first_time, whole.last_time), (parted.longest, parted.first_time, parted.last_time));
            prop_assert_eq!(whole.repeats.top(9), parted.repeats.top(9));
            prop_assert_eq!(whole.lines, text.lines().count() as u64);
        }
    }
}
