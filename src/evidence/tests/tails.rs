//! What the last lines of a run prove where those before them are out of sight.

use super::detect::Start;
use super::pipes::Through;
use super::tally::Tally;
use super::{Framework, Reading};

impl Reading<'_> {
    /// Whether nothing failed, by how it ended. cargo stops at the first target that fails, or says at its
    /// end that some did; the last word of `go test` is `FAIL` where a package did.
    pub(super) fn ends_green(&self, start: &Start, tally: &Tally) -> bool {
        let is_end = |pipe: &Through| matches!(pipe, Through::Last(_));
        let is_alone = self.detected.starts.len() == 1 && !start.repeats && !self.detected.beside;
        let is_green = tally.failed == 0 && tally.failing.len() == 0 && tally.said.is_none();
        [Framework::CargoTest, Framework::Go].iter().any(|framework| start.is_of(*framework))
            && start.tells_at_its_end
            && self.exit_code.is_some()
            && self.detected.pipes.iter().all(is_end)
            && is_alone
            && is_green
            && !tally.cut
            && !tally.doubtful
            && !self.detected.shown.any
            && !self.detected.shown_again
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    /// Passed, failed, how many names, and the error, after commands.
    type Left = (Option<u64>, Option<u64>, usize, Option<String>);

    fn left(commands: &[(&str, i64, &str)]) -> Left {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, exit_code, text) in commands {
            gathered.note_only_command(line, Some(*exit_code), text, true, Timestamp::from_millis(0));
        }
        let (tests, errors) = gathered.finish(Changed::Unknown, None);
        let tests = tests.unwrap();
        let error = errors.map(|errors| errors.error_message);
        (tests.passed, tests.failed, tests.failed_tests.len(), error)
    }

    #[track_caller]
    fn check(commands: &[(&str, i64, &str)], expected: (Option<u64>, Option<u64>, usize, Option<&str>)) {
        let (passed, failed, names, error) = left(commands);
        assert_eq!((passed, failed, names, error.as_deref()), expected, "{commands:?}");
    }

    const RED: &str = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.01s\n     Running unittests src/lib.rs (target/debug/deps/a-01)\n\nrunning 2 tests\ntest tests::y ... ok\ntest tests::x ... FAILED\n\nfailures:\n\n---- tests::x stdout ----\n\nthread 'tests::x' (11) panicked at src/lib.rs:2:41:\nno\n\n\nfailures:\n    tests::x\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n";
    const END: &str = "   Doc-tests shop\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";

    fn last(text: &str, lines: usize) -> String {
        let all: Vec<&str> = text.lines().collect();
        all[all.len().saturating_sub(lines)..].iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn the_end_of_cargo_shows_that_nothing_failed() {
        let red = ("cargo test", 101, RED);
        for lines in [2, 3, 5, 6] {
            let line = format!("cargo test 2>&1 | tail -{lines}");
            check(&[(&line, 0, &last(END, lines))], (None, Some(0), 0, None));
            check(&[red, (&line, 0, &last(END, lines))], (None, Some(0), 0, None));
            let (_, failed, _, error) = left(&[(&line, 0, &last(RED, lines))]);
            assert!(failed != Some(0) && error.is_some(), "{lines}");
        }
        let end = last(END, 3);
        // It ran another choice of tests, or was stopped, or its word is not there.
        for line in [
            "cargo test y 2>&1 | tail -3",
            "cargo test --test t 2>&1 | tail -3",
            "timeout 60 cargo test 2>&1 | tail -3",
            "cargo test --no-fail-fast 2>/dev/null | tail -3",
            "cargo test 2>&1 | tail -3 | head -2",
        ] {
            assert_eq!(left(&[red, (line, 0, &end)]).2, 1, "{line}");
        }
        let cut = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n     Running tests/t.rs (target/debug/deps/t-01)\n\nrunning 2 tests\n";
        assert_eq!(left(&[red, ("cargo test 2>&1 | tail -5", 0, cut)]).2, 1);
        let goes_on = format!("{}error: 1 target failed:\n    `--lib`\n", last(END, 2));
        assert_eq!(left(&[red, ("cargo test --no-fail-fast 2>&1 | tail -4", 0, &goes_on)]).2, 1);
        check(&[red, ("cargo test --no-fail-fast 2>&1 | tail -3", 0, &end)], (None, Some(0), 0, None));
    }

    #[test]
    fn the_end_of_go_shows_that_nothing_failed() {
        let red = "--- FAIL: TestA (0.00s)\n    a_test.go:5: no\nFAIL\nFAIL\texample.com/a\t0.003s\nok  \texample.com/b\t0.003s\nFAIL\n";
        let red = ("go test ./...", 1, red);
        let green = "ok  \texample.com/b\t0.003s\nok  \texample.com/c\t0.003s\n";
        check(&[red, ("go test ./... 2>&1 | tail -2", 0, green)], (None, Some(0), 0, None));
        let still = format!("{green}FAIL\n");
        assert_eq!(left(&[red, ("go test ./... 2>&1 | tail -3", 0, &still)]).2, 1);
    }

    #[test]
    fn the_end_of_unittest_counts_what_failed() {
        let end = |verdict: &str| format!("{}\nRan 3 tests in 0.001s\n\n{verdict}\n", "-".repeat(70));
        let line = "python -m unittest 2>&1 | tail -5";
        let one = Some("1 test failed");
        check(&[(line, 0, &end("FAILED (failures=1)"))], (Some(2), Some(1), 0, one));
        check(&[(line, 0, &end("FAILED (failures=1, expected failures=1)"))], (Some(1), Some(1), 0, one));
        check(&[(line, 0, &end("OK"))], (Some(3), Some(0), 0, None));
        // Which of them ran as tests of their own is not there to be seen.
        check(&[(line, 0, &end("FAILED (errors=1)"))], (None, Some(1), 0, one));
        check(&[(line, 0, &end("FAILED (failures=2)"))], (None, Some(2), 0, Some("2 tests failed")));
        check(&[(line, 0, &end("OK (skipped=1)"))], (None, Some(0), 0, None));
        check(&[("python -m unittest 2>&1 | tail -1", 0, "OK\n")], (None, Some(0), 0, None));
        let red = (line, 0, &*end("FAILED (failures=2)"));
        check(&[red, (line, 0, &end("OK (skipped=1)"))], (None, Some(0), 0, None));
    }

    #[test]
    fn the_end_of_node_and_mocha_tells_that_tests_failed() {
        let red = "✖ a (2ms)\n✔ c (1ms)\nℹ tests 2\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 94.1\n\n✖ failing tests:\n\ntest at a.test.js:3:1\n✖ a (2ms)\n  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n  \n  1 !== 2\n  \n      at TestContext.<anonymous> (/home/dev/shop/a.test.js:3:21)\n      at Test.run (node:internal/test_runner/test:1402:25) {\n    generatedMessage: true,\n    code: 'ERR_ASSERTION',\n    actual: 1,\n    expected: 2,\n    operator: 'strictEqual',\n    diff: 'simple'\n  }\n";
        let thrown = "      at Test.run (node:internal/test_runner/test:1402:25)\n\n";
        for text in [last(red, 3), last(red, 5), last(red, 7), thrown.to_owned()] {
            let line = format!("node --test 2>&1 | tail -{}", text.lines().count());
            check(&[(&line, 0, &text)], (None, None, 0, Some("tests failed")));
        }
        let green = "ℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0\nℹ duration_ms 94.1\n";
        let tail = ("node --test 2>&1 | tail -5", 0, green);
        check(&[("node --test", 1, red), tail], (None, Some(0), 0, None));
        let stopped = green.replace("cancelled 0", "cancelled 1");
        assert_eq!(left(&[(tail.0, 0, &stopped)]).1, Some(1));
        let mocha = "      -1\n      +2\n      \n      at Context.<anonymous> (test/a.js:3:19)\n      at process.processImmediate (node:internal/timers:574:21)\n\n\n\n";
        check(&[("mocha 2>&1 | tail -8", 0, mocha)], (None, None, 0, Some("tests failed")));
        let green = format!("{mocha}  3 passing (3ms)\n\n");
        check(&[("mocha 2>&1 | tail -10", 0, &green)], (Some(3), Some(0), 0, None));
    }
}
