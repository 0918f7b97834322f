//! The Test Anything Protocol: a plan, and one line a test.

use super::Parser;
use super::tally::Tally;
use crate::evidence::scan::Scan;

#[derive(Debug, Default)]
pub(super) struct Tap {
    plan: Option<u64>,
    points: u64,
    tally: Tally,
}

impl Parser for Tap {
    // What is indented belongs to a test that is counted where it ends.
    fn line(&mut self, line: &str) {
        if let Some(plan) = plan(line) {
            // Several producers may follow each other.
            self.plan = Some(self.plan.unwrap_or(0).saturating_add(plan));
        } else if let Some((passed, rest)) = point(line) {
            self.points += 1;
            self.judge(passed, rest);
        } else if line.starts_with("Bail out!") || line.starts_with("# Subtest: ") {
            // What is inside of a test is not counted here.
            self.tally.cut = true;
        }
    }

    fn end(self: Box<Self>) -> Option<Tally> {
        let plan = self.plan?;
        let mut tally = self.tally;
        tally.cut |= plan != self.points;
        Some(tally)
    }
}

impl Tap {
    fn judge(&mut self, passed: bool, rest: &str) {
        let (name, directive) = rest.split_once(" # ").unwrap_or((rest, ""));
        let directive = directive.get(..4).unwrap_or_default().to_ascii_lowercase();
        match (directive.as_str(), passed) {
            ("skip", _) | ("todo", _) => self.tally.skipped += 1,
            (_, true) => self.tally.passed += 1,
            (_, false) => {
                self.tally.failed += 1;
                self.tally.failing.add(name.trim_start_matches("- "));
            }
        }
    }
}

/// `1..5`, with a reason where it is nothing.
fn plan(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("1..")?;
    let count = scan.number()?;
    let rest = scan.rest().trim();
    (rest.is_empty() || rest.starts_with('#')).then_some(count)
}

/// `not ok 2 - divides # TODO`: whether it passed, and what stands after the number.
fn point(line: &str) -> Option<(bool, &str)> {
    let mut scan = Scan::new(line);
    let passed = scan.either(&["ok", "not ok"])? == "ok";
    scan.text(" ")?;
    scan.number()?;
    let rest = scan.rest();
    (rest.is_empty() || rest.starts_with(' ')).then(|| (passed, rest.trim()))
}
