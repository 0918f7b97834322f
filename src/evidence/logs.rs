//! Logs of old test runs that a command shows beside tests: whoever failed in them is no test of this run.

use super::glimpses::after;
use super::runners::{Project, installed};

const OLD: &str = "F.... [100%]\n==== short test summary info ====\nFAILED old/test_o.py::old - assert 0\n1 failed, 4 passed in 0.30s\n";
const NEW: &str = "FAILED a/test_a.py::new - assert 1 == 2\n";
const NAME: &str = "FAILED old/test_o.py::old - assert 0\n";
const GREEN: &str = "..  [100%]\n2 passed in 0.10s\n";
const RED: &str = "F.  [100%]\n==== short test summary info ====\nFAILED a/test_a.py::new - assert 1 == 2\n1 failed, 1 passed in 0.02s\n";

/// A test that failed had printed what looks like counts.
const PRINTED: &str = "F.  [100%]\n==== FAILURES ====\n____ new ____\n---- Captured stdout call ----\n3 passed in 0.1s\n==== short test summary info ====\nFAILED a/test_a.py::new - assert 1 == 2\n1 failed, 1 passed in 0.02s\n";
const SESSION: &str = "==== test session starts ====\ncollected 2 items\n\n";

/// The tests that are told to fail after one command.
#[track_caller]
fn check(line: &str, exit_code: i64, parts: &[&str], expected: &[&str]) {
    let text = parts.concat();
    let (tests, errors) = after(&[(line, exit_code, &text)]);
    let tests = tests.unwrap();
    assert_eq!(tests.failed_tests, expected, "{line}\n{text}");
    assert!(tests.failed.is_none_or(|failed| failed == expected.len() as u64), "{line}\n{text}");
    let told = errors.map(|errors| errors.error_message).unwrap_or_default();
    assert!(!told.contains("old"), "{line}: {told}");
}

#[test]
fn who_failed_in_a_log_that_is_shown_does_not_fail_in_this_run() {
    for (line, exit_code, parts) in [
        ("pytest -q; cat old.log", 0, [GREEN, OLD]),
        ("pytest -q && cat old.log", 0, [GREEN, OLD]),
        ("pytest -q; tail -3 old.log", 0, [GREEN, &OLD[19..]]),
        ("pytest -q; grep FAILED old.log", 0, [GREEN, NAME]),
        ("pytest -q | tail -1; grep FAILED old.log", 0, ["2 passed in 0.10s\n", NAME]),
        ("pytest -q | tee new.log; cat old.log", 0, [GREEN, OLD]),
        ("pytest -qq; cat old.log", 0, ["..  [100%]\n", OLD]),
        ("pytest -qq; tail -2 old.log", 0, ["..  [100%]\n", &OLD[52..]]),
        ("pytest -q >/dev/null; cat old.log", 0, ["", OLD]),
        ("pytest -q > new.log; cat old.log", 0, ["", OLD]),
        ("pytest -q; sed -n 1,5p old.log", 0, [GREEN, OLD]),
        ("pytest -q; awk 1 old.log", 0, [GREEN, OLD]),
        ("pytest -q; cat < old.log", 0, [GREEN, OLD]),
        ("pytest -q; git show HEAD:old.log", 0, [GREEN, OLD]),
        ("pytest -q; echo \"$(cat old.log)\"", 0, [GREEN, OLD]),
        ("pytest -q; python show.py", 0, [GREEN, OLD]),
        ("cat old.log && pytest -q", 0, [OLD, GREEN]),
        ("cat old.log; pytest -q", 0, [OLD, GREEN]),
        ("cat old.log; pytest -qq", 0, [OLD, "..  [100%]\n"]),
        ("cat old.log; pytest -q >/dev/null", 0, [OLD, ""]),
        ("cat old.log; pytest -q >/dev/null", 1, [OLD, ""]),
        ("grep FAILED old.log; pytest -q", 0, [NAME, GREEN]),
        ("grep -h FAILED *.log; pytest -q -k a", 0, [NAME, GREEN]),
        ("tail -3 old.log; pytest -q", 0, [&OLD[19..], GREEN]),
        ("grep -A1 'short test' old.log; pytest -q", 0, [&OLD[19..90], GREEN]),
        ("curl -s http://ci/log; pytest -q", 0, [OLD, GREEN]),
        ("find . -name '*.log' -exec cat {} +; pytest -q", 0, [OLD, GREEN]),
        ("pytest -q > new.log 2>&1; cat new.log old.log", 0, [GREEN, OLD]),
        ("pytest -q > new.log 2>&1; tail -n 5 new.log; cat old.log", 0, [GREEN, OLD]),
        ("pytest -q > new.log 2>&1; grep -h FAILED new.log old.log", 0, ["", NAME]),
        ("npm test && cat old.log", 0, [GREEN, OLD]),
        ("npm test; cat old.log", 0, [GREEN, OLD]),
        ("cat old.log && make test", 0, [OLD, GREEN]),
        ("make test >/dev/null; cat old.log", 0, ["", OLD]),
        ("cat old.log nope && pytest -q", 1, [OLD, "cat: nope: No such file or directory\n"]),
    ] {
        check(line, exit_code, &parts, &[]);
    }
}

#[test]
fn who_failed_in_this_run_does_so_whatever_is_shown_beside_it() {
    let new = ["a/test_a.py::new"];
    for (line, exit_code, parts) in [
        ("pytest -q; cat old.log", 0, [RED, OLD]),
        ("pytest -q; grep FAILED old.log", 0, [RED, NAME]),
        ("pytest -q || cat old.log", 0, [RED, OLD]),
        ("pytest -q | tail -3; tail -3 old.log", 0, [&RED[17..], &OLD[19..]]),
        ("pytest -q; python show.py", 0, [RED, OLD]),
        ("cat old.log; pytest -q", 1, [OLD, RED]),
        ("cat old.log && pytest -q", 1, [OLD, RED]),
        ("grep FAILED old.log; pytest -q", 1, [NAME, RED]),
        ("grep -A1 'short test' old.log; pytest -q", 1, [&OLD[19..90], RED]),
        ("tail -3 old.log; pytest -q | tail -3", 0, [&OLD[19..], &RED[17..]]),
        ("pytest -q; cat notes.txt", 0, [RED, "remember the milk\n"]),
        ("pytest -q; cat notes.txt", 0, [PRINTED, "remember the milk\n"]),
        ("pytest; cat notes.txt", 0, [SESSION, PRINTED]),
        ("pytest -q; python show.py", 0, [PRINTED, OLD]),
        ("npm test; cat old.log", 0, [RED, OLD]),
        ("cat old.log; make test", 1, [OLD, RED]),
        ("pytest -q > new.log 2>&1; grep FAILED new.log", 0, ["", NEW]),
    ] {
        check(line, exit_code, &parts, &new);
    }
}

#[test]
fn a_log_that_is_shown_is_no_run() {
    for line in [
        "cat old.log",
        "tail -5 old.log",
        "cat old.log | tail -5",
        "grep FAILED old.log",
        "less old.log",
        "sed -n 1,9p old.log",
        "awk 1 old.log",
        "git show HEAD:old.log",
        "zcat old.log.gz",
        "tac old.log",
        "cat pytest.log",
        "cat < test.log",
        "docker logs tests",
        "python3 -c 'print(open(\"old.log\").read())'",
        "head -50 logs/pytest-1.log && echo done",
        "while read l; do echo $l; done < old.log",
    ] {
        for text in [OLD, NAME, GREEN] {
            let (tests, errors) = after(&[(line, 0, text)]);
            assert!(tests.is_none() && errors.is_none(), "{line}: {tests:?}\n{errors:?}");
            // Nor does it change what is known of one.
            let (tests, errors) = after(&[("pytest -q", 1, RED), (line, 0, text)]);
            assert_eq!(tests.unwrap().failed_tests, ["a/test_a.py::new"], "{line}");
            assert!(errors.is_some(), "{line}");
        }
    }
}

#[test]
fn the_real_pytest_beside_its_own_old_log_is_told_by_what_it_came_to() {
    let project = Project::new("python", &[installed("pytest")]);
    let old = project.run("python -m pytest -q test_sample.py > old.log; cat old.log");
    assert_eq!(project.left(&[&old]).0.len(), 2, "{}", old.text);
    project.write("test_new.py", "def test_one(): pass\n");
    for line in [
        "python -m pytest -q test_new.py; cat old.log",
        "python -m pytest test_new.py; tail -4 old.log",
        "python -m pytest -qq test_new.py; grep FAILED old.log",
        "cat old.log; python -m pytest -q test_new.py",
        "grep FAILED old.log && python -m pytest -v test_new.py",
        "python -m pytest -q test_new.py >/dev/null; cat old.log",
    ] {
        let ran = project.run(line);
        assert_eq!(project.left(&[&ran]), (Vec::new(), None), "{line}\n{}", ran.text);
    }
    project.write("test_new.py", "def test_one(): assert 0\n");
    for line in [
        "python -m pytest -q test_new.py; cat old.log",
        "cat old.log; python -m pytest test_new.py",
        "python -m pytest -v test_new.py | tail -4; tail -4 old.log",
    ] {
        let ran = project.run(line);
        assert_eq!(project.left(&[&ran]).0, ["test_new.py::test_one"], "{line}\n{}", ran.text);
    }
}
