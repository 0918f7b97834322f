//! The Test Anything Protocol: a plan, and one line per test.

use crate::evidence::line_scanner::Scan;
use crate::evidence::tests::Parser;
use crate::evidence::tests::tally::Tally;

#[derive(Debug)]
pub(in crate::evidence::tests) struct Tap {
    /// Whether the outermost points are files, which have tests between braces or could not run.
    by_file: bool,
    plan: Option<u64>,
    points: u64,
    /// Whether the points are numbered.
    numbered: bool,
    /// The names of the open tests, whose subtests stand between braces.
    open: Vec<String>,
    /// How many tests `prove` counted.
    proved: Option<u64>,
    /// Files that could not run.
    bare: u64,
    tally: Tally,
}

/// The line of one test.
#[derive(Debug)]
pub(in crate::evidence::tests) struct Point<'a> {
    passed: bool,
    pub(in crate::evidence::tests) number: Option<u64>,
    /// The text after the number.
    rest: &'a str,
}

/// Suffixes of test file names.
const ENDS: [&str; 8] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"];

/// The indentation of subtests.
const INDENT: usize = 4;

impl Tap {
    pub(in crate::evidence::tests) fn new(by_file: bool) -> Self {
        let open = Vec::new();
        Self {
            by_file,
            plan: None,
            points: 0,
            numbered: false,
            open,
            proved: None,
            bare: 0,
            tally: Tally::default(),
        }
    }
}

/// Whether a line reports a passed test with its own name or number.
pub(in crate::evidence::tests) fn passes(line: &str) -> bool {
    let is_named = |point: &Point<'_>| point.number.is_some() || !point.rest.is_empty();
    let is_group = |point: &Point<'_>| point.rest.ends_with(" {");
    point(line).is_some_and(|point| {
        let said = name(point.rest).1.to_ascii_lowercase();
        let ran = !said.starts_with("skip") && !said.starts_with("todo");
        point.passed && is_named(&point) && !is_group(&point) && ran
    })
}

impl Parser for Tap {
    // An indented line belongs to a test that is counted at its end, unless braces say otherwise.
    fn line(&mut self, line: &str) {
        if !self.open.is_empty() && self.inner(line) {
            return;
        }
        if let Some(plan) = plan(line) {
            // Several producers may follow each other.
            self.plan = Some(self.plan.unwrap_or(0).saturating_add(plan));
        } else if let Some(point) = point(line) {
            self.numbered |= point.number.is_some();
            // `prove` reports it for a file as a whole.
            if self.numbered && point.number.is_none() && point.rest.is_empty() {
                return;
            }
            self.points += 1;
            if self.is_bare_file(&point) {
                return;
            }
            self.judge(&point);
        } else if line.starts_with("Bail out!") || line.starts_with("# Subtest: ") {
            // Subtests are not counted here.
            self.tally.cut = true;
        } else if let Some(proved) = proved(line) {
            self.proved = Some(proved);
        } else if matches!(line, "Result: PASS" | "Result: NOTESTS")
            && self.plan.is_none()
            && self.points == 0
        {
            // Without single tests, all tests that it counted passed; if it counted none, none did.
            self.tally.passed = self.proved.unwrap_or(0);
            self.plan = self.proved;
            self.points = self.tally.passed;
        }
    }

    fn end(self: Box<Self>) -> Vec<Tally> {
        let Some(plan) = self.plan else { return Vec::new() };
        let mut tally = self.tally;
        tally.cut |= plan != self.points || !self.open.is_empty();
        tally.unknown |= self.bare > 0 && tally.is_empty();
        vec![tally]
    }
}

impl Tap {
    /// A line between braces: returns whether it is one.
    fn inner(&mut self, line: &str) -> bool {
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        if bare == "}" && indent == INDENT * (self.open.len() - 1) {
            self.open.pop();
            return true;
        }
        if indent == INDENT * self.open.len()
            && let Some(point) = point(bare)
        {
            self.judge(&point);
        }
        indent > 0
    }

    /// A file without tests: if it could not run, nobody counted its tests.
    fn is_bare_file(&mut self, point: &Point<'_>) -> bool {
        let (name, directive) = name(point.rest);
        let is_named_so = !point.passed && ENDS.iter().any(|end| name.ends_with(end));
        let is_file = !point.rest.ends_with(" {") && !name.contains(" > ") && (self.by_file || is_named_so);
        if is_file && !point.passed && !directive.to_ascii_lowercase().starts_with("skip") {
            self.tally.failing.add(name);
            self.tally.cut = true;
            self.bare += 1;
        }
        is_file
    }

    fn judge(&mut self, point: &Point<'_>) {
        if let Some(parent) = point.rest.strip_suffix(" {") {
            self.open.push(name(parent).0.to_owned());
            return;
        }
        let (name, directive) = name(point.rest);
        let directive = directive.get(..4).unwrap_or_default().to_ascii_lowercase();
        match (directive.as_str(), point.passed) {
            ("skip", _) | ("todo", _) => self.tally.skipped += 1,
            (_, true) => self.tally.passed += 1,
            (_, false) => {
                self.tally.failed += 1;
                let titles: Vec<&str> = self.open.iter().map(String::as_str).chain([name]).collect();
                self.tally.failing.add(&titles.join(" > "));
            }
        }
    }
}

/// The name of a test, and its directive.
fn name(rest: &str) -> (&str, &str) {
    let bare = || rest.strip_prefix("# ").map(|directive| ("", directive));
    let (name, directive) = bare().or_else(|| rest.split_once(" # ")).unwrap_or((rest, ""));
    (name.trim_start_matches("- "), directive)
}

/// `1..5`, with a reason if the plan is empty.
pub(in crate::evidence::tests) fn plan(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("1..")?;
    let count = scan.number()?;
    let rest = scan.rest().trim();
    (rest.is_empty() || rest.starts_with('#')).then_some(count)
}

/// `not ok 2 - divides # TODO`
pub(in crate::evidence::tests) fn point(line: &str) -> Option<Point<'_>> {
    let mut scan = Scan::new(line);
    let passed = scan.either(&["ok", "not ok"])? == "ok";
    // The number is optional.
    if scan.rest().starts_with(' ') {
        scan.text(" ")?;
        let mut numbered = scan;
        let number = numbered.number();
        let rest = match number {
            Some(_) if numbered.rest().is_empty() || numbered.rest().starts_with(' ') => numbered.rest(),
            Some(_) => return None,
            None if scan.rest().starts_with(['-', '#']) => scan.rest(),
            None => return None,
        };
        return Some(Point { passed, number, rest: rest.trim() });
    }
    scan.rest().is_empty().then_some(Point { passed, number: None, rest: "" })
}

/// `Files=2, Tests=5,  0 wallclock secs ( … )`
fn proved(line: &str) -> Option<u64> {
    let mut scan = Scan::new(line);
    scan.text("Files=")?;
    scan.number()?;
    scan.text(", Tests=")?;
    let tests = scan.number()?;
    scan.text(", ").map(|()| tests)
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

    #[track_caller]
    fn check(text: &str, expected: (u64, u64, u64), failing: &[&str], cut: bool) {
        let mut parser = Box::new(Tap::new(false));
        text.lines().for_each(|line| parser.line(line));
        let tally = parser.end().remove(0);
        assert_eq!(
            (tally.passed, tally.failed, tally.skipped, tally.cut),
            (expected.0, expected.1, expected.2, cut)
        );
        assert_eq!(tally.failing.into_list(), failing);
    }

    #[test]
    fn tests_between_brackets_are_those_that_count() {
        let text = "1..2\nnot ok 1 - a.js # time=1ms {\n    1..3\n    ok 1 - x # time=1ms\n    not ok 2 - y {\n        1..1\n        not ok 1 - z\n            ---\n            ok 9 - no\n            ...\n    }\n    ok 3 - s # SKIP\n}\nok 2 - b.js\n";
        check(text, (2, 1, 1), &["a.js > y > z"], false);
        let open = &text[..text.rfind("}\n").unwrap()];
        check(open, (1, 1, 1), &["a.js > y > z"], true);
    }

    #[test]
    fn a_file_that_could_not_run_is_no_test() {
        let text = "1..2\nnot ok 1 - a.js {\n    1..1\n    ok 1 - x\n}\nnot ok 2 - b.test.mjs\n";
        check(text, (1, 0, 0), &["b.test.mjs"], true);
    }

    #[test]
    fn what_prove_says_of_a_file_is_no_test() {
        let all = "All tests successful.\nFiles=1, Tests=2,  0 wallclock secs\nResult: PASS\n";
        check(&format!("a.t ..\n1..2\nok 1 - a\nok 2 - b\nok\n{all}"), (2, 0, 0), &[], false);
        check(&format!("a.t .. ok\n{all}"), (2, 0, 0), &[], false);
    }
}
