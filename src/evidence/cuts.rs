//! The real test runners, red and green, behind a filter that leaves the least of them: what failed
//! is told, and what passed is not told to fail.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read the environment themselves")]

use std::fs;

use super::glimpses::after;
use super::runners::{Project, installed};

/// What comes through each of these filters of a run that failed, and of one that did not.
#[track_caller]
fn check(project: &Project, red: &str, green: &str, filters: &[&str]) {
    for filter in filters {
        for (command, fails) in [(red, true), (green, false)] {
            let ran = project.run(&format!("{command} 2>&1 | {filter}"));
            let (tests, errors) = after(&[(&ran.command, ran.exit_code, &ran.text)]);
            assert_eq!(errors.is_some(), fails, "{}:\n{}\n{errors:?}", ran.command, ran.text);
            let is_green = tests.is_some_and(|tests| tests.complete && tests.failed == Some(0));
            assert!(!(fails && is_green), "{}:\n{}", ran.command, ran.text);
        }
    }
}

#[test]
fn the_end_of_cargo_tells_that_tests_failed() {
    let project = Project::new("cargo", &[]);
    let filters = ["tail -n 4", "tail -n 1", "tail -n 8", "grep 'test result'"];
    check(&project, "cargo test", "cargo test --test outside", &filters);
    check(&project, "cargo test --no-fail-fast", "cargo test --test outside", &["tail -n 4", "tail -n 2"]);
    let filters = ["tail -n 4", "tail -n 1", "grep Summary"];
    check(&project, "cargo nextest run --no-fail-fast", "cargo nextest run outside_", &filters);
    // What died has no summary.
    let library = project.dir.path().join("src/lib.rs");
    let text = fs::read_to_string(&library).unwrap();
    fs::write(&library, format!("{text}\n#[test]\nfn dies() {{ std::process::abort() }}\n")).unwrap();
    check(&project, "cargo test --lib dies", "cargo test --test outside", &["cat", "tail -n 4", "tail -n 1"]);
    let ran = project.run("cargo test --lib dies");
    let told = after(&[(&ran.command, ran.exit_code, &ran.text)]).1.unwrap().error_message;
    assert!(told.contains("SIGABRT"), "{told}");
    fs::write(&library, "pub fn a() -> u32 { \"a\" }\n").unwrap();
    for command in ["cargo test", "cargo build", "cargo check"] {
        for filter in ["tail -n 1", "grep ^error", "head -n 3"] {
            let ran = project.run(&format!("{command} 2>&1 | {filter}"));
            let told = after(&[(&ran.command, ran.exit_code, &ran.text)]).1;
            assert!(told.is_some(), "{}:\n{}", ran.command, ran.text);
        }
    }
}

#[test]
fn the_end_of_python_tells_that_tests_failed() {
    let project = Project::new("python", &[installed("pytest")]);
    let filters = ["tail -n 4", "tail -n 1", "grep -E 'passed|failed'"];
    check(&project, "python -m pytest", "python -m pytest -k test_adds", &filters);
    let filters = ["tail -n 4", "grep -E '^(FAILED|OK)'", "grep -E 'FAILED|OK|Ran'"];
    check(&project, "python3 -m unittest", "python3 -m unittest test_sample.Other", &filters);
}

#[test]
fn the_end_of_jest_tells_that_tests_failed() {
    let project = Project::new("jest", &[installed("node"), installed("jest")]);
    let filters = ["tail -n 5", "tail -n 4", "grep Tests:", "grep -E 'Tests:|Suites:'"];
    check(&project, "jest", "jest other", &filters);
    check(&project, "npm test", "npm run other", &["tail -n 5", "grep -E 'Tests:|Suites:'"]);
    fs::write(project.dir.path().join("sample.test.js"), "this is no js (").unwrap();
    check(&project, "jest", "jest other", &["cat", "tail -n 5", "grep Suites:"]);
}

#[test]
fn the_end_of_vitest_tells_that_tests_failed() {
    let project = Project::of_vitest();
    let filters = ["tail -n 8", "grep -E 'Tests|Files'", "grep 'Tests '"];
    check(&project, "vitest run", "vitest run other", &filters);
    check(&project, "npm test", "npm test -- other", &["tail -n 8"]);
    let sample = project.dir.path().join("sample.test.js");
    let late = "import { test } from 'vitest';\ntest('late', () => {\n  setTimeout(() => { throw new Error('late') }, 1);\n  return new Promise((done) => setTimeout(done, 50));\n});\n";
    fs::write(&sample, late).unwrap();
    check(&project, "vitest run", "vitest run other", &["cat", "tail -n 9", "grep Errors"]);
    fs::write(&sample, "this is no js (").unwrap();
    check(&project, "vitest run", "vitest run other", &["cat", "tail -n 8", "grep -E 'Tests|Files'"]);
}

#[test]
fn the_end_of_mocha_and_node_tells_that_tests_failed() {
    let project = Project::new("mocha", &[installed("node"), installed("mocha")]);
    let green = "mocha sample.test.js -g alone";
    check(
        &project,
        "mocha sample.test.js",
        green,
        &["grep -E 'passing|failing'", "grep failing", "tail -n 60"],
    );
    let project = Project::new("node", &[installed("node")]);
    let green = "node --test --test-name-pattern=adds";
    check(
        &project,
        "node --test",
        green,
        &["grep -E ' (pass|fail) [0-9]'", "grep fail", "tail -n 60", "tail -n 20", "tail -n 8"],
    );
}
