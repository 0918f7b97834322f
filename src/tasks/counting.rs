//! How many tests of a command have passed so far, from what it has printed by
//! now: by the summaries in it, or by the lines of single tests. Numbers never
//! fall: what is forgotten of a long output still happened.

use crate::evidence::{Passing, TestsSoFar, runs_tests};

#[derive(Debug)]
pub(super) struct Counting {
    command: String,
    passing: Passing,
    most: TestsSoFar,
}

impl Counting {
    /// `None` for a command that runs no tests.
    pub(super) fn of(command: &str) -> Option<Self> {
        let (passing, most) = (Passing::of(command), TestsSoFar::default());
        runs_tests(command).then(|| Self { command: command.to_owned(), passing, most })
    }

    /// Whether more is known than before, of all that is kept of its output and of the lines that
    /// came since the last time.
    pub(super) fn changes(&mut self, printed: &str, new: &str) -> bool {
        self.passing.read(new);
        let now = TestsSoFar::of(&self.command, printed);
        let passed = now.passed.max(self.passing.count()).max(self.most.passed);
        let most = TestsSoFar { passed, failed: now.failed.max(self.most.failed) };
        std::mem::replace(&mut self.most, most) != most
    }

    /// ` (87 passed, 1 failed)`; nothing before the first is known.
    pub(super) fn told(&self) -> String {
        match self.most {
            TestsSoFar { passed: 0, failed: 0 } => String::new(),
            TestsSoFar { passed, failed: 0 } => format!(" ({passed} passed)"),
            TestsSoFar { passed, failed } => format!(" ({passed} passed, {failed} failed)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    #[test]
    fn numbers_rise_with_what_is_printed_and_never_fall() {
        let mut counting = Counting::of("cargo test").unwrap();
        assert!(!counting.changes("   Compiling a v0.1.0\n", ""));
        assert_eq!(counting.told(), "");
        assert!(counting.changes(ONE, "") && counting.changes(&ONE.repeat(2), ""));
        assert_eq!(counting.told(), " (4 passed)");
        assert!(!counting.changes(ONE, ""));
        let failed = ONE.replace("ok. 2 passed; 0 failed", "FAILED. 1 passed; 1 failed");
        assert!(counting.changes(&failed, ""));
        assert_eq!(counting.told(), " (4 passed, 1 failed)");
    }

    #[test]
    fn single_tests_are_counted_as_they_pass_and_not_once_more_in_the_summary() {
        let mut counting = Counting::of("cargo test").unwrap();
        let running = "     Running unittests src/lib.rs (target/debug/deps/a)\n";
        let (first, second) = ONE.split_once("test b").unwrap();
        assert!(counting.changes("", &format!("{running}{first}")));
        assert_eq!(counting.told(), " (1 passed)");
        assert!(counting.changes(ONE, &format!("test b{second}")));
        assert_eq!(counting.told(), " (2 passed)");
    }

    #[test]
    fn what_cannot_be_added_up_is_not_counted() {
        let mut counting = Counting::of("cargo test a; cargo test b").unwrap();
        assert!(!counting.changes(ONE, ""));
        assert_eq!(counting.told(), "");
    }

    #[test]
    fn a_command_that_runs_no_tests_has_none() {
        assert!(Counting::of("echo '4 passed'").is_none());
    }
}
