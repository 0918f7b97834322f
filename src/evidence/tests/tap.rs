//! The Test Anything Protocol: a plan, and one line a test.

use super::Parser;
use super::tally::Tally;
use crate::evidence::scan::Scan;

#[derive(Debug)]
pub(super) struct Tap {
    /// Whether its text comes twice.
    again: bool,
    plan: Option<u64>,
    points: u64,
    tally: Tally,
}

impl Tap {
    pub(super) fn new(again: bool) -> Self {
        Self { again, plan: None, points: 0, tally: Tally::default() }
    }
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

    fn end(self: Box<Self>) -> Vec<Tally> {
        let Some(plan) = self.plan else { return Vec::new() };
        let mut tally = self.tally;
        tally.cut |= plan != self.points;
        tally.unknown |= self.again;
        vec![tally]
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
    // The number may be left out.
    if scan.rest().starts_with(' ') {
        scan.text(" ")?;
        let mut numbered = scan;
        let rest = match numbered.number() {
            Some(_) if numbered.rest().is_empty() || numbered.rest().starts_with(' ') => numbered.rest(),
            Some(_) => return None,
            None if scan.rest().starts_with(['-', '#']) => scan.rest(),
            None => return None,
        };
        return Some((passed, rest.trim()));
    }
    let rest = scan.rest();
    rest.is_empty().then_some((passed, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_left_out() {
        let mut parser = Box::new(Tap::new(false));
        ["1..3", "ok", "not ok - b", "ok 3 - c", "okay", "ok then"].iter().for_each(|line| parser.line(line));
        let tally = parser.end().remove(0);
        assert_eq!((tally.passed, tally.failed, tally.cut), (2, 1, false));
    }
}
