//! vitest: a table of files, tests and time at the end.

use super::Parser;
use super::tally::{Names, Summaries, Tally, counted};
use crate::evidence::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct Vitest {
    summaries: Summaries,
    names: Names,
    /// The files that the line before counted.
    files: Option<Tally>,
    /// Whether a file could not run.
    broken: bool,
    /// Whether the time of the last summary is still to come.
    untimed: bool,
}

impl Parser for Vitest {
    fn line(&mut self, line: &str) {
        let files = self.files.take();
        let bare = line.trim();
        if let Some(name) = line.strip_prefix(" FAIL  ") {
            // Without a test, a whole file failed: its tests are not counted.
            self.broken |= !name.contains(" > ");
            self.names.add(name.split_once(" [ ").map_or(name, |(file, _)| file));
        } else if let Some(list) = bare.strip_prefix("Test Files  ") {
            self.files = counts(list);
        } else if let Some(files) = files
            && let Some(mut tally) = bare.strip_prefix("Tests  ").and_then(counts)
        {
            let broken = std::mem::take(&mut self.broken) || (files.failed > 0 && tally.failed == 0);
            tally.unknown |= broken && tally.is_empty();
            tally.cut |= broken;
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
    // Ended at a failure, it counts what it found and not what it left out.
    tally.cut = tally.failed > 0 && counted < total;
    (counted == total || tally.cut).then_some(tally)
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
