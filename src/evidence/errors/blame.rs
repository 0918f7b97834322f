//! Whose failure an error is, among all that a command did.

use super::diagnose::{Diagnosis, Found, diagnose};
use super::said::Speakers;
use super::verdict::told_from;
use crate::evidence::tests::{read, runs_tests};

/// Whether tests told of it: the first error stands where a runner tells which tests failed, or is one of
/// these. What else the command did is not known to have failed then.
pub(super) fn is_of_tests(found: &Found, command: &str, exit_code: i64, text: &str) -> bool {
    let Some(first) = found.errors.first().filter(|first| !first.is_fixed_in_place()) else { return false };
    let fails = || read(command, Some(exit_code), text).iter().any(|run| !run.failing.is_empty());
    if !runs_tests(command) || !fails() {
        return false;
    }
    let told = told_from(text).and_then(|text| diagnose(text, &Speakers::default()));
    let is_it = |error: &Diagnosis| {
        (&error.kind, &error.message, &error.place) == (&first.kind, &first.message, &first.place)
    };
    // `FAILED a.py::test_b - assert 1 == 2`
    let in_summary = || text.lines().nth(first.at).is_some_and(|line| line.starts_with("FAILED "));
    first.kind == "test failure"
        || in_summary()
        || told.is_some_and(|told| told.errors.first().is_some_and(is_it))
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
    fn what_another_told_is_not_mended_by_tests() {
        let line = "cargo clippy -- -D warnings; cargo test";
        let both = format!("{DENIED}{FAILS}");
        assert!(is_left(&[(line, 101, &both), ("cargo test", 0, PASSES)]));
    }
}
