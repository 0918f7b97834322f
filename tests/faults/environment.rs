//! Whose environment a task gets: its submitter's, whoever starts it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, finish};

const KEY_A: &str = "made-up-key-of-the-submitter-7f3a";
const KEY_B: &str = "made-up-key-of-the-starter-91bc";

#[test]
fn a_queued_task_sees_its_submitters_key_and_not_its_starters() {
    let phase = Phase::new();
    phase.limit(0);
    let seen = phase.env.work().join("seen");
    let task = playing(&phase.env, "reads", &[&format!("env MY_KEY {}", seen.display()), "exit 0"]);
    let mut submit = phase.env.command(&["run", "--agent", "command", "--json", &task]);
    let ran = finish({ submit.env("MY_KEY", KEY_A); submit }, PATIENCE);
    let submitted = phase.note(&ran.stdout).unwrap();
    let waiting = phase.env.run_dir(&submitted.run_id).join("env.json");
    let mode = fs::metadata(&waiting).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert!(holds(&waiting, KEY_A), "the values wait with the task");

    phase.limit(1);
    let mut start = phase.env.command(&["status"]);
    assert_eq!(finish({ start.env("MY_KEY", KEY_B); start }, PATIENCE).code, Some(0));
    assert_eq!(phase.env.await_final(&submitted.task_id), "completed");
    assert_eq!(fs::read_to_string(&seen).unwrap(), KEY_A);
    assert!(!waiting.exists());
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
    let mut submit = phase.env.command(&["run", "--agent", "command", "--json", "true"]);
    let ran = finish({ submit.env("MY_KEY", KEY_A); submit }, PATIENCE);
    let submitted = phase.note(&ran.stdout).unwrap();
    phase.env.run(&["cancel", &submitted.task_id]);
    assert_eq!(phase.env.await_final(&submitted.task_id), "cancelled");
    let found = files_holding(phase.env.home(), KEY_A);
    assert!(found.is_empty(), "the key is still in {found:?}");
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

fn files_holding(dir: &Path, text: &str) -> Vec<String> {
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
