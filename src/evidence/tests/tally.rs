//! Counts of one summary, and what several of them come to.

use std::collections::VecDeque;

use super::Unit;

const MOST_NAMES: usize = 50;
/// A longer one is counted and not listed: no part of a name is a name.
const LONGEST_NAME: usize = 500;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    pub(super) unit: Unit,
    pub(super) duration_ms: Option<u64>,
    pub(super) failing: Names,
    /// Whether some of the run is missing here, or did not run.
    pub(super) cut: bool,
}

impl Tally {
    pub(super) fn is_empty(&self) -> bool {
        self.passed == 0 && self.failed == 0 && self.skipped == 0
    }

    pub(super) fn add(&mut self, other: Tally) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
        self.duration_ms = match (self.duration_ms, other.duration_ms) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        other.failing.list.into_iter().for_each(|name| self.failing.add(&name));
        self.cut |= other.cut;
    }
}

/// Which of several summaries in one output count.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keep {
    /// The framework was started so often: what comes before is a test's own output.
    Last(usize),
    /// A script may have started it any number of times.
    All,
}

/// The summaries of one output.
#[derive(Debug)]
pub(super) struct Summaries {
    keep: Keep,
    found: VecDeque<Tally>,
}

impl Summaries {
    pub(super) fn new(keep: Keep) -> Self {
        Self { keep, found: VecDeque::new() }
    }

    pub(super) fn push(&mut self, tally: Tally) {
        match self.keep {
            Keep::All => match self.found.back_mut() {
                Some(sum) => sum.add(tally),
                None => self.found.push_back(tally),
            },
            Keep::Last(count) => {
                self.found.push_back(tally);
                while self.found.len() > count.max(1) {
                    self.found.pop_front();
                }
            }
        }
    }

    /// The latest one, for what follows it.
    pub(super) fn last(&mut self) -> Option<&mut Tally> {
        self.found.back_mut()
    }

    pub(super) fn sum(self) -> Option<Tally> {
        self.found.into_iter().reduce(|mut sum, tally| {
            sum.add(tally);
            sum
        })
    }
}

/// Names of tests, each once, the first of them.
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

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
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
    fn summaries_add_up_and_names_do_not_repeat() {
        let mut all = Summaries::new(Keep::All);
        ["a", "b", "a"].iter().for_each(|name| all.push(tally(2, name)));
        let sum = all.sum().unwrap();
        assert_eq!((sum.passed, sum.failed, sum.duration_ms), (6, 3, Some(15)));
        assert_eq!(sum.failing.into_list(), ["a", "b"]);
    }

    #[test]
    fn of_a_framework_that_was_started_once_the_last_summary_counts() {
        let mut last = Summaries::new(Keep::Last(1));
        ["a", "b"].iter().for_each(|name| last.push(tally(2, name)));
        assert_eq!(last.sum(), Some(tally(2, "b")));
    }

    #[test]
    fn names_are_few_and_whole() {
        let mut names = Names::default();
        names.add(&"x".repeat(LONGEST_NAME + 1));
        (0..200).for_each(|at| names.add(&format!("t{at}")));
        assert_eq!(names.into_list().len(), MOST_NAMES);
    }
}
