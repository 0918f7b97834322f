//! jest: a table of suites, tests and time at the end.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Summaries, Tally, counted, files_failed};

/// Titles after the bullet that are not tests.
const NO_TESTS: [&str; 4] = ["Console", "Validation Warning", "Deprecation Warning", "Validation Error"];

/// The title for a file whose tests never began.
const NOT_RUN: &str = "Test suite failed to run";

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Jest {
    summaries: Summaries,
    names: Names,
    /// The current file, and how many files could not run.
    file: String,
    broken: u64,
    /// The suites counted by the previous line.
    suites: Option<Tally>,
    /// The coverage threshold that was not met.
    threshold: Option<String>,
    /// A line of a summary without the others.
    loose: Option<Tally>,
    /// Whether the time of the last summary is still to come.
    untimed: bool,
}

impl Parser for Jest {
    fn line(&mut self, line: &str) {
        let suites = self.suites.take();
        if let Some(name) = line.strip_prefix("  ● ") {
            if name == NOT_RUN {
                self.names.add(&self.file);
                self.broken += 1;
            } else if !NO_TESTS.iter().any(|other| name.ends_with(other)) {
                self.names.add(name);
            }
        } else if let Some(file) = line.strip_prefix("FAIL ") {
            self.file = file.split_once(" (").map_or(file, |(file, _)| file).trim().to_owned();
        } else if line.starts_with("Test Suites: ") {
            self.suites = counts(line, "Test Suites: ");
        } else if let Some(suites) = &suites
            && let Some(mut tally) = counts(line, "Tests: ")
        {
            // Nobody counted the tests of a suite that could not run.
            let broken = std::mem::take(&mut self.broken).max(suites.failed.saturating_sub(tally.failed));
            tally.said = files_failed(broken).or(self.threshold.take());
            tally.unknown |= broken > 0 && tally.is_empty();
            tally.cut |= suites.cut || broken > 0;
            tally.failing = std::mem::take(&mut self.names);
            self.summaries.push(tally);
            self.untimed = true;
        } else if let Some(suites) = suites {
            self.loose = Some(Tally { said: files_failed(suites.failed), ..Tally::partly_seen() });
        } else if let Some(tests) = counts(line, "Tests: ") {
            self.loose = Some(Tally { failed: tests.failed, ..Tally::partly_seen() });
        } else if let Some(short) = line.strip_prefix("Jest: ").filter(|rest| rest.contains(" threshold ")) {
            self.threshold.get_or_insert_with(|| short.to_owned());
        } else if line.starts_with("No tests found, exiting with code ") {
            self.summaries.push(Tally::default());
        } else if self.untimed
            && let Some(took) = time(line)
        {
            self.untimed = false;
            self.summaries.last().into_iter().for_each(|last| last.duration_ms = Some(took));
        }
    }

    fn end(mut self: Box<Self>) -> Vec<Tally> {
        let suites = self.suites.take();
        let only = suites.map(|suites| Tally { said: files_failed(suites.failed), ..Tally::partly_seen() });
        let short = self.threshold.take().map(|said| Tally { said: Some(said), ..Tally::partly_seen() });
        self.summaries.or(only.or(self.loose).or(short))
    }
}

/// `Tests:       1 failed, 1 skipped, 1 todo, 3 passed, 6 total`
fn counts(line: &str, head: &str) -> Option<Tally> {
    let list = line.strip_prefix(head)?.trim();
    // A run that was stopped early prints `1 of 2 total`.
    let (list, total) = list.rsplit_once(", ").unwrap_or(("", list));
    let total = total.strip_suffix(" total")?;
    let partial = total.contains(" of ");
    let total: u64 = total.rsplit(' ').next()?.parse().ok()?;
    let mut tally = Tally::default();
    for (count, word) in counted(list, ",") {
        match word {
            "passed" => tally.passed = count,
            "failed" => tally.failed = count,
            "skipped" | "todo" | "pending" => tally.skipped = tally.skipped.checked_add(count)?,
            _ => return None,
        }
    }
    let counted = tally.passed.checked_add(tally.failed)?.checked_add(tally.skipped)?;
    tally.cut = partial && counted < total;
    (counted == total || tally.cut).then_some(tally)
}

/// `Time:        1.767 s, estimated 2 s`
fn time(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("Time: ")?;
    scan.spaces();
    let took = scan.seconds()?;
    scan.text(" s").map(|()| took)
}
