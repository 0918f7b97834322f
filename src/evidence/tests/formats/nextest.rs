//! `cargo nextest run`: one summary, with failed tests before and after it.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Summaries, Tally, counted};

/// The prefixes of lines that name a test that did not pass.
const FAILED: [&str; 9] =
    ["FAIL", "FAIL + LEAK", "LEAK-FAIL", "TIMEOUT", "ABORT", "SIGABRT", "SIGSEGV", "SIGKILL", "XFAIL"];

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Nextest {
    summaries: Summaries,
    names: Names,
    summed: bool,
    /// How many tests it announced to skip.
    skips: Option<u64>,
    /// Whether it reports failed tests at its end.
    failed: bool,
}

impl Parser for Nextest {
    fn line(&mut self, line: &str) {
        if let Some(mut tally) = summary(line) {
            tally.cut |= self.skips.take().is_some_and(|skips| tally.skipped < skips);
            let failing = std::mem::take(&mut self.names);
            self.summaries.push(Tally { failing, ..tally });
            self.summed = true;
        } else if let Some((name, tried_again)) = failed(line) {
            match self.summaries.last().filter(|_| self.summed) {
                Some(last) => last.failing.add(name),
                // It may still pass on a retry; the lines after the summary are final.
                None if tried_again => {}
                None => self.names.add(name),
            }
        } else if let Some(rest) = line.trim_start().strip_prefix("Starting ") {
            self.summed = false;
            self.skips = skips(rest);
        } else if line == "error: test run failed" {
            self.failed = true;
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        let said = Some("test run failed".to_owned());
        let part = Tally { said, failing: self.names, ..Tally::partly_seen() };
        self.summaries.or(self.failed.then_some(part))
    }
}

/// `Summary [   0.549s] 5/6 tests run: 3 passed (1 slow), 1 failed, 1 timed out, 1 skipped`
fn summary(line: &str) -> Option<Tally> {
    let mut scan = Scan::new(line.trim_start());
    scan.text("Summary [")?;
    scan.spaces();
    let duration_ms = scan.seconds()?;
    scan.text("s] ")?;
    let ran = scan.number()?;
    let planned = if scan.text("/").is_some() { scan.number()? } else { ran };
    scan.either(&[" tests run: ", " test run: "])?;
    let counts = without_brackets(scan.rest());
    let mut tally = Tally { duration_ms: Some(duration_ms), cut: ran != planned, ..Tally::default() };
    for (count, word) in counted(&counts, ",") {
        match word {
            "passed" => tally.passed += count,
            "skipped" => tally.skipped += count,
            "failed" | "timed out" | "exec failed" | "failed due to leaks" => tally.failed += count,
            _ => return None,
        }
    }
    (tally.passed.checked_add(tally.failed)? == ran).then_some(tally)
}

/// `5 tests across 2 binaries (1 test skipped)`
fn skips(line: &str) -> Option<u64> {
    let (_, brackets) = line.split_once(" (")?;
    let mut scan = Scan::new(brackets);
    let count = scan.number()?;
    scan.either(&[" tests skipped", " test skipped"]).map(|_| count)
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    let keep = |c: &char| {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        depth == 0
    };
    text.chars().filter(keep).collect()
}

/// `FAIL [   0.498s] (5/5) sample tests::breaks`: the name, and whether the test was retried.
fn failed(line: &str) -> Option<(&str, bool)> {
    let (before, after) = line.trim_start().split_once(" [")?;
    let tried = before.strip_prefix("TRY ").and_then(|tried| tried.split_once(' '));
    let kind = tried.map_or(before, |(_, kind)| kind);
    if !FAILED.contains(&kind) {
        return None;
    }
    let mut scan = Scan::new(after.trim_start_matches(['>', ' ']));
    scan.seconds()?;
    scan.text("s] ")?;
    scan.spaces();
    if scan.rest().starts_with('(') {
        scan.until(") ")?;
    }
    Some((scan.rest(), tried.is_some()))
}
