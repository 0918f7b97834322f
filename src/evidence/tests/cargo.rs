//! `cargo test`: one block a test binary, each with a result line of its own.

use super::Parser;
use super::tally::{Names, Tally};
use crate::evidence::scan::Scan;

#[derive(Debug)]
pub(super) struct Cargo {
    /// Whether a failure does not end the run.
    keeps_going: bool,
    sum: Option<Tally>,
    /// How many tests the open block announced.
    running: Option<u64>,
    names: Names,
    place: Place,
    /// Whether cargo itself said that tests failed, which ends such a run.
    concluded: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Outside,
    /// After `failures:`, where either details or names follow.
    Failures,
    /// What failed tests printed, until names follow.
    Details,
    Listed,
}

impl Cargo {
    pub(super) fn new(keeps_going: bool) -> Self {
        let (names, place) = (Names::default(), Place::Outside);
        Self { keeps_going, sum: None, running: None, names, place, concluded: false }
    }
}

impl Parser for Cargo {
    fn line(&mut self, line: &str) {
        if line == "failures:" {
            self.place = Place::Failures;
            return;
        }
        match self.place {
            Place::Failures if line.is_empty() => self.place = Place::Details,
            Place::Failures | Place::Listed => match line.strip_prefix("    ") {
                Some(name) => {
                    self.names.add(name);
                    self.place = Place::Listed;
                }
                None => self.place = Place::Outside,
            },
            Place::Details | Place::Outside => {}
        }
        if self.place == Place::Details {
            return;
        }
        if let Some(count) = running(line) {
            // The block before never came to its result.
            if self.running.replace(count).is_some() {
                self.sum.get_or_insert_default().cut = true;
            }
        } else if let Some(name) = failed(line) {
            self.names.add(name);
        } else if let Some(result) = result(line) {
            self.result(result);
        } else if let Some(targets) = line.strip_prefix("error: ").and_then(conclusion) {
            self.concluded |= targets || !self.keeps_going;
        }
    }

    fn end(self: Box<Self>) -> Option<Tally> {
        let mut sum = self.sum?;
        sum.cut |= self.running.is_some() || (sum.failed > 0 && !self.concluded);
        Some(sum)
    }
}

impl Cargo {
    fn result(&mut self, (mut tally, ran): (Tally, u64)) {
        match self.running {
            // A test printed it: it is not the result of what was announced.
            Some(announced) if announced != ran => return,
            Some(_) => {}
            // The beginning is missing.
            None => tally.cut = true,
        }
        self.running = None;
        tally.failing = std::mem::take(&mut self.names);
        match &mut self.sum {
            Some(sum) => sum.add(tally),
            None => self.sum = Some(tally),
        }
    }
}

fn running(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("running ")?;
    let count = scan.number()?;
    scan.either(&[" tests", " test"])?;
    scan.end().map(|()| count)
}

/// `test failed, to rerun pass `--lib``, or, where it went on, `2 targets failed:`.
fn conclusion(error: &str) -> Option<bool> {
    if error.starts_with("test failed, to rerun") || error.starts_with("doctest failed, to rerun") {
        return Some(false);
    }
    let mut scan = Scan::new(error);
    scan.number()?;
    scan.either(&[" target failed:", " targets failed:"]).map(|_| true)
}

fn failed(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

/// The counts of a block, and how many tests it ran.
fn result(line: &str) -> Option<(Tally, u64)> {
    let mut scan = Scan::new(line);
    scan.text("test result: ")?;
    scan.either(&["ok. ", "FAILED. "])?;
    let mut counts = [0; 5];
    for (count, word) in
        counts.iter_mut().zip([" passed; ", " failed; ", " ignored; ", " measured; ", " filtered out"])
    {
        *count = scan.number()?;
        scan.text(word)?;
    }
    let [passed, failed, skipped, measured, _] = counts;
    let mut duration_ms = None;
    if scan.text("; finished in ").is_some() {
        duration_ms = Some(scan.seconds()?);
        scan.text("s")?;
    }
    scan.end()?;
    let ran = passed.checked_add(failed)?.checked_add(skipped)?.checked_add(measured)?;
    let tally = Tally { passed: passed + measured, failed, skipped, duration_ms, ..Tally::default() };
    Some((tally, ran))
}
