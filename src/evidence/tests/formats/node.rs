//! Node's test runner: a block of counts after `#` or `ℹ`, in a fixed order.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Summaries, Tally};

const COUNTS: [&str; 7] = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"];

#[derive(Debug)]
pub(in crate::evidence::tests) struct Node {
    summaries: Summaries,
    /// The counts of the block so far, in the order of `COUNTS`.
    counts: Vec<u64>,
    names: Names,
    /// The nesting depth of the previous failure.
    failed: Option<usize>,
    /// With a filter, files without a matching test count as passed.
    filtered: bool,
    files: u64,
    /// How many failed, if the block is incomplete.
    loose: Option<Tally>,
    /// Whether the previous line said how many failed.
    fails: bool,
}

impl Node {
    pub(in crate::evidence::tests) fn new(filtered: bool) -> Self {
        let summaries = Summaries::default();
        let (counts, names) = (Vec::new(), Names::default());
        Self { summaries, counts, names, failed: None, filtered, files: 0, loose: None, fails: false }
    }
}

impl Parser for Node {
    fn line(&mut self, line: &str) {
        let Some(fact) = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ ")) else {
            self.counts.clear();
            self.point(line);
            // The counts precede the failures, and may have been cut.
            if tells_of_failure(line.trim()) && self.loose.is_none() {
                self.loose = Some(Tally { said: Some("tests failed".to_owned()), ..Tally::partly_seen() });
            }
            return;
        };
        if fact.starts_with("tests ") {
            self.counts.clear();
        }
        if let Some(failed) = fact.strip_prefix("fail ").and_then(|count| count.parse().ok()) {
            self.loose = Some(Tally { failed, ..Tally::partly_seen() });
            self.fails = true;
        } else if let Some(cancelled) =
            fact.strip_prefix("cancelled ").and_then(|count| count.parse::<u64>().ok())
            && std::mem::take(&mut self.fails)
            && let Some(loose) = &mut self.loose
        {
            loose.failed = loose.failed.saturating_add(cancelled);
            loose.cut = cancelled > 0;
        }
        let next = COUNTS.get(self.counts.len()).copied();
        match (next, fact.split_once(' ')) {
            (Some(next), Some((word, count))) if word == next => match count.parse() {
                Ok(count) => self.counts.push(count),
                Err(_) => self.counts.clear(),
            },
            (None, Some(("duration_ms", took))) => self.push(took),
            _ => self.counts.clear(),
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        let Self { summaries, names, loose, .. } = *self;
        summaries.or(loose.map(|part| Tally { failing: names, ..part }))
    }
}

impl Node {
    fn push(&mut self, took: &str) {
        let counts = std::mem::take(&mut self.counts);
        let [_tests, _suites, pass, fail, cancelled, skipped, todo] = counts[..] else { return };
        let files = if self.filtered { self.files } else { 0 };
        self.files = 0;
        self.failed = None;
        self.summaries.push(Tally {
            passed: pass.saturating_sub(files),
            failed: fail.saturating_add(cancelled),
            skipped: skipped.saturating_add(todo),
            duration_ms: Scan::new(took).seconds().map(|took| took / 1000),
            failing: std::mem::take(&mut self.names),
            cut: cancelled > 0,
            ..Tally::default()
        });
    }

    /// One test, in either form. A suite with a failed test follows that test one level further out, and is
    /// not a test itself.
    fn point(&mut self, line: &str) {
        let bare = line.trim_start();
        let depth = line.len() - bare.len();
        if let Some(name) = passed(bare) {
            self.files += u64::from(depth == 0 && is_file(name));
            return;
        }
        let Some(name) = failed(bare) else { return };
        let is_suite = self.failed.replace(depth).is_some_and(|inner| inner > depth);
        if !is_suite {
            self.names.add(name);
        }
    }
}

/// Whether the line occurs only in the list of failures.
fn tells_of_failure(line: &str) -> bool {
    let details = ["code: 'ERR_ASSERTION',", "code: 'ERR_TEST_FAILURE',", "diff: 'simple'"];
    line == "✖ failing tests:"
        || details.contains(&line)
        || line.starts_with("operator: '")
        || (line.starts_with("at ") && line.contains("(node:internal/test_runner/"))
}

/// `not ok 3 - breaks`, or `✖ breaks (3.9ms)`
fn failed(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_prefix("not ok ") {
        let name = name.split_once(" - ")?.1;
        return (!has_directive(name)).then_some(name);
    }
    timed(line.strip_prefix("✖ ")?)
}

fn passed(line: &str) -> Option<&str> {
    match line.strip_prefix("ok ") {
        Some(name) => name.split_once(" - ").map(|(_, name)| name).filter(|name| !has_directive(name)),
        None => timed(line.strip_prefix("✔ ")?),
    }
}

/// Whether it was skipped or was not expected to pass yet. A `#` in the name itself is escaped.
fn has_directive(name: &str) -> bool {
    name.contains(" # TODO") || name.contains(" # SKIP")
}

/// A name without the duration after it.
fn timed(text: &str) -> Option<&str> {
    let (name, took) = text.trim_end().rsplit_once(" (")?;
    let mut scan = Scan::new(took);
    scan.seconds()?;
    scan.text("ms)")?;
    scan.end().map(|()| name)
}

fn is_file(name: &str) -> bool {
    [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"].iter().any(|end| name.ends_with(end))
}
