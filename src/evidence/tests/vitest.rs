//! vitest: a table of files, tests and time at the end.

use super::Parser;
use super::tally::{Names, Summaries, Tally, counted};
use crate::evidence::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct Vitest {
    summaries: Summaries,
    names: Names,
    /// Whether the line before counted files.
    files: bool,
    /// Whether the time of the last summary is still to come.
    untimed: bool,
}

impl Parser for Vitest {
    fn line(&mut self, line: &str) {
        let files = std::mem::replace(&mut self.files, false);
        let bare = line.trim();
        if let Some(name) = line.strip_prefix(" FAIL  ") {
            // Without a test, a whole file failed: its tests are not counted.
            if name.contains(" > ") {
                self.names.add(name);
            }
        } else if let Some(list) = bare.strip_prefix("Test Files  ") {
            self.files = counts(list).is_some();
        } else if files && let Some(mut tally) = bare.strip_prefix("Tests  ").and_then(counts) {
            tally.failing = std::mem::take(&mut self.names);
            self.summaries.push(tally);
            self.untimed = true;
        } else if bare.starts_with("No test files found, exiting with code ") {
            self.summaries.push(Tally::default());
        } else if self.untimed
            && let Some(took) = duration(bare)
        {
            self.untimed = false;
            self.summaries.last().into_iter().for_each(|last| last.duration_ms = Some(took));
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        self.summaries.into_list()
    }
}

/// `1 failed | 3 passed | 1 skipped | 1 todo (6)`, or `no tests`.
fn counts(list: &str) -> Option<Tally> {
    let list = list.trim();
    if list == "no tests" {
        return Some(Tally::default());
    }
    let (list, total) = list.strip_suffix(')')?.rsplit_once(" (")?;
    let total: u64 = total.parse().ok()?;
    let mut tally = Tally::default();
    for (count, word) in counted(list, "|") {
        match word {
            "passed" => tally.passed = count,
            "failed" => tally.failed = count,
            "skipped" | "todo" | "expected fail" => tally.skipped = tally.skipped.checked_add(count)?,
            _ => return None,
        }
    }
    let counted = tally.passed.checked_add(tally.failed)?.checked_add(tally.skipped)?;
    (counted == total).then_some(tally)
}

/// `Duration  644ms (import 36%, …)`
fn duration(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("Duration  ")?;
    let number = scan.seconds()?;
    match scan.either(&["ms", "s"])? {
        "ms" => Some(number / 1000),
        _ => Some(number),
    }
}
