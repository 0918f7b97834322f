//! A real shell, and command lines of all shapes around a program that fails: none that ends with 0 all the
//! same is taken for a success of it.

#![allow(clippy::disallowed_methods, reason = "tests start programs themselves")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::proofs::{TRACE, left};

const LINES: usize = 200;

const STEPS: [&str; 45] = [
    "./app",
    "./app",
    "./app",
    "./app",
    "./app 2>&1",
    "./app > log 2>&1",
    "./app 2>/dev/null",
    "! ./app",
    "./app; echo \"exit $?\"",
    "./app && echo OK || echo NO",
    "bash -c './app'",
    "bash -c './app; true'",
    "bash -o pipefail -c './app | cat'",
    "V=$(./app)",
    "V=$(./app 2>&1); echo \"$V\"",
    "V=$(./app | cat); echo ${PIPESTATUS[0]}",
    "echo \"$(./app)\"",
    "export V=$(./app)",
    "W=\"x `./app`\"",
    "exec ./app",
    "timeout 9 ./app",
    "f() { ./app; }",
    "f () { ./app; }",
    "command -v ./app",
    "true",
    "false",
    "V=1",
    "V=$(ls)",
    "> file",
    "ls",
    "cat",
    "tail -3",
    "wc -l",
    "echo OK",
    "cd .",
    "exit",
    "exit 0",
    "exit 1",
    "exit $?",
    "set -e",
    "set -o pipefail",
    "set +o pipefail",
    "trap 'exit 0' EXIT",
    "eval exit 0",
    "[[ -f none || -d . ]]",
];

fn lines() -> impl Strategy<Value = String> {
    let step = prop::sample::select(STEPS.to_vec()).prop_map(str::to_owned);
    step.prop_recursive(4, 12, 3, |inner| {
        let between = vec![" | ", " && ", " || ", "; ", "\n", " |\n", " &&\n", " ||\n"];
        let joined = (prop::collection::vec(inner.clone(), 2..4), prop::sample::select(between))
            .prop_map(|(parts, between)| parts.join(between));
        let groups = vec![("(", ")"), ("{ ", "; }"), ("(", ") 2>/dev/null"), ("{ ", "; } > file")];
        let grouped = (inner, prop::sample::select(groups))
            .prop_map(|(inner, (open, close))| format!("{open}{inner}{close}"));
        prop_oneof![2 => joined, 1 => grouped]
    })
}

/// The exit code of a line, and all that it printed.
fn run(here: &Path, line: &str) -> (i64, String) {
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", &format!("exec 2>&1; {line}")]).current_dir(here);
    let output = shell.stdin(Stdio::null()).output().unwrap();
    (i64::from(output.status.code().unwrap()), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A directory with a program that fails until there is a file `good`.
fn with_app() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let app = dir.path().join("app");
    fs::write(dir.path().join("trace"), TRACE).unwrap();
    fs::write(&app, "#!/bin/sh\n[ -f good ] || { cat trace >&2; exit 1; }\n").unwrap();
    fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    dir
}

#[test]
fn a_program_that_fails_is_told_by_itself_and_one_that_does_not_never() {
    let dir = with_app();
    let mut runner = TestRunner::deterministic();
    let all: Vec<String> = (0..LINES).map(|_| lines().new_tree(&mut runner).unwrap().current()).collect();
    let told = |line: &&String| {
        let (code, text) = run(dir.path(), line);
        left(&[(line, code, &text)]).1
    };
    let red = all.iter().filter(|line| run(dir.path(), line).1.contains(TRACE)).count();
    // What is done twice may be mended in between, and what is read may be an old log.
    assert!(all.iter().filter(told).count() * 4 > red * 3);
    fs::write(dir.path().join("good"), "").unwrap();
    let wrong: Vec<&String> = all.iter().filter(told).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_program_that_fails_is_told_whatever_line_it_stands_in() {
    let dir = with_app();
    let is_told = |line: &str, text: &str| left(&[("./app", 1, TRACE), (line, 0, text)]).1;
    let mut runner = TestRunner::deterministic();
    let all: Vec<String> = (0..LINES).map(|_| lines().new_tree(&mut runner).unwrap().current()).collect();
    let is_mended = |line: &&String| {
        let (code, text) = run(dir.path(), line);
        code == 0 && !is_told(line, &text)
    };
    let wrong: Vec<&String> = all.iter().filter(is_mended).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    fs::write(dir.path().join("good"), "").unwrap();
    let right = all.iter().filter(is_mended).count();
    // Else the lines would show nothing.
    assert!(right > LINES / 20, "{right}");
}
