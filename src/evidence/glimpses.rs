//! Test runs and builds of which only a part was seen: a failure that is plainly there is told, and
//! goes when the same look shows that it passes.

use std::path::Path;

use super::{Changed, ErrorEvidence, Gathered, TestResults};
use crate::model::Timestamp;

/// What is known after these commands.
pub(super) fn after(commands: &[(&str, i64, &str)]) -> (Option<TestResults>, Option<ErrorEvidence>) {
    let mut gathered = Gathered::new(Path::new("/home/dev/shop"), Path::new("/home/dev/shop"));
    for (command, exit_code, text) in commands {
        gathered.note_only_command(command, Some(*exit_code), text, true, Timestamp::from_millis(0));
    }
    gathered.finish(Changed::Unknown, None)
}

/// The error that is left after these commands.
#[track_caller]
fn check(commands: &[(&str, i64, &str)], expected: Option<&str>) {
    let (tests, errors) = after(commands);
    let told = errors.as_ref().map(|errors| errors.error_message.as_str());
    assert_eq!(told, expected, "{commands:?}");
    // Nothing that failed is told as a run that came to a good end.
    let is_whole = tests.is_some_and(|tests| tests.complete && tests.failed == Some(0));
    assert!(!is_whole || told.is_none(), "{commands:?}");
}

/// Red as it is, and gone with the same command in green.
#[track_caller]
fn check_both(command: &str, red: &str, green: &str, expected: &str) {
    check(&[(command, 0, red)], Some(expected));
    check(&[(command, 0, green)], None);
    check(&[(command, 0, red), (command, 0, green)], None);
    check(&[(command, 0, green), (command, 0, red)], Some(expected));
}

const SUITE: &str = "Test Suites: 1 failed, 1 passed, 2 total\nTests:       2 passed, 2 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n";
const JEST: &str = "Test Suites: 2 passed, 2 total\nTests:       3 passed, 3 total\nSnapshots:   0 total\nTime:        0.5 s\nRan all test suites.\n";
const VITEST: &str = " Test Files  2 passed (2)\n      Tests  3 passed (3)\n   Start at  08:59:25\n   Duration  401ms (tests 42%)\n";

#[test]
fn a_file_of_tests_that_could_not_run_is_a_failure_whatever_passed() {
    check_both("npx jest 2>&1 | tail -5", SUITE, JEST, "1 test file failed");
    check_both("npx jest; echo $?", SUITE, JEST, "1 test file failed");
    let broken = VITEST.replace("2 passed (2)", "1 failed | 1 passed (2)");
    check_both("npx vitest run 2>&1 | tail -6", &broken, VITEST, "1 test file failed");
    // Of two files that failed, one has a test that did.
    let both = SUITE.replace("1 failed, 1 passed", "2 failed").replace("2 passed", "1 failed, 1 passed");
    check(&[("npx jest | tail -5", 0, &both)], Some("1 test failed"));
    let whole = format!(
        "FAIL ./b.test.js\n  ● Test suite failed to run\n\n    no js\n\n    > 1 | throw new Error('no js');\n        |       ^\n\n      at Object.<anonymous> (b.test.js:1:7)\n\n{SUITE}"
    );
    check(&[("npx jest || true", 0, &whole)], Some("no js"));
}

#[test]
fn what_others_say_is_not_said_by_tests_that_nobody_sees() {
    let red = (
        "python3 -m unittest",
        1,
        "F\n======================================================================\nFAIL: test_a (test_m.T.test_a)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/dev/shop/test_m.py\", line 5, in test_a\n    self.assertTrue(False)\nAssertionError: False is not true\n\n----------------------------------------------------------------------\nRan 1 test in 0.000s\n\nFAILED (failures=1)\n",
    );
    for line in [
        "python3 -m unittest >/dev/null 2>&1 ; echo OK",
        "python3 -m unittest >/dev/null 2>&1 || true; echo OK",
        "python3 -m unittest >/dev/null 2>&1; printf 'OK\\n'",
        "python3 -m unittest > log 2>&1; echo OK",
        "python3 -m unittest -q 2>/dev/null; echo \"OK\"",
        "python3 -m unittest &>/dev/null; printf \"OK\\n\"",
        "python3 -m unittest 2>/dev/null && echo OK || echo OK",
        "python3 -m unittest 2>&1 | grep -q OK; echo OK",
    ] {
        let (tests, errors) = after(&[red, (line, 0, "OK\n")]);
        assert_eq!((tests.unwrap().failed_tests.len(), errors.is_some()), (1, true), "{line}");
    }
}

#[test]
fn an_error_outside_of_any_test_is_a_failure() {
    let red = VITEST.replace("   Start", "     Errors  1 error\n   Start");
    check_both("npx vitest run 2>&1 | tail -8", &red, VITEST, "1 unhandled error");
    check_both("npx vitest run || true", &red, VITEST, "1 unhandled error");
    let told = "⎯⎯⎯ Unhandled Errors ⎯⎯⎯\n\nVitest caught 1 unhandled error during the test run.\n\n⎯⎯ Uncaught Exception ⎯⎯\nError: late\n ❯ Timeout._onTimeout b.test.js:1:141\n";
    let whole = format!("{told}\n{red}");
    check_both("npx vitest run; echo $?", &whole, VITEST, "late");
    check_both("npm test 2>&1 | tail -40", &whole, VITEST, "late");
}

#[test]
fn a_threshold_that_is_not_met_is_a_failure() {
    for words in [
        "Coverage for statements (14.28%) does not meet \"global\" threshold (100%)",
        "\"global\" coverage threshold for statements (100%) not met: 50%",
    ] {
        let red = format!("Jest: {words}\n\n{JEST}");
        check_both("npx jest 2>&1 | tail -8", &red, JEST, words);
        check(&[("npx jest", 1, &red)], Some(words));
        check(&[("npm test", 1, &red)], Some(words));
    }
    let red = format!("{VITEST}\nERROR: Coverage for lines (50%) does not meet global threshold (100%)\n");
    let words = "coverage for lines (50%) does not meet global threshold (100%)";
    check_both("npx vitest run --coverage | tail -9", &red, VITEST, words);
}

#[test]
fn a_second_look_at_the_same_failure_takes_no_error_away() {
    let whole = format!("FAIL ./b.test.js\n  ● Test suite failed to run\n\n    no js\n\n{SUITE}");
    for look in
        ["npx jest 2>&1 | tail -5", "npx jest 2>&1 | grep -E '^(Tests|Test Suites):'", "npx jest; echo $?"]
    {
        let (tests, errors) = after(&[("npx jest", 1, &whole), (look, 0, SUITE)]);
        assert!(errors.is_some() && !tests.unwrap().complete, "{look}");
        assert!(after(&[("npx jest", 1, &whole), (look, 0, JEST)]).1.is_none(), "{look}");
    }
    let (_, errors) = after(&[("npm test", 1, &whole), ("npm test 2>&1 | tail -60", 0, &whole)]);
    assert!(errors.is_some());
    // A test and a file failed, and the file still does.
    let two = "FAIL ./b.test.js\n  ● Test suite failed to run\n\n    no js\n\nFAIL ./a.test.js\n  ● m\n\n    expect(1).toBe(2)\n\nTest Suites: 2 failed, 2 total\nTests:       1 failed, 1 passed, 2 total\n";
    let (_, errors) = after(&[("npx jest", 1, two), ("npx jest 2>&1 | tail -5", 0, SUITE)]);
    assert!(errors.is_some());
}

const FAILED: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nerror: test failed, to rerun pass `--lib`\n";
const OK: &str =
    "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n";

#[test]
fn what_the_end_of_tests_says_of_failures_is_told() {
    let (one, rerun) = ("at least 1 test failed", "test failed, to rerun pass `--lib`");
    check_both("cargo test 2>&1 | tail -3", FAILED, OK, one);
    check_both("cargo test 2>&1 | tail -1", "error: test failed, to rerun pass `--lib`\n", "\n", rerun);
    check_both("cargo test --no-fail-fast 2>&1 | tail -4", &format!("{FAILED}{OK}"), &OK.repeat(2), one);
    let hidden = format!("{OK}error: 1 target failed:\n    `--lib`\n");
    check_both("cargo test --no-fail-fast 2>&1 | tail -4", &hidden, OK, "1 target failed");
    let red =
        JEST.replace("3 passed, 3", "1 failed, 2 passed, 3").replace("2 passed, 2", "1 failed, 1 passed, 2");
    for look in [
        "npm test 2>&1 | tail -5",
        "npm test --silent 2>&1 | tail -5",
        "npm test 2>&1 | grep -E 'Tests:|Suites:'",
        "npm test > o.log 2>&1; tail -5 o.log",
    ] {
        check_both(look, &red, JEST, one);
    }
    let line = |text: &str| text.lines().filter(|line| line.starts_with("Tests:")).collect::<String>();
    check_both("npm test 2>&1 | grep -E '✓|✕|Tests:'", &line(&red), &line(JEST), one);
    check_both("npm test > o.log 2>&1; grep -E 'Tests:' o.log", &line(&red), &line(JEST), one);
    let red =
        VITEST.replace("3 passed", "1 failed | 2 passed").replace("2 passed (2)", "1 failed | 1 passed (2)");
    check_both("npm test 2>&1 | tail -4", &red, VITEST, one);
    let lines = |word: &str| format!("Ran 2 tests in 0.001s\n\n{word}\n");
    let counted = "1 test failed";
    check_both("python3 -m unittest 2>&1 | tail -3", &lines("FAILED (failures=1)"), &lines("OK"), counted);
    check_both("python3 -m unittest 2>&1 | tail -1", "FAILED (failures=1)\n", "OK\n", counted);
    check_both(
        "node --test 2>&1 | grep -E '^. (pass|fail)'",
        "ℹ pass 1\nℹ fail 1\n",
        "ℹ pass 2\nℹ fail 0\n",
        one,
    );
    let (red, green) = ("# pass 1\n# fail 1\n", "# pass 2\n# fail 0\n");
    check_both("npm test 2>&1 | grep -E 'pass|fail'", red, green, one);
    let end = |failed: u64| {
        format!("# fail {failed}\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 59.645334\n")
    };
    for look in ["npm test 2>&1 | tail -5", "o=$(node --test 2>&1); echo \"$o\" | tail -5"] {
        check_both(look, &end(1), &end(0), counted);
    }
    check_both(
        "npx jest 2>&1 | grep Tests:",
        "Tests:       1 failed, 1 passed, 2 total\n",
        "Tests:       2 passed, 2 total\n",
        one,
    );
    check(&[("npx mocha 2>&1 | grep failing", 0, "  1 failing\n")], Some(counted));
    // The line beside it may be left out.
    let red = (
        "npx mocha",
        1,
        "\n  ✔ a\n  1) b\n\n  1 passing (4ms)\n  1 failing\n\n  1) b:\n     Error: no\n      at Context.<anonymous> (test/a.js:3:19)\n\n",
    );
    for filter in ["grep passing", "grep -E '✔|passing'", "awk /passing/", "sed -n /passing/p", "head -4"] {
        let line = format!("npx mocha 2>&1 | {filter}");
        let (tests, errors) = after(&[red, (&line, 0, "  ✔ a\n\n\n  1 passing (4ms)\n")]);
        let tests = tests.unwrap();
        assert_eq!((tests.passed, tests.failed_tests.len(), errors.is_some()), (None, 1, true), "{line}");
    }
    let line = "npx mocha 2>&1 | grep -E 'passing|failing'";
    let (tests, errors) = after(&[red, (line, 0, "  2 passing (4ms)\n")]);
    assert_eq!((tests.unwrap().passed, errors.is_some()), (Some(2), false));
    let ok = "ok  \texample.com/b\t0.003s\n?   \texample.com/c\t[no test files]\n";
    check_both("go test ./... 2>&1 | tail -3", &format!("{ok}FAIL\n"), ok, "tests failed");
    check(&[("go test ./... 2>&1 | tail -1", 0, "FAIL\n")], Some("tests failed"));
    let red = "error: test run failed\n";
    check(&[("cargo nextest run 2>&1 | tail -1", 0, red)], Some("test run failed"));
}

#[test]
fn a_look_at_the_end_goes_with_the_whole_run_that_passes() {
    let whole = format!("running 2 tests\n..\n{OK}");
    check(&[("cargo test 2>&1 | tail -3", 0, FAILED), ("cargo test", 0, &whole)], None);
    let still = "at least 1 test failed";
    for (command, text) in
        [("cargo test --lib y", whole.as_str()), ("cargo build", ""), ("cargo test --doc 2>&1 | tail -3", OK)]
    {
        check(&[("cargo test 2>&1 | tail -3", 0, FAILED), (command, 0, text)], Some(still));
    }
    // What is known of it stays, and is not what did not compile before.
    let told = format!("running 2 tests\n\nthread 'x' panicked at src/lib.rs:2:5:\nno\n\n{FAILED}");
    check(&[("cargo test", 101, &told), ("cargo test 2>&1 | tail -3", 0, FAILED)], Some("no"));
    let broken = format!("error[E0308]: mismatched types\n --> src/lib.rs:1:21\n\n{COULD_NOT}");
    check(&[("cargo test", 101, &broken), ("cargo test 2>&1 | tail -3", 0, FAILED)], Some(still));
    check(
        &[("cargo test", 101, &broken), ("cargo test 2>&1 | tail -1", 0, COULD_NOT)],
        Some("mismatched types"),
    );
    // The other way round, nothing that is hidden is taken for mended.
    let red = format!("running 2 tests\ntest x ... FAILED\n\n{FAILED}");
    assert!(after(&[("cargo test", 101, &red), ("cargo test 2>&1 | tail -3", 0, FAILED)]).1.is_some());
}

#[test]
fn words_that_may_be_anybodys_are_no_failure_of_tests() {
    for (command, text) in [
        ("npm test 2>&1 | tail -1", "FAIL\n"),
        ("npm test 2>&1 | tail -1", "FAILED (failures=1)\n"),
        ("npm test 2>&1 | tail -1", "Tests:       1 failed, 1 passed, 2 total\n"),
        ("npm test; grep Tests: old.log", "Tests:       1 failed, 1 passed, 2 total\n"),
        ("npm test 2>&1 | grep FAIL", "FAIL\nFAILED (failures=1)\n"),
        ("make test | tail -1", "error: test failed, to rerun pass `--lib`\n"),
        ("cargo test -q | tail -1; cat old.log", "error: test failed, to rerun pass `--lib`\n"),
        ("grep FAILED old.log", FAILED),
        ("cargo test | tail -3 | sed s/0/1/", FAILED),
        ("cargo test | tail -1; ./x", "error: test failed, to rerun pass `--lib`\n"),
        ("cargo test a | tail -3; sed -i s/a/b/ x.rs; cargo test | tail -3", &format!("{FAILED}{OK}")),
    ] {
        check(&[(command, 0, text)], None);
    }
    let later = format!("{OK}{FAILED}");
    check(
        &[("cargo test a | tail -3; sed -i s/a/b/ x.rs; cargo test | tail -3", 0, &later)],
        Some("at least 1 test failed"),
    );
}

#[test]
fn tests_that_died_are_told_in_the_words_of_cargo() {
    let head = "running 2 tests\n";
    let end = "error: test failed, to rerun pass `--lib`\n\nCaused by:\n  process didn't exit successfully: `/t/a-0` (signal: 6, SIGABRT: process abort signal)\n";
    let words = "the tests did not exit successfully: `/t/a-0` (signal: 6, SIGABRT: process abort signal)";
    let deep =
        "\nthread 'tests::x' has overflowed its stack\nfatal runtime error: stack overflow, aborting\n";
    for (line, code) in [("cargo test", 101), ("cargo test 2>&1 | tail -20", 0)] {
        check(&[(line, code, &format!("{head}{end}"))], Some(words));
        check(
            &[(line, code, &format!("{head}{deep}{end}"))],
            Some("thread 'tests::x' has overflowed its stack"),
        );
    }
}

#[test]
fn tests_that_end_with_a_failure_and_say_nothing_are_told_by_their_exit_code() {
    let words = Some("the tests ended with exit code 3");
    for (line, text) in
        [("pytest -q", ".."), ("cd a && npx jest", ""), ("node --test", "ok"), ("npx mocha", "")]
    {
        check(&[(line, 3, text)], words);
        check(&[(line, 0, text)], None);
    }
    for line in [
        "npm test",
        "make build && cargo test",
        "set -o pipefail; cargo test | grep error",
        "cargo test && ./x",
        "cargo test || ./x",
        "./x",
    ] {
        check(&[(line, 3, "")], Some("exited with code 3"));
    }
    let died = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x0 (most recent call first):\n";
    check(&[("pytest -q 2>&1 | tail -60", 0, died)], Some("Segmentation fault"));
    check(&[("pytest -k nothing", 5, "1 deselected in 0.01s\n")], None);
    check(
        &[("cargo test", 127, "bash: line 1: cargo: command not found\n")],
        Some("cargo: command not found"),
    );
}

const COULD_NOT: &str = "error: could not compile `a` (lib) due to 1 previous error\n";
const FINISHED: &str = "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.01s\n";

#[test]
fn what_did_not_compile_is_told_by_the_head_of_its_error() {
    let coded = "error[E0308]: mismatched types\n";
    let could_not = "could not compile `a` (lib) due to 1 previous error";
    for (line, text, expected) in [
        ("cargo build 2>&1 | tail -1", COULD_NOT.to_owned(), could_not),
        ("cargo test 2>&1 | tail -3", COULD_NOT.to_owned(), could_not),
        ("cargo test 2>&1 | tail -3; git add -A", COULD_NOT.to_owned(), could_not),
        ("cargo build 2>&1 | head -1", coded.to_owned(), "mismatched types"),
        ("cargo build 2>&1 | grep -E '^(warning|error)'", format!("{coded}{COULD_NOT}"), "mismatched types"),
        (
            "cargo clippy -- -D warnings 2>&1 | grep ^error",
            format!("error: unneeded `return`\n{COULD_NOT}"),
            "unneeded `return`",
        ),
        (
            "cargo build > c.log 2>&1; tail -20 c.log",
            format!("{coded} --> src/lib.rs:1:21\n\n{COULD_NOT}"),
            "mismatched types",
        ),
    ] {
        check(&[(line, 0, &text)], Some(expected));
        check(
            &[
                (line, 0, &text),
                ("cargo clippy -- -D warnings", 0, FINISHED),
                ("cargo test", 0, &format!("running 2 tests\n..\n{OK}")),
            ],
            None,
        );
    }
    for (line, text) in [
        ("cargo run 2>&1 | head -1", coded),
        ("./x 2>&1 | head -1", coded),
        ("cargo build -q; cat old.log", coded),
        ("cargo build >> c.log 2>&1; tail -20 c.log", COULD_NOT),
        ("cat old.log | tail -3", COULD_NOT),
    ] {
        check(&[(line, 0, text)], None);
    }
}

#[test]
fn what_was_to_run_tests_and_is_not_there_is_told_behind_a_pipe() {
    let missing = "bash: line 1: cargo: command not found\n";
    check(&[("cargo test 2>&1 | tail -5", 0, missing)], Some("cargo: command not found"));
    check(&[("cargo --version 2>&1 | head -1", 0, missing)], None);
    check(&[("foo --version 2>&1 | head -1", 0, "bash: line 1: foo: command not found\n")], None);
}

#[test]
fn what_a_shell_did_not_understand_began_nothing() {
    for (line, text, words) in [
        (
            "pytest -q \"; echo",
            "/bin/sh: 1: Syntax error: Unterminated quoted string\n",
            "Syntax error: Unterminated quoted string",
        ),
        (
            "pytest -q \"; echo",
            "/bin/bash: -c: line 1: unexpected EOF while looking for matching `\"'\n",
            "unexpected EOF while looking for matching `\"'",
        ),
        (
            "pytest -q tests)",
            "/bin/sh: 1: Syntax error: \")\" unexpected\n",
            "Syntax error: \")\" unexpected",
        ),
        (
            "echo a; make )",
            "bash: -c: line 1: syntax error near unexpected token `)'\nbash: -c: line 1: `echo a; make )'\n",
            "syntax error near unexpected token `)'",
        ),
        (
            "echo a\npytest (x",
            "a\ndash: 2: Syntax error: \"(\" unexpected\n",
            "Syntax error: \"(\" unexpected",
        ),
    ] {
        let (tests, errors) = after(&[(line, 2, text)]);
        let told = errors.map(|errors| (errors.error_type.unwrap_or_default(), errors.error_message));
        assert_eq!((tests, told), (None, Some(("error".to_owned(), words.to_owned()))), "{line}");
    }
    let (red, green) = ("sh: 1: Syntax error: \")\" unexpected\n", "1 passed in 0.01s\n");
    check(&[("pytest -q tests)", 2, red), ("pytest -q tests", 0, green)], None);
    // What began before it is told first.
    let red = "1 failed in 0.02s\nsh: 2: Syntax error: \")\" unexpected\n";
    check(&[("pytest -q\nls )", 2, red)], Some("1 test failed"));
}
