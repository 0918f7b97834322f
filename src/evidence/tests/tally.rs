//! The counts of one summary, and several of them combined.

use std::collections::{BTreeSet, VecDeque};

use crate::evidence::tests::{Counts, Unit};

/// The most summaries per output; if there are more, the tests did not run just once.
const MOST_SUMMARIES: usize = 64;
const MOST_NAMES: usize = 50;
/// Longer names are counted but not listed: a part of a name is useless.
const LONGEST_NAME: usize = 500;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) unit: Unit,
    pub(super) duration_ms: Option<u64>,
    pub(super) failing: Names,
    /// Whether a part of the run is missing in the output, or did not run.
    pub(super) cut: bool,
    /// Whether the beginning of a summary is missing, and perhaps earlier summaries.
    pub(super) headless: bool,
    /// Whether it covers several runs and it is unknown which summary belongs to which.
    pub(super) mixed: bool,
    /// Whether the counts are unreliable altogether.
    pub(super) unknown: bool,
    /// A failure that the counts do not contain: a file that could not run, or an error outside of any test.
    pub(super) said: Option<String>,
    /// Whether only a part of the summary was there.
    pub(super) loose: bool,
    /// The binaries or packages that it adds up, if they have names.
    pub(super) sources: BTreeSet<String>,
}

impl Tally {
    pub(super) fn is_empty(&self) -> bool {
        self.passed == 0 && self.failed == 0 && self.skipped == 0
    }

    /// A tally of which only a part was seen, so its counts are not those of a run.
    pub(super) fn partly_seen() -> Self {
        Self { unknown: true, cut: true, loose: true, ..Self::default() }
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.said = self.said.take().or(other.said);
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.duration_ms = match (self.duration_ms, other.duration_ms) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        other.failing.list.into_iter().for_each(|name| self.failing.add(&name));
        self.cut |= other.cut;
        self.headless |= other.headless;
        self.mixed |= other.mixed;
        self.unknown |= other.unknown;
        other.sources.into_iter().for_each(|source| self.add_source(source));
    }

    /// Adds the counts of one part; a part with a name that was already added makes the sum unreliable.
    pub(super) fn add_source(&mut self, source: String) {
        self.unknown |= !self.sources.insert(source);
    }

    pub(super) fn sum(all: Vec<Tally>) -> Tally {
        let sum = all.into_iter().reduce(|mut sum, tally| {
            sum.add(tally);
            sum
        });
        sum.unwrap_or_default()
    }

    pub(super) fn counts(&self) -> Option<Counts> {
        (!self.unknown && !self.mixed).then(|| self.seen())
    }

    /// Whether it is not, or may not be, one complete run.
    pub(super) fn is_partial(&self) -> bool {
        self.cut || self.headless || self.mixed
    }

    /// The counts that were seen, reliable or not.
    pub(super) fn seen(&self) -> Counts {
        let Self { passed, failed, skipped, .. } = *self;
        let total = passed.saturating_add(failed).saturating_add(skipped);
        Counts { passed, failed, skipped, total }
    }
}

/// The summaries of one output.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    found: VecDeque<Tally>,
}

impl Summaries {
    pub(super) fn push(&mut self, tally: Tally) {
        self.found.push_back(tally);
        if self.found.len() > MOST_SUMMARIES {
            self.found.pop_front();
            self.found.iter_mut().take(1).for_each(|first| first.unknown = true);
        }
    }

    /// The latest summary, to which the next lines belong.
    pub(super) fn last(&mut self) -> Option<&mut Tally> {
        self.found.back_mut()
    }

    /// All summaries; if there are none, the incomplete one.
    pub(super) fn or(self, part: Option<Tally>) -> Vec<Tally> {
        if self.found.is_empty() { part.into_iter().collect() } else { self.found.into() }
    }
}

/// Names of tests, without duplicates, the first ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Names {
    list: Vec<String>,
}

impl Names {
    pub(super) fn add(&mut self, name: &str) {
        let name = name.trim();
        let fits = !name.is_empty() && name.len() <= LONGEST_NAME && self.list.len() < MOST_NAMES;
        if fits && !self.list.iter().any(|known| known == name) {
            self.list.push(name.to_owned());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// `1 test file failed`, for files that failed without a counted test.
pub(super) fn files_failed(count: u64) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{count} test file{plural} failed"))
}

/// `1 failed, 2 passed` as numbers with their words.
pub(super) fn counted<'a>(list: &'a str, between: &'a str) -> impl Iterator<Item = (u64, &'a str)> {
    list.split(between).filter_map(|part| {
        let (number, word) = part.trim().split_once(' ')?;
        Some((number.parse().ok()?, word.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: u64, name: &str) -> Tally {
        let mut tally = Tally { passed, failed: 1, duration_ms: Some(5), ..Tally::default() };
        tally.failing.add(name);
        tally
    }

    #[test]
    fn parts_add_up_and_names_do_not_repeat() {
        let sum = Tally::sum(["a", "b", "a"].iter().map(|name| tally(2, name)).collect());
        assert_eq!((sum.passed, sum.failed, sum.duration_ms), (6, 3, Some(15)));
        assert_eq!(sum.failing.into_list(), ["a", "b"]);
    }

    #[test]
    fn the_same_part_twice_is_no_sum() {
        let of = |source: &str| Tally { sources: [source.to_owned()].into(), ..tally(2, "a") };
        assert!(Tally::sum(vec![of("x"), of("y")]).counts().is_some());
        assert_eq!(Tally::sum(vec![of("x"), of("x")]).counts(), None);
    }

    #[test]
    fn an_output_with_very_many_summaries_is_not_counted() {
        let mut all = Summaries::default();
        (0..100).for_each(|_| all.push(tally(1, "a")));
        let all = all.or(None);
        assert_eq!((all.len(), all[0].unknown, all[1].unknown), (MOST_SUMMARIES, true, false));
    }

    #[test]
    fn names_are_few_and_whole() {
        let mut names = Names::default();
        names.add(&"x".repeat(LONGEST_NAME + 1));
        (0..200).for_each(|at| names.add(&format!("t{at}")));
        assert_eq!(names.into_list().len(), MOST_NAMES);
    }
}
