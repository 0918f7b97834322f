//! Python's unittest: how many ran, then how it went.

use super::Parser;
use super::tally::{Keep, Names, Summaries, Tally};
use crate::evidence::scan::Scan;

#[derive(Debug)]
pub(super) struct Unittest {
    summaries: Summaries,
    names: Names,
    /// How many ran, and how long: the verdict follows.
    ran: Option<(u64, u64)>,
    /// The marks of quiet progress, one a test.
    marks: Marks,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Marks {
    passed: u64,
    others: u64,
}

impl Unittest {
    pub(super) fn new(keep: Keep) -> Self {
        let summaries = Summaries::new(keep);
        Self { summaries, names: Names::default(), ran: None, marks: Marks::default() }
    }
}

impl Parser for Unittest {
    fn line(&mut self, line: &str) {
        if let Some(ran) = ran(line) {
            self.ran = Some(ran);
        } else if let Some((ran, took)) = self.ran {
            match verdict(line) {
                Some(verdict) => {
                    self.ran = None;
                    self.push(ran, took, &verdict);
                }
                None if line.is_empty() => {}
                None => self.ran = None,
            }
        } else if let Some(name) = line.strip_prefix("FAIL: ").or_else(|| line.strip_prefix("ERROR: ")) {
            self.names.add(name);
        } else if !line.is_empty() && line.bytes().all(|byte| b".FEsxu".contains(&byte)) {
            let passed = line.bytes().filter(|byte| *byte == b'.').count() as u64;
            self.marks.passed += passed;
            self.marks.others += line.len() as u64 - passed;
        }
    }

    fn end(self: Box<Self>) -> Option<Tally> {
        self.summaries.sum()
    }
}

impl Unittest {
    fn push(&mut self, ran: u64, took: u64, verdict: &Verdict) {
        let marks = std::mem::take(&mut self.marks);
        let others = verdict.failed.saturating_add(verdict.skipped);
        // A class that is skipped or fails as a whole is not among those that ran,
        // so the marks count better, where none is missing.
        let seen = marks.others == others && marks.passed <= ran;
        let passed = ran.saturating_sub(others).max(if seen { marks.passed } else { 0 });
        self.summaries.push(Tally {
            passed,
            failed: verdict.failed,
            skipped: verdict.skipped,
            duration_ms: Some(took),
            failing: std::mem::take(&mut self.names),
            ..Tally::default()
        });
    }
}

/// `Ran 7 tests in 0.009s`
fn ran(line: &str) -> Option<(u64, u64)> {
    let mut scan = Scan::new(line);
    scan.text("Ran ")?;
    let count = scan.number()?;
    scan.either(&[" tests in ", " test in "])?;
    let took = scan.seconds()?;
    scan.text("s")?;
    scan.end().map(|()| (count, took))
}

#[derive(Debug, Default)]
struct Verdict {
    failed: u64,
    skipped: u64,
}

/// `FAILED (failures=1, errors=1, skipped=1, expected failures=1)`
fn verdict(line: &str) -> Option<Verdict> {
    let mut scan = Scan::new(line);
    scan.either(&["OK", "FAILED", "NO TESTS RAN"])?;
    let mut verdict = Verdict::default();
    if scan.end().is_some() {
        return Some(verdict);
    }
    scan.text(" (")?;
    for part in scan.until(")")?.split(", ") {
        let (word, count) = part.split_once('=')?;
        let count: u64 = count.parse().ok()?;
        match word {
            "failures" | "errors" | "unexpected successes" => {
                verdict.failed = verdict.failed.checked_add(count)?;
            }
            "skipped" | "expected failures" => verdict.skipped = verdict.skipped.checked_add(count)?,
            _ => return None,
        }
    }
    scan.end().map(|()| verdict)
}
