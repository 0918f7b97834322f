//! pytest's quietest output, which has no counts: one mark per test, and the percentage reached.

use crate::evidence::line_scanner::Scan;
use crate::evidence::screen_lines::lines;
use crate::evidence::tests::formats::pytest::Tally;

/// The marks so far, and whether the run is complete.
#[derive(Debug, Default)]
struct Marks {
    passed: u64,
    failed: u64,
    skipped: u64,
    /// How many marks there were at the end of each line, and the percentage printed there.
    reached: Vec<(u64, u64)>,
    /// Whether a line looked like marks but was not.
    broken: bool,
}

/// Longer runs are not counted from marks.
const MOST_LINES: usize = 10_000;

/// The counts of a run that named `failing` tests as failed; `None` if they may be another run's.
pub(in crate::evidence::tests) fn by_marks(text: &str, failing: usize) -> Option<Tally> {
    let mut marks = Marks::default();
    // The output of tests follows.
    lines(text).take_while(|line| !line.starts_with("====")).for_each(|line| marks.line(&line));
    marks.broken |= lines(text).any(|line| super::stops(&line));
    let is_told = marks.failed == failing as u64 && marks.are_all();
    let Marks { passed, failed, skipped, .. } = marks;
    is_told.then(|| Tally { passed, failed, skipped, ..Tally::default() })
}

impl Marks {
    fn line(&mut self, line: &str) {
        let Some((marks, rest)) = line.strip_suffix("%]").and_then(|line| line.rsplit_once('[')) else {
            return;
        };
        let marks = marks.trim_end();
        let percent = Scan::new(rest.trim_start()).number();
        for mark in marks.bytes() {
            match mark {
                b'.' | b'X' => self.passed += 1,
                b'F' | b'E' => self.failed += 1,
                b's' | b'x' => self.skipped += 1,
                _ => self.broken = true,
            }
        }
        let so_far = self.passed + self.failed + self.skipped;
        self.broken |= marks.is_empty() || self.reached.len() == MOST_LINES;
        match percent {
            Some(percent) if !self.broken => self.reached.push((so_far, percent)),
            _ => self.broken = true,
        }
    }

    /// Whether none is missing: each line gives the percentage of all marks.
    fn are_all(&self) -> bool {
        let Some((all, 100)) = self.reached.last().copied() else { return false };
        let fits = |(so_far, percent): &(u64, u64)| so_far * 100 / all == *percent;
        !self.broken && self.reached.iter().all(fits)
    }
}

#[cfg(test)]
mod tests {
    use super::by_marks;

    #[track_caller]
    fn check(text: &str, failing: usize, expected: Option<(u64, u64, u64)>) {
        let found = by_marks(text, failing).map(|tally| (tally.passed, tally.failed, tally.skipped));
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn marks_are_counted_to_the_end() {
        check("F..s                 [100%]\n==== FAILURES ====\n.. [100%]\n", 1, Some((2, 1, 1)));
        check("warming up\n.X.xE  [100%]\n", 1, Some((3, 1, 1)));
        let line = |percent: &str| format!("{} [{percent}]\n", ".".repeat(72));
        let end = format!("{}xX               [100%]\n", ".".repeat(56));
        check(&format!("{}{}{end}", line(" 35%"), line(" 71%")), 0, Some((201, 0, 1)));
        // One of the lines is missing, or the last.
        check(&format!("{}{end}", line(" 71%")), 0, None);
        check(&line(" 35%"), 0, None);
        check("F\n==== short test summary info ====\n", 1, None);
    }

    #[test]
    fn what_is_no_mark_or_does_not_fit_the_names_is_not_counted() {
        check("..u.  [100%]\n", 0, None);
        check("..R. [ 40%]\n...  [100%]\n", 0, None);
        check("   [100%]\n", 0, None);
        check("done [100%]\n", 0, None);
        // A part of a test that failed has a name, and no mark.
        check(".  [100%]\n", 1, None);
        check("F. [100%]\n", 0, None);
        check("", 0, None);
    }
}
