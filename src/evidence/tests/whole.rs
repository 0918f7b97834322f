//! Whether an output is, as a whole, that of a test run.
//!
//! A program that may do anything may print a line that looks like a summary.
//! Only what a runner prints from its beginning to its end, and nothing else
//! does, is believed of it.

use super::tally::Tally;
use super::{Framework, cargo, pytest, tap, unittest};
use crate::evidence::lines::lines;

/// What is there beside the counts, from one look at all lines.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// The last line that says something, and is not of the one who called.
    last: String,
    /// `==== test session starts ====`
    session: bool,
    /// Whether the rule before unittest's counts came right before them.
    rule: bool,
    ruled: bool,
    /// The heads of nextest, jest and vitest.
    nextest: bool,
    jest: bool,
    vitest: bool,
    /// Tests that passed, one a line, and those that node skipped.
    marks: u64,
    skips: u64,
    /// Blocks of cargo, and the tests in them.
    blocks: Pairs,
    announced: u64,
    told: u64,
    /// How many tests unittest ran, and the marks of as many.
    ran: u64,
    progress: u64,
    go: Pairs,
    tap: Points,
}

/// What began, and what ended.
#[derive(Debug, Default)]
struct Pairs {
    began: u64,
    ended: u64,
}

/// The outermost lines of TAP.
#[derive(Debug, Default)]
struct Points {
    plan: Option<u64>,
    seen: u64,
    /// Whether the plan came after tests, so none may follow.
    over: bool,
    /// Whether something contradicts the plan or the order.
    broken: bool,
}

impl Whole {
    pub(super) fn of(text: &str) -> Self {
        let mut whole = Self::default();
        lines(text).for_each(|line| whole.line(&line));
        whole
    }

    fn line(&mut self, line: &str) {
        let bare = line.trim();
        let rule =
            std::mem::replace(&mut self.rule, bare.len() >= 70 && bare.bytes().all(|byte| byte == b'-'));
        if rule && let Some((ran, _)) = unittest::ran(line) {
            (self.ruled, self.ran) = (true, ran);
        }
        let verbose = ["... ok", "... FAIL", "... ERROR"].iter().any(|end| line.ends_with(end));
        self.progress += u64::from(verbose || line.contains(" ... skipped ")) + marks(line, b".FEsxu");
        self.session |= line.starts_with("====") && line.contains(" test session starts ");
        self.nextest |= bare.starts_with("Nextest run ID ");
        self.jest |= line.starts_with("PASS ") || line.starts_with("FAIL ");
        self.vitest |= bare.starts_with("RUN  v");
        self.marks += u64::from(bare.starts_with("✔ ") || bare.starts_with("✓ ") || bare.starts_with("ok "));
        self.skips += u64::from(bare.starts_with("﹣ "));
        if let Some(count) = cargo::running(line) {
            self.blocks.began += 1;
            self.announced = self.announced.saturating_add(count);
        }
        let quiet = line.split(' ').next().unwrap_or_default();
        self.told += u64::from(line.starts_with("test ") && line.contains(" ... ")) + marks(quiet, b".Fi");
        self.blocks.ended += u64::from(line.starts_with("test result: "));
        self.go.began += u64::from(line.starts_with("=== RUN "));
        self.go.ended +=
            u64::from(["--- PASS: ", "--- FAIL: ", "--- SKIP: "].iter().any(|end| bare.starts_with(end)));
        self.tap.line(line);
        if !bare.is_empty() && !is_of_caller(line) {
            line.clone_into(&mut self.last);
        }
    }

    /// Whether its head or end is there, before anything is counted.
    pub(super) fn may_be(&self, framework: Framework) -> bool {
        let last = self.last.as_str();
        match framework {
            Framework::Pytest => self.session && last.starts_with("==") && pytest::summary(last).is_some(),
            // What tests print may come after the end, all at once.
            Framework::Unittest => {
                self.ruled
                    && (unittest::verdict(last).is_some() || (self.ran > 0 && self.progress >= self.ran))
            }
            Framework::CargoTest => {
                self.blocks.match_up()
                    && self.told >= self.announced
                    && ["test result: ", "error: ", "    `-"].iter().any(|head| last.starts_with(head))
            }
            Framework::Nextest => self.nextest,
            Framework::Jest => self.jest && last.starts_with("Ran all test suites"),
            Framework::Vitest => self.vitest && last.trim_start().starts_with("Duration "),
            Framework::Mocha => self.marks > 0,
            Framework::Node => self.marks > 0 || self.skips > 0,
            Framework::Go => {
                self.go.match_up() && ["ok  \t", "FAIL", "PASS"].iter().any(|head| last.starts_with(head))
            }
            Framework::Tap => self.tap.are_all(),
            // A report is what other programs show.
            Framework::Junit => false,
        }
    }

    /// Whether what was counted is all that it told.
    pub(super) fn is(&self, framework: Framework, tally: &Tally) -> bool {
        let counted = !tally.is_empty() && !tally.unknown;
        match framework {
            Framework::Tap => counted,
            // A suite whose tests passed has a mark as well.
            Framework::Node => counted && !tally.cut && self.marks >= tally.passed,
            Framework::Mocha => counted && !tally.cut && self.marks == tally.passed,
            // Where it stops at a failure, what it told is still all.
            Framework::CargoTest | Framework::Pytest | Framework::Nextest => counted,
            Framework::Unittest | Framework::Jest | Framework::Vitest | Framework::Go | Framework::Junit => {
                counted && !tally.cut
            }
        }
    }
}

impl Pairs {
    fn match_up(&self) -> bool {
        self.began > 0 && self.began == self.ended
    }
}

impl Points {
    fn line(&mut self, line: &str) {
        if let Some(plan) = tap::plan(line) {
            self.broken |= self.plan.replace(plan).is_some();
            self.over = self.seen > 0;
        } else if let Some(point) = tap::point(line) {
            self.seen += 1;
            self.broken |= self.over || point.number.is_some_and(|number| number != self.seen);
        } else {
            self.broken |= line.starts_with("Bail out!");
        }
    }

    fn are_all(&self) -> bool {
        !self.broken && self.seen > 0 && self.plan == Some(self.seen)
    }
}

/// How many tests a line of nothing but marks tells of.
fn marks(line: &str, of: &[u8]) -> u64 {
    if line.bytes().all(|byte| of.contains(&byte)) { line.len() as u64 } else { 0 }
}

/// What a build tool adds when the program that it ran failed.
fn is_of_caller(line: &str) -> bool {
    let heads = [
        "make: ",
        "make[",
        "npm error",
        "npm ERR!",
        "npm notice",
        "npm warn",
        "\u{2009}ELIFECYCLE",
        " ELIFECYCLE",
        "error Command failed",
        "info Visit ",
        "error: Recipe ",
        "error: recipe ",
        "error: script ",
    ];
    heads.iter().any(|head| line.starts_with(head))
}

#[cfg(test)]
mod tests {
    use super::super::read;

    /// The counts that are believed of a program that may be anything.
    #[track_caller]
    fn check(text: &str, exit_code: i64, expected: Option<(u64, u64, u64)>) {
        let runs = read("./x", Some(exit_code), text);
        let counts = runs.first().and_then(|run| run.counts);
        assert_eq!(counts.map(|counts| (counts.passed, counts.failed, counts.skipped)), expected, "{text}");
        assert!(runs.len() < 2);
    }

    #[test]
    fn tap_is_believed_by_its_plan() {
        check(
            "TAP version 13\n1..3\nok 1 - a\nnot ok 2 - b\n  ---\n  ...\nok 3 # SKIP c\n",
            1,
            Some((1, 1, 1)),
        );
        check("ok 1 - a\nok 2 - b\n1..2\n# all\n", 0, Some((2, 0, 0)));
        for broken in [
            "1..3\nok 1\nok 2\n",
            "1..2\nok 1\nok 1\n",
            "1..2\nok 2\nok 1\n",
            "ok 1\n1..2\nok 2\n",
            "1..1\nok 1\n1..1\nok 1\n",
            "1..1\nBail out!\nok 1\n",
            "ok 1\nok 2\n",
            "1..0\n",
        ] {
            check(broken, 0, None);
        }
        // Its end says otherwise.
        check("1..1\nok 1\n", 1, None);
        check("1..1\nnot ok 1\n", 0, None);
    }

    #[test]
    fn unittest_is_believed_by_its_rule_and_its_end() {
        let rule = "-".repeat(70);
        let end = format!("..\n{rule}\nRan 2 tests in 0.001s\n\nOK\n");
        check(&end, 0, Some((2, 0, 0)));
        check(&end, 1, None);
        check("Ran 2 tests in 0.001s\n\nOK\n", 0, None);
        check(&format!("Ran before\n{rule}\nRan 2 tests in 0.001s\n\nOK\nthat was the log\n"), 0, None);
        check(&format!("{end}printed by a test\n"), 0, Some((2, 0, 0)));
        check(&format!("{end}{end}"), 0, None);
    }

    #[test]
    fn pytest_is_believed_from_its_head_to_its_end() {
        let head = "============ test session starts ============\ncollected 2 items\n\na.py ..\n\n";
        let end = "============ 2 passed in 0.12s ============\n";
        check(&format!("{head}{end}"), 0, Some((2, 0, 0)));
        check(&format!("{head}{end}make: Leaving directory 'a'\n"), 0, Some((2, 0, 0)));
        check(end, 0, None);
        check(&format!("{head}2 passed in 0.12s\n"), 0, None);
        check(&format!("{head}{end}see above\n"), 0, None);
    }

    #[test]
    fn cargo_is_believed_by_what_it_announced() {
        let result =
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        check(&format!("running 2 tests\ntest a ... ok\ntest b ... ok\n\n{result}"), 0, Some((2, 0, 0)));
        check(result, 0, None);
        check(&format!("running 2 tests\n..\n{result}"), 0, Some((2, 0, 0)));
        check(&format!("running 2 tests\n{result}"), 0, None);
        check(&format!("running 3 tests\n...\n{result}"), 0, None);
    }
}
