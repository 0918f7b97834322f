//! pytest: one line of counts at the end, and before it those that failed.

use super::Parser;
use super::tally::{Names, Summaries, Tally, counted};
use crate::evidence::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct Pytest {
    summaries: Summaries,
    names: Names,
    /// Whether the short summary, which names those that failed, has begun.
    listing: bool,
    stopped: bool,
}

impl Parser for Pytest {
    fn line(&mut self, line: &str) {
        if let Some(mut tally) = summary(line) {
            tally.failing = std::mem::take(&mut self.names);
            tally.cut = std::mem::take(&mut self.stopped);
            self.listing = false;
            self.summaries.push(tally);
        } else if line.starts_with("====") {
            self.listing = line.contains(" short test summary info ");
        } else if line.starts_with("!!!!") {
            self.stopped |= line.contains(" stopping after ") || line.contains("Interrupt");
        } else if self.listing {
            let listed = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR "));
            listed.into_iter().for_each(|listed| self.names.add(name(listed)));
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        self.summaries.into_list()
    }
}

/// The name in `a.py::test_b[x - y] - assert 1 == 2`: a parameter may have dashes, and so may
/// the reason.
fn name(listed: &str) -> &str {
    let dash = listed.find(" - ").unwrap_or(listed.len());
    if !listed[..dash].contains('[') || listed[..dash].ends_with(']') {
        return &listed[..dash];
    }
    listed.find("] - ").map_or(listed, |end| &listed[..=end])
}

/// `=== 2 failed, 3 passed, 1 xfailed in 0.12s ===`, without the bars when quiet.
fn summary(line: &str) -> Option<Tally> {
    // Bars on one side only: the line is not whole.
    if line.starts_with('=') != line.ends_with('=') {
        return None;
    }
    let mut scan = Scan::new(line.trim_matches('=').trim());
    let counts = scan.until_last(" in ")?;
    let duration_ms = scan.seconds()?;
    scan.text("s")?;
    // Long runs repeat it in hours and minutes.
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
}
