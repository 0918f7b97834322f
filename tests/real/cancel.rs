//! Cancelling while the agent's command runs: when the answer comes, nothing of it is alive.

use std::fs;

use serde_json::json;

use crate::env::{TestEnv, text, until};
use crate::model::task;
use crate::processes::{self, Process};

#[test]
fn nothing_survives_a_cancel_inside_the_sandbox() {
    check(&TestEnv::new(), "workspace-write");
}

/// Without a sandbox there is no process namespace to take everything along: the daemon below leaves the command's
/// session and its environment, and only whoever looks for it ends it.
#[test]
fn nothing_survives_a_cancel_without_a_sandbox() {
    check(&TestEnv::without_sandbox_ceiling(), "danger-full-access");
}

fn check(env: &TestEnv, sandbox: &str) {
    let root = env.root();
    let daemon = format!("env -i setsid sh -c 'sleep 300; : {}' &", root.display());
    let command = format!("{daemon} sleep 300 & wait");
    let script = json!({ "cmd": command, "yield_time_ms": 30_000 });
    let run = env.start(&["--sandbox", sandbox], &task("shell", &script));
    let sleeping = |process: &Process| process.arguments.iter().any(|argument| argument == "300");
    until("the agent's command and its daemon", || {
        (processes::of(root).iter().filter(|process| sleeping(process)).count() == 2).then_some(())
    });

    let cancelled = env.delegator(&["cancel", text(&run, "task_id"), "--json"]).ended(0);
    let after: Vec<Process> =
        processes::of(root).into_iter().filter(|process| !process.is_supervisor()).collect();
    assert!(after.is_empty(), "alive after the cancel was answered: {after:#?}");
    assert_eq!(cancelled["data"]["state"], "cancelled", "{cancelled:#}");
    assert_eq!(cancelled["data"]["previous_state"], "working");

    let waited = env.delegator(&["wait", text(&run, "task_id"), "--json"]).ended(5);
    assert_eq!(waited["data"]["state"], "cancelled");
    // Codex's sandbox leaves its mount points behind when it is interrupted; nobody asked for them.
    let entries = fs::read_dir(env.path("repo")).expect("the repository").flatten();
    let mut entries: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    entries.sort();
    assert_eq!(entries, [".git", "README.md"]);
    // A second cancel changes nothing, and says so.
    let again = env.delegator(&["cancel", text(&run, "task_id"), "--json"]).json();
    assert_eq!(again["data"]["state"], "cancelled", "{again:#}");
}
