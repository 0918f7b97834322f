//! `cargo test`: one block per test binary, each with its own result line.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Tally};

#[derive(Debug)]
pub(in crate::evidence::tests) struct Cargo {
    /// Whether the command line leaves nothing that a failure could skip.
    one_target: bool,
    /// One per start of cargo, if that can be told.
    sums: Vec<Tally>,
    sum: Option<Tally>,
    /// The test binary that is running.
    binary: Option<String>,
    /// How many tests the open block announced.
    running: Option<u64>,
    names: Names,
    place: Place,
    /// Whether cargo itself reported failed tests, with everything printed after it.
    concluded: bool,
    /// Whether cargo reported it at all, and in which form.
    failed: bool,
    words: String,
    /// How its tests ended, if they did not finish.
    ended: Option<String>,
    /// `thread 'tests::deep' has overflowed its stack`
    died: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Place {
    Outside,
    /// After `failures:`, where details or names follow.
    Failures,
    /// The output of failed tests, until names follow.
    Details,
    Listed,
}

impl Cargo {
    pub(in crate::evidence::tests) fn new(one_target: bool) -> Self {
        Self {
            one_target,
            sums: Vec::new(),
            sum: None,
            binary: None,
            running: None,
            names: Names::default(),
            place: Place::Outside,
            concluded: false,
            failed: false,
            words: String::new(),
            ended: None,
            died: None,
        }
    }

    /// The results since cargo was started.
    fn close(&mut self) {
        let unfinished = self.running.take().is_some();
        let concluded = std::mem::take(&mut self.concluded);
        let failed = std::mem::take(&mut self.failed);
        let (ended, words) = (self.ended.take(), std::mem::take(&mut self.words));
        let is_all = ended.is_some();
        let words = self.died.take().or(ended).unwrap_or(words);
        if let Some(mut sum) = self.sum.take() {
            // If cargo stops at a failure, the remaining binaries did not run.
            sum.cut |= unfinished || (sum.failed > 0 && !concluded);
            // The failed tests are in the missing part.
            sum.unknown |= failed && sum.failed == 0;
            sum.said = Some(words).filter(|_| failed && sum.failed == 0);
            self.sums.push(sum);
        } else if failed || is_all {
            self.sums.push(Tally { said: Some(words), ..Tally::partly_seen() });
        }
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
        if self.running.is_none() && line.trim_start().starts_with("Finished `") {
            self.close();
        } else if let Some(binary) = binary(line) {
            self.binary = Some(binary.to_owned());
        } else if let Some(count) = running(line) {
            // The previous block never got a result.
            if self.running.replace(count).is_some() {
                self.sum.get_or_insert_default().cut = true;
            }
        } else if let Some(name) = failed(line) {
            self.names.add(name);
        } else if let Some(result) = result(line) {
            self.result(result);
        } else if let Some(targets) = line.strip_prefix("error: ").and_then(conclusion) {
            self.concluded |= targets || self.one_target;
            self.failed = true;
            self.words = line.trim_start_matches("error: ").trim_end_matches(':').to_owned();
        } else if let Some(how) = line.strip_prefix("  process didn't exit successfully: ") {
            self.ended = Some(format!("the tests did not exit successfully: {how}"));
        } else if line.starts_with("thread '") && line.ends_with(" has overflowed its stack") {
            self.died = Some(line.to_owned());
        }
    }

    fn end(mut self: Box<Self>) -> Vec<Tally> {
        self.close();
        self.sums
    }
}

impl Cargo {
    fn result(&mut self, (mut tally, ran): (Tally, u64)) {
        match self.running {
            // A test printed it: it is not the result of the announced tests.
            Some(announced) if announced != ran => return,
            Some(_) => {}
            // The beginning is missing.
            None => tally.headless = true,
        }
        if let Some(binary) = self.binary.take() {
            tally.add_source(binary);
        }
        self.running = None;
        tally.failing = std::mem::take(&mut self.names);
        match &mut self.sum {
            Some(sum) => sum.add(tally),
            None => self.sum = Some(tally),
        }
    }
}

/// `     Running tests/a.rs (target/debug/deps/a-0123)`, or `   Doc-tests sample`
fn binary(line: &str) -> Option<&str> {
    let bare = line.trim_start();
    let indented = bare.len() < line.len();
    let is_binary = bare.starts_with("Running ") && bare.ends_with(')');
    (indented && (is_binary || bare.starts_with("Doc-tests "))).then_some(bare)
}

pub(in crate::evidence::tests) fn running(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("running ")?;
    let count = scan.number()?;
    scan.either(&[" tests", " test"])?;
    scan.end().map(|()| count)
}

/// `test failed, to rerun pass `--lib``, or with `--no-fail-fast`, `2 targets failed:`.
fn conclusion(error: &str) -> Option<bool> {
    if error.starts_with("test failed, to rerun") || error.starts_with("doctest failed, to rerun") {
        return Some(false);
    }
    let mut scan = Scan::new(error);
    scan.number()?;
    scan.either(&[" target failed:", " targets failed:"]).map(|_| true)
}

/// `test tests::breaks - should panic ... FAILED`: only the name.
fn failed(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    let kinds = [" - should panic", " - compile fail", " - compile"];
    Some(kinds.iter().find_map(|kind| name.strip_suffix(kind)).unwrap_or(name))
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
