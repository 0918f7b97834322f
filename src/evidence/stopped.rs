//! The real pytest, stopped before its end: what it did not run is not known to pass, and what it
//! prints or returns beside that says nothing of it.

#![allow(clippy::disallowed_methods, reason = "tests write the projects that they run")]

use std::fs;

use super::glimpses::after;
use super::runners::{Project, Ran, installed};

/// A project of one file, whose last test fails until `lines` are put before it.
fn project() -> (Project, Ran) {
    let project = Project::new("python", &[installed("pytest")]);
    fs::remove_file(project.dir.path().join("test_sample.py")).unwrap();
    write(&project, "", "assert 1 == 2");
    let red = project.run("python -m pytest -q test_a.py");
    assert_eq!(project.left(&[&red]).0, ["test_a.py::test_last"], "{}", red.text);
    (project, red)
}

fn write(project: &Project, middle: &str, last: &str) {
    let text = format!("import os, pytest\ndef test_first(): pass\n{middle}\ndef test_last():\n    {last}\n");
    project.write("test_a.py", &text);
}

const STOPS: [&str; 7] = [
    "def test_mid(): raise KeyboardInterrupt",
    "def test_mid(): pytest.exit('enough')",
    "def test_mid(): pytest.exit('enough', returncode=0)",
    "def test_mid(): pytest.exit('a reason that is longer than a line of the terminal is wide, by some words')",
    "def test_mid(): pytest.exit('of two\\nlines')",
    "def test_mid(request): request.session.shouldstop = 'the time is up'",
    "def test_mid(): os._exit(0)",
];

/// What `pipe` lets through, and the exit code that is seen then.
fn behind(ran: &Ran, pipe: &str) -> Ran {
    let all: Vec<&str> = ran.text.lines().collect();
    let kept = pipe.rsplit_once("-n ").and_then(|(_, lines)| lines.parse().ok()).unwrap_or(all.len());
    let text = all[all.len().saturating_sub(kept)..].iter().map(|line| format!("{line}\n")).collect();
    let exit_code = if pipe.is_empty() { ran.exit_code } else { 0 };
    Ran { command: format!("{}{pipe}", ran.command), exit_code, text }
}

const PIPES: [&str; 7] =
    ["", " 2>&1 | tail -n 20", " | tail -n 3", " | tail -n 2", " | cat", " || true", " | tee log"];

#[test]
fn a_pytest_that_was_stopped_mends_nothing_that_it_did_not_run() {
    let (project, red) = project();
    let mut wrong = Vec::new();
    for middle in STOPS {
        write(&project, middle, "pass");
        for form in ["", "-q", "-qq", "-v --full-trace"] {
            let ran = project.run(&format!("python -m pytest {form} test_a.py"));
            for ran in PIPES.map(|pipe| behind(&ran, pipe)) {
                let (failing, error) = project.left(&[&red, &ran]);
                let is_whole = project.tests(&[&ran]).is_some_and(|tests| tests.complete);
                if failing != ["test_a.py::test_last"] || error.is_none() || is_whole {
                    wrong.push(format!(
                        "{middle}: {} {is_whole} {failing:?} {error:?}\n{}",
                        ran.command, ran.text
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_pytest_that_came_to_its_end_mends_what_failed() {
    let (project, red) = project();
    write(&project, "def test_mid(): pass", "pass");
    for form in ["", "-q", "-v", "-q --color=yes"] {
        let ran = project.run(&format!("python -m pytest {form} test_a.py"));
        for ran in PIPES.map(|pipe| behind(&ran, pipe)) {
            assert_eq!(project.left(&[&red, &ran]), (Vec::new(), None), "{}\n{}", ran.command, ran.text);
        }
    }
}

#[test]
fn a_success_without_a_word_is_one_where_none_was_to_be_heard() {
    let (project, red) = project();
    let name = ["test_a.py::test_last".to_owned()];
    let left = |middle: &str, line: &str| {
        write(&project, middle, "pass");
        let ran = project.run(line);
        let tests = project.tests(&[&ran]);
        assert!(tests.is_none_or(|tests| tests.passed.is_none() && !tests.complete), "{line}\n{}", ran.text);
        let (failing, error) = project.left(&[&red, &ran]);
        // What takes back the error takes back the name.
        assert_eq!(failing, if error.is_none() { &[] } else { &name[..] }, "{line}\n{}", ran.text);
        error.is_none()
    };
    let passes = "def test_mid(): pass";
    for line in [
        "python -m pytest -q >/dev/null",
        "python -m pytest -q > log 2>&1",
        "python -m pytest -q >/dev/null && echo fine",
        "cd . && python -m pytest >/dev/null",
        "python -m pytest -q >/dev/null; echo \"exit $?\"",
        "set -o pipefail; python -m pytest -q | cat >/dev/null",
    ] {
        assert!(left(passes, line), "{line}");
    }
    let fails = "def test_mid(): assert 0";
    for line in [
        "python -m pytest -q >/dev/null",
        "python -m pytest -q >/dev/null; echo done",
        "python -m pytest -q >/dev/null || true",
        "python -m pytest -q >/dev/null; echo \"exit $?\"",
        "python -m pytest | head -1",
        "python -m pytest -q | wc -l",
        "python -m pytest -q | grep -c passed",
        "python -m pytest -q >/dev/null | cat",
        "if python -m pytest -q >/dev/null; then echo yes; else echo no; fi",
    ] {
        assert!(!left(fails, line), "{line}");
    }
    // It would have said something.
    for line in ["python -m pytest -q", "python -m pytest", "cd . && python -m pytest -v"] {
        assert!(!left("def test_mid(): os._exit(0)", line), "{line}");
    }
}

#[test]
fn a_script_whose_pytest_was_stopped_mends_nothing() {
    let red = "==== short test summary info ====\nFAILED test_a.py::x - no\n1 failed in 0.1s\n";
    let stopped = "..  [100%]\n2 passed in 0.1s\n!!!!!!!!!! _pytest.outcomes.Exit: enough !!!!!!!!!!\n";
    for line in ["npm test", "make test", "./run_tests.sh"] {
        for (text, is_left) in [(stopped, true), ("..  [100%]\n2 passed in 0.1s\n", false)] {
            let (tests, errors) = after(&[(line, 1, red), (line, 0, text)]);
            let tests = tests.unwrap();
            assert_eq!(
                (tests.failed_tests.len() == 1, errors.is_some()),
                (is_left, is_left),
                "{line}\n{text}"
            );
            assert_eq!(tests.complete, !is_left, "{line}\n{text}");
        }
    }
}

#[test]
fn a_chain_in_which_pytest_said_nothing_mends_nothing_of_it() {
    let red = "==== short test summary info ====\nFAILED test_a.py::x - no\n1 failed in 0.1s\n";
    let jest = "\n> shop@1.0.0 test\n> jest\n\nPASS ./a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\n";
    let line = "pytest -q && (cd web && npm test)";
    for text in ["", ".", jest] {
        assert!(after(&[(line, 1, red), (line, 0, text)]).1.is_some(), "{text}");
    }
    assert_eq!(after(&[(line, 1, red), (line, 0, &format!(".  [100%]\n1 passed in 0.1s\n{jest}"))]).1, None);
}
