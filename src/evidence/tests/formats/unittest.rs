//! Python's unittest: how many tests ran, then the verdict.

use std::collections::BTreeSet;

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Summaries, Tally};

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Unittest {
    summaries: Summaries,
    names: Names,
    /// How many ran and for how long; the verdict follows.
    ran: Option<(u64, u64)>,
    marks: Marks,
    /// A verdict without the number of tests.
    loose: Option<Tally>,
}

/// What is known about single tests before the summary.
#[derive(Debug, Default)]
struct Marks {
    /// The marks of quiet progress, one per test.
    passed: u64,
    others: u64,
    /// Lines that end in `... ok`, and those of skipped tests or classes.
    ok: u64,
    left_out: u64,
    /// Headings of failures: each test that ran once, and all headings.
    tests: BTreeSet<String>,
    headings: u64,
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
        } else if let Some(name) =
            ["FAIL: ", "ERROR: ", "UNEXPECTED SUCCESS: "].iter().find_map(|head| line.strip_prefix(head))
        {
            self.names.add(name);
            self.marks.heading(name);
        } else if let Some(verdict) = verdict(line) {
            let (failed, part) = (verdict.failed, Tally::partly_seen());
            self.loose = Some(Tally { failed, cut: false, ..part });
        } else if line.ends_with("... ok") {
            self.marks.ok += 1;
        } else if is_skipped(line) || line.ends_with("... expected failure") {
            self.marks.left_out += 1;
        } else if !line.is_empty() && line.bytes().all(|byte| b".FEsxu".contains(&byte)) {
            let passed = line.bytes().filter(|byte| *byte == b'.').count() as u64;
            self.marks.passed += passed;
            self.marks.others += line.len() as u64 - passed;
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        let Self { summaries, names, loose, .. } = *self;
        summaries.or(loose.map(|part| Tally { failing: names, ..part }))
    }
}

impl Marks {
    fn heading(&mut self, name: &str) {
        self.headings += 1;
        // A class or a module as a whole is not among the tests that ran.
        let whole = ["setUpClass (", "tearDownClass (", "setUpModule (", "tearDownModule ("];
        if !whole.iter().any(|head| name.starts_with(head)) {
            // The text after the parentheses names a part of the test.
            let test = name.find(')').map_or(name, |end| &name[..=end]);
            self.tests.insert(test.to_owned());
        }
    }

    /// How many passed; `None` if unknown. A failure may belong to a class, which did not run as a test, or
    /// be one of several in the same test.
    fn passed(&self, ran: u64, verdict: &Verdict) -> Option<u64> {
        // A single failure belongs to one test, whether or not its name is known.
        let is_one = self.headings == 0 && verdict.is_one_test;
        if is_one {
            return ran.checked_sub(verdict.failed)?.checked_sub(verdict.skipped);
        }
        if self.headings != verdict.failed {
            return None;
        }
        let most = ran.checked_sub(self.tests.len() as u64)?;
        let counted = most.saturating_sub(verdict.skipped);
        // A class that was skipped as a whole did not run either. Then more tests passed, as the marks show
        // if none is missing.
        let quiet = self.others == verdict.failed.saturating_add(verdict.skipped);
        let seen = self.ok.max(if quiet { self.passed } else { 0 });
        // Without marks it is unknown which kind was skipped.
        let told = verdict.skipped == 0 || quiet || self.ok > 0 || self.left_out == verdict.skipped;
        told.then(|| if seen <= most { seen.max(counted) } else { counted })
    }

    /// Whether the marks are complete and contain more failures than the verdict, which was then cut.
    fn tell_more(&self, ran: u64, verdict: &Verdict) -> bool {
        let counted = verdict.failed.saturating_add(verdict.skipped);
        let is_all = self.passed.saturating_add(self.others) == ran;
        let has_all_lines = self.ok.saturating_add(self.left_out).saturating_add(self.headings) == ran;
        (is_all && self.others > counted) || (has_all_lines && self.left_out > verdict.skipped)
    }
}

impl Unittest {
    fn push(&mut self, ran: u64, took: u64, verdict: &Verdict) {
        let marks = std::mem::take(&mut self.marks);
        let passed = marks.passed(ran, verdict).filter(|_| !marks.tell_more(ran, verdict));
        self.summaries.push(Tally {
            passed: passed.unwrap_or(0),
            failed: verdict.failed,
            skipped: verdict.skipped,
            duration_ms: Some(took),
            failing: std::mem::take(&mut self.names),
            unknown: passed.is_none(),
            ..Tally::default()
        });
    }
}

/// `test_a (t.T.test_a) ... skipped 'not here'`: the reason is a Python string literal.
fn is_skipped(line: &str) -> bool {
    let is_quoted = |reason: &str| {
        let inner = |mark: char| reason.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        inner('\'').or_else(|| inner('"')).is_some()
    };
    line.split_once(" ... skipped ").is_some_and(|(_, reason)| is_quoted(reason))
}

/// `Ran 7 tests in 0.009s`
pub(in crate::evidence::tests) fn ran(line: &str) -> Option<(u64, u64)> {
    let mut scan = Scan::new(line);
    scan.text("Ran ")?;
    let count = scan.number()?;
    scan.either(&[" tests in ", " test in "])?;
    let took = scan.seconds()?;
    scan.text("s")?;
    scan.end().map(|()| (count, took))
}

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Verdict {
    failed: u64,
    skipped: u64,
    /// Whether exactly one test failed, and everything that the verdict counts is among the tests that ran:
    /// an error or a skip may belong to a class.
    is_one_test: bool,
}

/// `FAILED (failures=1, errors=1, skipped=1, expected failures=1)`
pub(in crate::evidence::tests) fn verdict(line: &str) -> Option<Verdict> {
    let mut scan = Scan::new(line);
    scan.either(&["OK", "FAILED", "NO TESTS RAN"])?;
    let mut verdict = Verdict::default();
    if scan.end().is_some() {
        return Some(verdict);
    }
    scan.text(" (")?;
    let mut of_classes = false;
    for part in scan.until(")")?.split(", ") {
        let (word, count) = part.split_once('=')?;
        let count: u64 = count.parse().ok()?;
        of_classes |= matches!(word, "errors" | "skipped");
        match word {
            "failures" | "errors" | "unexpected successes" => {
                verdict.failed = verdict.failed.checked_add(count)?;
            }
            "skipped" | "expected failures" => verdict.skipped = verdict.skipped.checked_add(count)?,
            _ => return None,
        }
    }
    verdict.is_one_test = verdict.failed == 1 && !of_classes;
    scan.end().map(|()| verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(u64, u64, u64)>) {
        let mut parser = Box::new(Unittest::default());
        text.lines().for_each(|line| parser.line(line));
        let counts = parser.end()[0].counts();
        assert_eq!(counts.map(|counts| (counts.passed, counts.failed, counts.skipped)), expected);
    }

    /// Four pass, one has three parts that fail, and one class cannot be set up.
    const FAILURES: &str = "\
ERROR: setUpClass (t.S)
FAIL: test_parts (t.T.test_parts) (i=0)
FAIL: test_parts (t.T.test_parts) (i=1)
FAIL: test_parts (t.T.test_parts) (i=2)
Ran 5 tests in 0.001s

FAILED (failures=3, errors=1)
";

    #[test]
    fn parts_of_a_test_and_classes_are_no_tests_of_their_own() {
        let verbose = "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... printed\nok\n";
        check(&format!("{verbose}{FAILURES}"), Some((4, 4, 0)));
        check(&format!("E....FFF\n{FAILURES}"), Some((4, 4, 0)));
        // Something printed between the marks.
        check(&format!("E..hello\n..FFF\n{FAILURES}"), Some((4, 4, 0)));
    }

    #[test]
    fn without_the_names_of_all_failures_nothing_is_counted() {
        check("Ran 5 tests in 0.001s\n\nFAILED (failures=3, errors=1)\n", None);
        check("Ran 5 tests in 0.001s\n\nOK\n", Some((5, 0, 0)));
        // One that was skipped, or a class of them that is not among those that ran.
        check("Ran 5 tests in 0.001s\n\nOK (skipped=1)\n", None);
        check("..s..\nRan 5 tests in 0.001s\n\nOK (skipped=1)\n", Some((4, 0, 1)));
        check("s.....\nRan 5 tests in 0.001s\n\nOK (skipped=1)\n", Some((5, 0, 1)));
    }

    #[test]
    fn what_a_test_prints_is_no_test_that_was_skipped() {
        let ran = "Ran 2 tests in 0.001s\n\nOK\n";
        check(&format!("copy a.txt ... skipped (exists)\n{ran}"), Some((2, 0, 0)));
        check(&format!("copy a.txt ... skipped 'exists'\n..\n{ran}"), Some((2, 0, 0)));
        check(&format!("a ... ok\nb ... copy a.txt ... skipped (exists)\nok\n{ran}"), Some((2, 0, 0)));
        // The verdict was cut off.
        for why in ["'not here'", "\"it's not here\"", "''"] {
            check(&format!("a (t.T.a) ... ok\nb (t.T.b) ... skipped {why}\n{ran}"), None);
        }
        check(&format!("a (t.T.a) ... ok\nb (t.T.b) ... expected failure\n{ran}"), None);
    }
}
