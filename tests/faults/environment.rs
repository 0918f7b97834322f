//! Whose environment a task gets: its submitter's, whoever starts it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Ran, finish, wait_for};

const KEY_A: &str = "made-up-key-of-the-submitter-7f3a";
const KEY_B: &str = "made-up-key-of-the-starter-91bc";

/// Runs the program for somebody who has `key`.
fn run_with(phase: &Phase, key: &str, args: &[&str]) -> Ran {
    let mut command = phase.env.command(args);
    command.env("MY_KEY", key);
    finish(command, PATIENCE)
}

#[test]
fn a_queued_task_sees_its_submitters_key_and_not_its_starters() {
    let phase = Phase::new();
    phase.limit(0);
    let (seen, go) = (phase.env.work().join("seen"), phase.env.work().join("go"));
    let steps =
        [&format!("env MY_KEY {}", seen.display()), "say seen", &format!("await {}", go.display()), "exit 0"];
    let task = playing(&phase.env, "reads", &steps);
    let ran = run_with(&phase, KEY_A, &["run", "--agent", "command", "--json", &task]);
    let submitted = phase.note(&ran.stdout).unwrap();
    let waiting = phase.env.run_dir(&submitted.run_id).join("env.json");
    let mode = fs::metadata(&waiting).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert!(holds(&waiting, KEY_A), "the values wait with the task");

    phase.limit(1);
    assert_eq!(run_with(&phase, KEY_B, &["status"]).code, Some(0));
    let printed = phase.env.side().join(format!("{}.stdout", submitted.run_id));
    wait_for("the agent to look", PATIENCE, || printed.exists().then_some(()));
    assert_eq!(fs::read_to_string(&seen).unwrap(), KEY_A);
    assert!(!waiting.exists(), "the values are gone before the agent runs");
    fs::write(go, "").unwrap();
    assert_eq!(phase.env.await_final(&submitted.task_id), "completed");
    for key in [KEY_A, KEY_B] {
        let found = files_holding(phase.env.home(), key);
        assert!(found.is_empty(), "a key is still in {found:?}");
    }
    phase.close("environment");
}

#[test]
fn a_waiting_task_that_is_cancelled_leaves_no_key_behind() {
    let phase = Phase::new();
    phase.limit(0);
    let ran = run_with(&phase, KEY_A, &["run", "--agent", "command", "--json", "true"]);
    let submitted = phase.note(&ran.stdout).unwrap();
    assert!(!files_holding(phase.env.home(), KEY_A).is_empty(), "the values wait with the task");
    phase.env.run(&["cancel", &submitted.task_id]);
    assert_eq!(phase.env.await_final(&submitted.task_id), "cancelled");
    let found = files_holding(phase.env.home(), KEY_A);
    assert!(found.is_empty(), "the key is still in {found:?}");
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read(file).is_ok_and(|bytes| memchr::memmem::find(&bytes, text.as_bytes()).is_some())
}

pub fn files_holding(dir: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_holding(&path, text));
        } else if holds(&path, text) {
            found.push(path.display().to_string());
        }
    }
    found
}
