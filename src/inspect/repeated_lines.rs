//! Counts repeated lines in bounded memory.
//!
//! Two lines are the same if they differ only in their numbers. A line is counted from the time it is first
//! recorded. If there are too many, those with the lowest counts are forgotten (the algorithm of Misra and
//! Gries, in batches), so frequent lines stay. A count is exact if nothing was forgotten before the line was
//! recorded, and otherwise a lower bound.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};

const MOST: usize = 4 << 10;

#[derive(Debug, Default)]
pub(super) struct Repeats {
    noted: HashMap<u64, Noted, BuildHasherDefault<Itself>>,
    /// How much was subtracted from every count so far to forget the lowest.
    taken: u64,
}

#[derive(Debug)]
struct Noted {
    /// Where the first of them starts, and its line number.
    offset: u64,
    line: u64,
    count: u64,
    /// What had been subtracted when it was recorded.
    before: u64,
}

/// A repeated line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Where the first of them starts, and its line number.
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) count: u64,
    pub(super) is_exact: bool,
}

impl Repeats {
    /// Records the line with this number, which starts at `offset`, by its
    /// [hash](crate::inspect::line_fingerprint).
    pub(super) fn push(&mut self, hash: u64, line: u64, offset: u64) {
        match self.noted.entry(hash) {
            Entry::Occupied(mut noted) => noted.get_mut().count += 1,
            Entry::Vacant(new) => {
                new.insert(Noted { offset, line, count: 1, before: self.taken });
                if self.noted.len() > MOST {
                    self.forget();
                }
            }
        }
    }

    /// Forgets at least half of the records.
    fn forget(&mut self) {
        let left = |noted: &Noted| noted.count.saturating_sub(self.taken - noted.before);
        let mut counts: Vec<u64> = self.noted.values().map(left).collect();
        let middle = counts.len() / 2;
        let (_, median, _) = counts.select_nth_unstable(middle);
        self.taken += (*median).max(1);
        let taken = self.taken;
        self.noted.retain(|_, noted| noted.count > taken - noted.before);
    }

    /// The most frequent lines that occurred more than once.
    pub(super) fn top(self, most: usize) -> Vec<Repeated> {
        let mut all: Vec<Noted> = self.noted.into_values().filter(|noted| noted.count > 1).collect();
        all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.offset.cmp(&b.offset)));
        all.truncate(most);
        all.into_iter()
            .map(|Noted { offset, line, count, before }| Repeated {
                offset,
                line,
                count,
                is_exact: before == 0,
            })
            .collect()
    }
}

/// A hasher that uses the given hash.
#[derive(Debug, Default)]
struct Itself(u64);

impl Hasher for Itself {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::line_fingerprint::of_line;

    fn top(lines: impl IntoIterator<Item = String>, most: usize) -> Vec<(String, u64, bool)> {
        let mut repeats = Repeats::default();
        let lines: Vec<String> = lines.into_iter().collect();
        for (number, line) in lines.iter().enumerate() {
            if let Some(hash) = of_line(line.as_bytes()) {
                repeats.push(hash, number as u64 + 1, number as u64);
            }
        }
        assert!(repeats.noted.len() <= MOST + 1);
        let shown = |line: &Repeated| lines[line.offset as usize].clone();
        repeats.top(most).iter().map(|line| (shown(line), line.count, line.is_exact)).collect()
    }

    #[test]
    fn lines_that_differ_in_numbers_are_counted_together() {
        let lines = ["took 5 ms", "x", "  took 17 ms", "", "took 123 ms", "once", "x"].map(str::to_owned);
        assert_eq!(top(lines, 9), [("took 5 ms".to_owned(), 3, true), ("x".to_owned(), 2, true)]);
    }

    #[test]
    fn what_comes_often_is_found_among_ever_new_lines() {
        let word = |n: u64| -> String {
            let letter = |at: u32| char::from(b'a' + (n / 26_u64.pow(at) % 26) as u8);
            (0..5).map(letter).collect()
        };
        let lines = (0..60_000)
            .flat_map(|n| [word(n), if n % 3 == 0 { "often".to_owned() } else { word(n + 70_000) }]);
        let found = top(lines, 1);
        let (line, count, is_exact) = &found[0];
        assert_eq!((line.as_str(), *is_exact), ("often", true));
        assert_eq!(*count, 20_000);
    }
}
