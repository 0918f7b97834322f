//! What Codex is asked before a run: what only the program decides is asked once, and the rest while the tree is looked
//! at.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::agent::program;
use crate::support::env::{PATIENCE, TestEnv, acknowledged, finish, wait_for};

const PROGRAM: [&str; 2] = ["--version", "exec --help"];
const RUN: [&str; 5] = ["run", "--agent", "codex", "--env", "FAKE_SIDE"];

/// A world with a `codex` on its `PATH` that tells what it is asked.
fn with_codex() -> TestEnv {
    let env = TestEnv::new();
    env.configure("env_allow = [\"FAKE_SIDE\"]\n");
    // Not a link: whoever links the same file elsewhere changes it.
    fs::copy(program(), env.root().join("bin/codex")).unwrap();
    let made = Command::new("git").args(["init", "-q", "."]).current_dir(env.work()).status();
    assert!(made.unwrap().success());
    env
}

fn run(env: &TestEnv, options: &[&str]) -> String {
    let args = [&RUN[..], options, &["--json", "SCRIPT:\nturn done\nexit 0\nEND"]].concat();
    let mut command = env.command(&args);
    command.env("PATH", format!("{}:/usr/bin:/bin", env.root().join("bin").display()));
    let ran = finish(command, PATIENCE);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

/// What it is asked in one run, but for the list of its servers, which is asked every time.
#[track_caller]
fn check(env: &TestEnv, expected: &[&str]) {
    let questions = env.side().join("questions");
    let _ = fs::remove_file(&questions);
    let report: serde_json::Value = serde_json::from_str(&run(env, &["--wait"])).unwrap();
    assert_eq!(report["status"], "completed", "{report:#}");
    assert!(!report["warnings"].to_string().contains("Codex"), "{report:#}");
    let command = fs::read(Path::new(report["run_dir"].as_str().unwrap()).join("command.json")).unwrap();
    let command: serde_json::Value = serde_json::from_slice(&command).unwrap();
    assert_eq!(command["agent_version"], "0.166.0");
    let asked = fs::read_to_string(questions).unwrap();
    let (servers, mut others): (Vec<&str>, Vec<&str>) =
        asked.lines().partition(|question| question.starts_with("mcp list --json"));
    others.sort_unstable();
    assert_eq!((servers.len(), &others[..]), (1, expected));
}

#[test]
fn version_and_options_are_asked_once_for_each_program() {
    let env = with_codex();
    check(&env, &PROGRAM);
    check(&env, &[]);
    // Another file of the same name may be another version.
    let codex = env.root().join("bin/codex");
    fs::copy(&codex, env.side().join("codex")).unwrap();
    fs::rename(env.side().join("codex"), &codex).unwrap();
    check(&env, &PROGRAM);
    check(&env, &[]);
    let kept = env.home().join("agent-answers.json");
    fs::write(&kept, "{\"programs\": [[").unwrap();
    check(&env, &PROGRAM);
    check(&env, &[]);
    fs::remove_file(&kept).unwrap();
    check(&env, &PROGRAM);
}

#[test]
fn a_script_is_asked_every_time_because_it_may_start_anything() {
    let env = with_codex();
    let codex = env.root().join("bin/codex");
    let real = env.side().join("codex");
    fs::rename(&codex, &real).unwrap();
    fs::write(env.root().join("bin/script"), format!("#!/bin/sh\nexec {} \"$@\"\n", real.display())).unwrap();
    fs::rename(env.root().join("bin/script"), &codex).unwrap();
    fs::set_permissions(&codex, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    check(&env, &PROGRAM);
    check(&env, &PROGRAM);
}

#[test]
fn the_tree_is_looked_at_while_codex_is_asked() {
    let env = with_codex();
    let hold = env.side().join("hold");
    fs::write(&hold, "").unwrap();
    // Of a run that only reads, nobody looks at the tree.
    let submitted = acknowledged(&run(&env, &["--sandbox", "workspace-write"])).unwrap();
    let dir = env.run_dir(&submitted.run_id);
    wait_for("the first look at the tree", PATIENCE, || dir.join("tree/before").exists().then_some(()));
    assert!(!dir.join("started.json").exists(), "it started before its program had answered");
    fs::remove_file(&hold).unwrap();
    assert_eq!(env.await_final(&submitted.task_id), "completed");
    // After ten seconds it would have gone on without the answer.
    let results = env.json(&["results", &submitted.task_id, "--json"]);
    assert!(!results.to_string().contains("could not read `codex mcp list"), "{results:#}");
}
