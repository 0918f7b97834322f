//! `delegator wait` ends when it has answered, and leaves nothing inside a run.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::support::strace;

/// Closing what a waiter sleeps on may take the kernel 15 ms, and a process has not ended before its files are closed:
/// a child has it open for longer than the waiter lives.
#[test]
fn a_wait_that_slept_leaves_the_closing_of_its_watch_to_a_child() {
    let env = TestEnv::new();
    let go = env.side().join("go");
    let task = env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", go.display()));
    let log = env.side().join("calls");
    let calls = "trace=clone,clone3,fork,close,inotify_add_watch,exit_group";
    let tracer = [strace::PROGRAM, "-f", "-qq", "-y", "-o", log.to_str().unwrap(), "-e", calls, "--"];
    let mut waiter =
        env.command_under(&tracer, &["wait", &task.task_id]).stdout(Stdio::null()).spawn().unwrap();
    let calls = || fs::read_to_string(&log).unwrap_or_default();
    wait_for("the waiter to sleep", PATIENCE, || calls().contains("inotify_add_watch").then_some(()));
    fs::write(go, "").unwrap();
    assert!(waiter.wait().unwrap().success());

    let calls = calls();
    let at = |what: &dyn Fn(&str) -> bool| calls.lines().position(what);
    let process = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    let waiter = process(calls.lines().next().unwrap());
    let is_fork = |line: &&str| line.contains("SIGCHLD") && !line.contains("CLONE_VM");
    let fork = calls.lines().rfind(is_fork).unwrap_or_else(|| panic!("no child was started: {calls}"));
    // Where another process was traced in between, the call ends on a line of its own.
    let forked = at(&|line| line == fork).unwrap();
    let returns = |line: &&str| process(line) == waiter && line.contains("clone") && line.contains(" = ");
    let child = calls.lines().skip(forked).find(returns).and_then(|line| line.rsplit(" = ").next()).unwrap();
    let end_of = |pid: &str| at(&|line| line.starts_with(pid) && line.contains("exit_group(")).expect(pid);
    assert_eq!(process(fork), waiter, "{calls}");
    assert!(end_of(&waiter) < end_of(child), "the child ended first: {calls}");
    let closed = at(&|line| line.contains("close(") && line.contains("inotify>"));
    assert!(closed.is_none_or(|closed| forked < closed), "{calls}");
}

#[test]
fn a_wait_inside_a_run_leaves_no_process_to_it() {
    let env = TestEnv::new();
    let go = env.side().join("go");
    let slow = env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", go.display()));
    let waiting = env.side().join("waiting");
    let outer = env.submit(&format!(
        "touch {}; DELEGATOR_HOME={} {} wait {}",
        waiting.display(),
        env.home().display(),
        env!("CARGO_BIN_EXE_delegator"),
        slow.task_id,
    ));
    wait_for("the agent", PATIENCE, || waiting.exists().then_some(()));
    // Longer than a wait that needs no watch.
    std::thread::sleep(Duration::from_millis(300));
    fs::write(go, "").unwrap();
    assert_eq!(env.await_final(&outer.task_id), "completed");
    let result = fs::read_to_string(env.run_dir(&outer.run_id).join("result.json")).unwrap();
    let result: serde_json::Value = serde_json::from_str(&result).unwrap();
    assert!(result["processes_ended"].as_u64().unwrap_or(0) == 0, "{result:#}");
}
