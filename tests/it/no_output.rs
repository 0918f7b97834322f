//! Runs that have no output to show: those that wait, never started, or lost
//! their directory. Every command says which of these it is.

use std::fs;

use serde_json::json;

use crate::support::env::{PATIENCE, Submitted, TestEnv, wait_for};

/// What a refusal says: its message and its hint.
#[track_caller]
fn refused(env: &TestEnv, args: &[&str]) -> (String, String) {
    let ran = env.expect(3, args);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let [message, hint] = lines.as_slice() else { panic!("{args:?}: {}", ran.stderr) };
    ((*message).to_owned(), (*hint).to_owned())
}

#[test]
fn a_task_that_waits_has_not_run_its_command() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let running = env.submit("sleep 60");
    let queued = env.submit("echo six").task_id;
    for verb in [&["terminal", "read", &queued][..], &["inspect", &queued]] {
        let (message, hint) = refused(&env, verb);
        assert!(message.contains("it is queued and has not started"), "{verb:?}: {message}");
        assert!(hint.contains(&format!("`delegator wait {queued}`")), "{verb:?}: {hint}");
    }
    let listed = env.json(&["terminal", "list", &queued, "--json"]);
    assert_eq!(listed.pointer("/data/terminals"), Some(&json!([])), "{listed:#}");
    let logs = env.expect(0, &["logs", &queued]).stderr;
    assert!(logs.contains("it is queued and has not started"), "{logs}");

    env.expect(0, &["cancel", &queued]);
    let (message, hint) = refused(&env, &["terminal", "read", &queued]);
    assert!(message.contains("it ended before it started"), "{message}");
    assert!(hint.contains(&format!("`delegator results {queued}`")), "{hint}");
    let listed = env.json(&["terminal", "list", &queued, "--json"]);
    assert_eq!(listed.pointer("/data/terminals"), Some(&json!([])), "{listed:#}");
    let results = env.expect(5, &["results", &queued]).stdout;
    assert!(!results.contains("shows what it did"), "{results}");
    env.expect(0, &["cancel", &running.task_id]);
}

/// What is said of a run whose output is gone.
#[track_caller]
fn is_told(env: &TestEnv, task: &Submitted) {
    let id = task.task_id.as_str();
    let gone = "its run directory was deleted, and its output with it";
    let logs = env.expect(0, &["logs", id]);
    assert!(logs.stdout.is_empty() && logs.stderr.contains(gone), "{}", logs.stderr);
    for verb in [&["terminal", "read", id][..], &["terminal", "list", id], &["inspect", id]] {
        let (message, hint) = refused(env, verb);
        assert!(message.contains(gone), "{verb:?}: {message}");
        assert!(hint.contains(&format!("`delegator results {id}`")), "{verb:?}: {hint}");
    }
    let results = env.run(&["results", id]).stdout;
    assert!(!results.contains("shows what it did"), "{results}");
    assert!(results.contains(&format!("- {gone}\n")), "{results}");
}

#[test]
fn a_run_whose_directory_is_gone_is_not_told_to_have_run_nothing() {
    let env = TestEnv::new();
    let done = env.submit("echo hi");
    env.await_final(&done.task_id);
    fs::remove_dir_all(env.run_dir(&done.run_id)).unwrap();
    is_told(&env, &done);
}

#[test]
fn a_run_whose_directory_was_deleted_while_it_went_on_is_not_told_to_have_printed_nothing() {
    let env = TestEnv::new();
    let task = env.submit("echo hi; sleep 60");
    let dir = env.run_dir(&task.run_id);
    wait_for("its first line", PATIENCE, || {
        fs::read(dir.join("stdout.log")).is_ok_and(|bytes| bytes == b"hi\n").then_some(())
    });
    fs::remove_dir_all(&dir).unwrap();
    assert_eq!(env.await_final(&task.task_id), "failed");
    is_told(&env, &task);
}
