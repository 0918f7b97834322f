//! Counts passed tests while a command runs, from the summaries in its output or from the lines of single
//! tests. Counts never decrease: what is dropped from a long output still counts.

use crate::evidence::command_line::CommandLine;
use crate::evidence::screen_lines::lines;
use crate::evidence::tests::Framework;
use crate::evidence::tests::formats::tap;
use crate::evidence::tests::read::{Output, read};
use crate::evidence::tests::recognise::{Runs, names_tests, recognise};

#[derive(Debug)]
pub(crate) struct LiveCount {
    line: CommandLine,
    /// The one framework whose lines are counted.
    framework: Option<Framework>,
    listed: u64,
    passed: u64,
    failed: u64,
}

impl LiveCount {
    /// `None` for a command that runs no tests.
    pub(crate) fn of(command: &str) -> Option<Self> {
        let line = CommandLine::parse(command);
        if !names_tests(&line) {
            return None;
        }
        let mut started = line.steps.iter().filter_map(recognise);
        let framework = match (started.next(), started.next()) {
            (Some(Runs::Framework(framework, _)), None) if !line.compound => Some(framework),
            _ => None,
        };
        Some(Self { line, framework, listed: 0, passed: 0, failed: 0 })
    }

    /// Whether the counts changed, given the end of the output and the lines since the last call.
    pub(crate) fn changes(&mut self, end: &str, new: &str) -> bool {
        let before = (self.passed, self.failed);
        self.listed += lines(new).filter(|line| self.is_passed(line)).count() as u64;
        let runs = read(&self.line, Output { text: end, is_whole: false, exit_code: None });
        let counts = runs.iter().filter_map(|run| run.counts);
        let (passed, failed) = counts.fold((0, 0), |sum, one| (sum.0 + one.passed, sum.1 + one.failed));
        self.passed = self.passed.max(self.listed).max(passed);
        self.failed = self.failed.max(failed);
        before != (self.passed, self.failed)
    }

    /// Whether a line reports one passed test.
    fn is_passed(&self, line: &str) -> bool {
        let bare = line.trim();
        match self.framework {
            Some(Framework::CargoTest) => line.starts_with("test ") && line.ends_with(" ... ok"),
            Some(Framework::Nextest) => bare.starts_with("PASS ["),
            Some(Framework::Pytest) => {
                bare.contains("::") && (bare.contains(" PASSED") && !line.starts_with("PASSED "))
            }
            Some(Framework::Unittest) => line.ends_with(" ... ok"),
            Some(Framework::Go) => bare.starts_with("--- PASS: "),
            Some(Framework::Tap) => tap::passes(line),
            Some(Framework::Vitest) => bare.starts_with("✓ ") && bare.contains(" > "),
            Some(Framework::Jest | Framework::Mocha) => bare.starts_with("✓ ") || bare.starts_with("✔ "),
            Some(Framework::Node | Framework::Junit) | None => false,
        }
    }

    /// ` (87 passed, 1 failed)`; empty before the first test.
    pub(crate) fn suffix(&self) -> String {
        match (self.passed, self.failed) {
            (0, 0) => String::new(),
            (passed, 0) => format!(" ({passed} passed)"),
            (passed, failed) => format!(" ({passed} passed, {failed} failed)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    #[test]
    fn numbers_rise_with_what_is_printed_and_never_fall() {
        let mut count = LiveCount::of("cargo test").unwrap();
        assert!(!count.changes("   Compiling a v0.1.0\n", ""));
        assert_eq!(count.suffix(), "");
        assert!(count.changes(ONE, "") && count.changes(&ONE.repeat(2), ""));
        assert_eq!(count.suffix(), " (4 passed)");
        assert!(!count.changes(ONE, ""));
        assert!(count.changes(&ONE.replace("ok. 2 passed; 0 failed", "FAILED. 1 passed; 1 failed"), ""));
        assert_eq!(count.suffix(), " (4 passed, 1 failed)");
    }

    #[test]
    fn single_tests_are_counted_as_they_pass_and_not_once_more_in_the_summary() {
        let (first, second) = ONE.split_once("test b").unwrap();
        let mut count = LiveCount::of("cargo test").unwrap();
        assert!(count.changes("", first));
        assert_eq!(count.suffix(), " (1 passed)");
        assert!(count.changes(ONE, &format!("test b{second}")));
        assert_eq!(count.suffix(), " (2 passed)");
        for (command, line) in [
            ("pytest -v", "a.py::x PASSED   [ 33%]"),
            ("cargo nextest run", "        PASS [   0.009s] (1/3) a tests::x"),
            ("python3 -m unittest -v", "test_a (t.T.test_a) ... ok"),
            ("npx mocha", "    ✔ adds"),
            ("go test -v ./...", "--- PASS: TestA (0.00s)"),
            ("bats a.bats", "ok 1 a"),
        ] {
            let mut count = LiveCount::of(command).unwrap();
            count.changes("", line);
            assert_eq!(count.suffix(), " (1 passed)", "{command}");
        }
    }

    #[test]
    fn a_command_that_runs_no_tests_has_none() {
        assert!(LiveCount::of("echo '4 passed'").is_none() && LiveCount::of("make all").is_none());
    }
}
