//! vitest: a table of files, tests and time at the end.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Summaries, Tally, counted, files_failed};

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Vitest {
    summaries: Summaries,
    names: Names,
    /// The files counted by the previous line.
    files: Option<Tally>,
    /// How many files could not run.
    broken: u64,
    /// A line of a summary without the others.
    loose: Option<Tally>,
    /// Whether the time of the last summary is still to come.
    untimed: bool,
}

impl Parser for Vitest {
    fn line(&mut self, line: &str) {
        let files = self.files.take();
        let bare = line.trim();
        if let Some(name) = line.strip_prefix(" FAIL  ") {
            // A line without a test means that a whole file failed: its tests are not counted.
            self.broken += u64::from(!name.contains(" > "));
            self.names.add(name.split_once(" [ ").map_or(name, |(file, _)| file));
        } else if let Some(list) = bare.strip_prefix("Test Files  ") {
            self.files = counts(list);
        } else if let Some(files) = &files
            && let Some(mut tally) = bare.strip_prefix("Tests  ").and_then(counts)
        {
            let broken = std::mem::take(&mut self.broken).max(files.failed.saturating_sub(tally.failed));
            tally.said = files_failed(broken);
            tally.unknown |= broken > 0 && tally.is_empty();
            tally.cut |= broken > 0;
            tally.failing = std::mem::take(&mut self.names);
            self.summaries.push(tally);
            self.untimed = true;
        } else if let Some(files) = files {
            self.loose = Some(Tally { said: files_failed(files.failed), ..Tally::partly_seen() });
        } else if let Some(tests) = bare.strip_prefix("Tests  ").and_then(counts) {
            self.loose = Some(Tally { failed: tests.failed, ..Tally::partly_seen() });
        } else if let Some(said) = errors(bare) {
            let loose = &mut self.loose;
            let tally = self.summaries.last();
            let tally = tally.unwrap_or_else(|| loose.get_or_insert_with(Tally::partly_seen));
            // The run counts as failed, whatever passed.
            tally.cut = true;
            tally.said.get_or_insert(said);
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
        let only = self.files.map(|files| Tally { said: files_failed(files.failed), ..Tally::partly_seen() });
        self.summaries.or(only.or(self.loose))
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
    // A run that stops at a failure counts the tests it found, not those it left out.
    tally.cut = tally.failed > 0 && counted < total;
    (counted == total || tally.cut).then_some(tally)
}

/// `Errors  1 error`, thrown outside of any test, or a coverage threshold that was not met.
fn errors(line: &str) -> Option<String> {
    if let Some(short) = line.strip_prefix("ERROR: Coverage for ").filter(|rest| rest.contains(" threshold "))
    {
        return Some(format!("coverage for {short}"));
    }
    let mut scan = Scan::new(line.strip_prefix("Errors  ")?);
    let count = scan.number()?;
    let word = scan.either(&[" errors", " error"])?;
    scan.end().map(|()| format!("{count} unhandled{word}"))
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
