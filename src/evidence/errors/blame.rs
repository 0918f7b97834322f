//! Whose failure an error is, among all that a command did.

use super::diagnose::{Found, diagnose};
use super::said::Speakers;
use super::verdict::told_from;
use crate::evidence::tests::{read, runs_tests};

/// Whether tests told of it: the first error stands where a runner tells which tests failed, or is one of
/// these. What else the command did is not known to have failed then.
pub(super) fn is_of_tests(found: &Found, command: &str, exit_code: i64, text: &str) -> bool {
    let Some(first) = found.errors.first().filter(|first| !first.is_fixed_in_place()) else { return false };
    let runs = if runs_tests(command) { read(command, Some(exit_code), text) } else { Vec::new() };
    let failing: Vec<&String> = runs.iter().flat_map(|run| &run.failing).collect();
    if failing.is_empty() {
        return false;
    }
    let told = told_from(text).and_then(|text| diagnose(text, &Speakers::default()));
    // `FAILED a.py::test_b - assert 1 == 2`
    let in_summary = || text.lines().nth(first.at).is_some_and(|line| line.starts_with("FAILED "));
    let is_under_one = || first.under.iter().any(|heading| failing.contains(&heading));
    first.kind == "test failure"
        || is_under_one()
        || in_summary()
        || told.is_some_and(|told| told.errors.first().is_some_and(|error| error.is_same(first)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::evidence::{Changed, Gathered};
    use crate::model::Timestamp;

    /// Whether an error is left after commands with their exit codes.
    fn is_left(commands: &[(&str, i64, &str)]) -> bool {
        let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
        for (line, exit_code, text) in commands {
            gathered.note_only_command(line, Some(*exit_code), text, true, Timestamp::from_millis(0));
        }
        gathered.finish(Changed::Unknown, None).1.is_some()
    }

    const FORMAT: &str =
        "Diff in /home/dev/shop/src/lib.rs:1:\n-pub fn f()->u32 { 1 }\n+pub fn f() -> u32 { 1 }\n";
    const FAILS: &str = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.01s\n     Running unittests src/lib.rs (target/debug/deps/a-01)\n\nrunning 2 tests\ntest tests::y ... ok\ntest tests::x ... FAILED\n\nfailures:\n\n---- tests::x stdout ----\n\nthread 'tests::x' (11) panicked at src/lib.rs:2:41:\nassertion `left == right` failed\n  left: 1\n right: 2\n\n\nfailures:\n    tests::x\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n";
    const PASSES: &str = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.01s\n     Running unittests src/lib.rs (target/debug/deps/a-01)\n\nrunning 2 tests\ntest tests::y ... ok\ntest tests::x ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    const DENIED: &str = "error: unneeded `return` statement\n --> src/lib.rs:1:21\n  |\n  = note: `-D clippy::needless-return` implied by `-D warnings`\n\nerror: could not compile `a` (lib) due to 1 previous error\n";

    #[test]
    fn what_tests_told_is_theirs_alone() {
        for before in
            ["cargo fmt --check; ", "cargo fmt --check && ", "cargo clippy -- -D warnings; ", "./gen; "]
        {
            let line = format!("{before}cargo test");
            let red = (line.as_str(), 101, FAILS);
            assert!(is_left(&[red]), "{line}");
            assert!(!is_left(&[red, ("cargo test", 0, PASSES)]), "{line}");
            assert!(!is_left(&[red, (&line, 0, PASSES)]), "{line}");
            // These tests did not run again.
            assert!(is_left(&[red, ("cargo fmt --check", 0, "")]), "{line}");
            assert!(is_left(&[red, ("cargo clippy -- -D warnings", 0, PASSES)]), "{line}");
        }
        let both = format!("{FORMAT}{FAILS}");
        assert!(!is_left(&[("cargo fmt --check; cargo test", 101, &both), ("cargo test", 0, PASSES)]));
    }

    #[test]
    fn what_stands_under_the_name_of_a_test_is_its_own() {
        let red = "\n> x@1.0.0 test\n> node --test\n\nTAP version 13\n# Subtest: adds\nnot ok 1 - adds\n  ---\n  duration_ms: 1.5\n  location: '/home/dev/shop/a.test.js:3:1'\n  failureType: 'testCodeFailure'\n  error: |-\n    Expected values to be strictly equal:\n    \n    -1 !== 3\n    \n  code: 'ERR_ASSERTION'\n  name: 'AssertionError'\n  ...\n1..1\n# tests 1\n# suites 0\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 62.5\n";
        let green = red.replace("not ok", "ok").replace("pass 0", "pass 1").replace("fail 1", "fail 0");
        for line in ["npm test && npm run build", "npm run build && npm test"] {
            assert!(is_left(&[(line, 1, red)]), "{line}");
            assert!(!is_left(&[(line, 1, red), ("npm test", 0, &green)]), "{line}");
            assert!(is_left(&[(line, 1, red), ("npm run build", 0, "")]), "{line}");
        }
    }

    #[test]
    fn what_another_told_is_not_mended_by_tests() {
        let line = "cargo clippy -- -D warnings; cargo test";
        let both = format!("{DENIED}{FAILS}");
        assert!(is_left(&[(line, 101, &both), ("cargo test", 0, PASSES)]));
    }
}
