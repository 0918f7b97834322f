//! pytest: one line of counts at the end, after the failed tests.

mod marks;

pub(in crate::evidence::tests) use marks::by_marks;

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::{Names, Summaries, Tally, counted};

#[derive(Debug, Default)]
pub(in crate::evidence::tests) struct Pytest {
    summaries: Summaries,
    names: Names,
    /// Names directly before the end, if the heading of their list is missing.
    loose: Names,
    /// Whether the short summary, which names the failed tests, has begun.
    listing: bool,
    /// Whether it has begun and no counts followed.
    listed: bool,
    stopped: bool,
    /// Whether the previous line had counts.
    counted: bool,
    /// What Python itself died of, or why no test began.
    died: Option<String>,
}

impl Parser for Pytest {
    fn line(&mut self, line: &str) {
        let counted = std::mem::take(&mut self.counted);
        if let Some(mut tally) = summary(line) {
            self.counted = true;
            let names = std::mem::take(&mut self.names);
            let loose = std::mem::take(&mut self.loose);
            let listed = std::mem::take(&mut self.listed);
            // The list may be cut, but never names more than failed.
            let fits = loose.len() as u64 <= tally.failed;
            tally.failing = if listed || !fits { names } else { loose };
            tally.cut = std::mem::take(&mut self.stopped);
            self.listing = false;
            self.summaries.push(tally);
        } else if line.starts_with("====") {
            let listing = line.contains(" short test summary info ");
            if listing || is_before_a_list(line) {
                self.end_list();
            }
            self.listing = listing;
            self.listed |= listing;
        } else if stops(line) {
            self.stopped = true;
            // If an output is meant to look like a success, that comes last.
            if let Some(last) = self.summaries.last().filter(|_| counted) {
                last.cut = true;
            }
        } else if let Some(what) = line.strip_prefix("Fatal Python error: ") {
            self.died = Some(what.to_owned());
        } else if let Some(what) = misused(line) {
            self.died = Some(what.to_owned());
        } else if let Some(listed) = listed(line) {
            let names = if self.listing { &mut self.names } else { &mut self.loose };
            names.add(name(listed));
        } else if line.ends_with("%]") {
            self.end_list();
        } else if !self.listing && !line.is_empty() {
            self.loose = Names::default();
        }
        self.counted |= counted && line.is_empty();
    }

    /// In quiet mode there are no counts, and a cut may remove them: the names still count.
    fn end(mut self: Box<Self>) -> Vec<Tally> {
        let names = if self.listed { self.names } else { self.loose };
        if names.len() > 0 {
            let failing = names;
            self.summaries.push(Tally { failing, unknown: true, cut: true, ..Tally::default() });
        }
        self.summaries.or(self.died.map(|what| Tally { said: Some(what), ..Tally::partly_seen() }))
    }
}

impl Pytest {
    /// A new run of the tests: names listed without counts belong to the previous one.
    fn end_list(&mut self) {
        let failing = std::mem::take(&mut self.names);
        (self.listing, self.listed, self.loose) = (false, false, Names::default());
        if failing.len() > 0 {
            self.summaries.push(Tally { failing, unknown: true, cut: true, ..Tally::default() });
        }
    }
}

/// Arguments that pytest did not understand: `pytest: error: unrecognized arguments: -n`.
fn misused(line: &str) -> Option<&str> {
    let (program, what) = line.split_once(": error: ")?;
    let is_own = ["pytest", "py.test", "pytest.py", "__main__.py"].iter().any(|name| program.ends_with(name));
    (is_own && what.starts_with("unrecognized arguments: ")).then_some(what)
}

/// Headings that come before the list of failed tests, never after it.
fn is_before_a_list(line: &str) -> bool {
    [" test session starts ", " FAILURES ", " ERRORS "].iter().any(|words| line.contains(words))
}

/// Whether the run ended early: `!!!! Interrupted: 1 error during collection !!!!`, with a single mark if the
/// reason is long; what Ctrl-C leaves; an internal error of pytest.
pub(in crate::evidence::tests) fn stops(line: &str) -> bool {
    let reasons = [" stopping after ", "Interrupted: ", "KeyboardInterrupt", "outcomes.Exit"];
    // A reason may have several lines.
    let is_bar = line.starts_with("!!!! ") || line.starts_with("!!!!!") || line.ends_with("!!!!!!!!!!");
    let is_short = line.starts_with('!') && reasons.iter().any(|reason| line.contains(reason));
    (is_bar && line.contains(' '))
        || is_short
        || line.starts_with("(to show a full traceback on KeyboardInterrupt use ")
        || line.starts_with("INTERNALERROR> ")
        || (line.ends_with(": KeyboardInterrupt") && line.contains(".py:"))
}

/// `FAILED a.py::test_b - assert 1 == 2`, `SUBFAILED(i=1) a.py::test_b - …`: the text after the word.
fn listed(line: &str) -> Option<&str> {
    let listed = ["FAILED ", "ERROR "].iter().find_map(|head| line.strip_prefix(head));
    let part = || {
        let rest = line.strip_prefix("SUBFAILED")?;
        rest.split_once(") ")
            .or_else(|| rest.split_once("] "))
            .or_else(|| rest.split_once(' '))
            .map(|(_, rest)| rest)
    };
    listed.or_else(part).filter(|listed| listed.contains("::") || listed.contains(".py"))
}

/// The name in `a.py::test_b[x - y] - assert 1 == 2`: parameters and reasons may contain dashes.
fn name(listed: &str) -> &str {
    let dash = listed.find(" - ").unwrap_or(listed.len());
    if !listed[..dash].contains('[') || listed[..dash].ends_with(']') {
        return &listed[..dash];
    }
    listed.find("] - ").map_or(listed, |end| &listed[..=end])
}

/// `=== 2 failed, 3 passed, 1 xfailed in 0.12s ===`, without the bars when quiet.
pub(in crate::evidence::tests) fn summary(line: &str) -> Option<Tally> {
    // With bars on one side only, the line was cut.
    if line.starts_with('=') != line.ends_with('=') {
        return None;
    }
    let mut scan = Scan::new(line.trim_matches('=').trim());
    let counts = scan.until_last(" in ")?;
    let duration_ms = scan.seconds()?;
    scan.text("s")?;
    // Long runs also print the time in hours and minutes.
    if scan.text(" (").is_some() {
        scan.until(")")?;
    }
    scan.end()?;
    let mut tally = Tally { duration_ms: Some(duration_ms), ..Tally::default() };
    if counts == "no tests ran" {
        return Some(tally);
    }
    let mut words = 0;
    for (count, word) in counted(counts, ",") {
        words += 1;
        match word {
            "passed" | "xpassed" => tally.passed = tally.passed.checked_add(count)?,
            "failed" | "error" | "errors" => tally.failed = tally.failed.checked_add(count)?,
            "skipped" | "xfailed" => tally.skipped = tally.skipped.checked_add(count)?,
            "deselected" | "warning" | "warnings" | "rerun" | "subtests passed" => {}
            _ => return None,
        }
    }
    (words > 0 && words == counts.split(',').count()).then_some(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_before_its_reason() {
        for (listed, expected) in [
            ("t.py::test_a - assert [1] == [2]", "t.py::test_a"),
            ("t.py::test_a", "t.py::test_a"),
            ("t.py::test_p[a - b]", "t.py::test_p[a - b]"),
            ("t.py::test_p[a - b] - assert 'a - b' == 1", "t.py::test_p[a - b]"),
            ("t.py::test_p[a] - x - y", "t.py::test_p[a]"),
        ] {
            assert_eq!(name(listed), expected);
        }
    }

    #[track_caller]
    fn check(text: &str, counts: Option<(u64, u64)>, failing: &[&str]) {
        let mut parser = Box::new(Pytest::default());
        text.lines().for_each(|line| parser.line(line));
        let found = parser.end();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].counts().map(|counts| (counts.passed, counts.failed)), counts);
        assert_eq!(found[0].failing.clone().into_list(), failing);
    }

    #[test]
    fn names_are_told_without_counts_and_without_their_heading() {
        let head = "==== short test summary info ====\n";
        let names = "FAILED a.py::x - assert 0\nERROR b.py::y\n";
        let end = "2 failed, 1 passed in 0.1s\n";
        check(&format!("{head}{names}"), None, &["a.py::x", "b.py::y"]);
        check(names, None, &["a.py::x", "b.py::y"]);
        check(&format!("{names}{end}"), Some((1, 2)), &["a.py::x", "b.py::y"]);
        check(&format!("FAILED a.py::z\nprinted\n{names}{end}"), Some((1, 2)), &["a.py::x", "b.py::y"]);
        check(&format!("{names}FAILED a.py::z\n{end}"), Some((1, 2)), &[]);
        // What a test printed is not among them.
        check(&format!("FAILED a.py::z\n{head}{names}{end}"), Some((1, 2)), &["a.py::x", "b.py::y"]);
        check(
            &format!("{head}SUBFAILED(i=1) a.py::T::x - no\n1 failed in 0.1s\n"),
            Some((0, 1)),
            &["a.py::T::x"],
        );
    }
}
