//! `delegator wait` ends when it has answered, and leaves nothing inside a run.

use std::fs;
use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::inotify;

use crate::support::env::{PATIENCE, TestEnv, wait_for};

const TRIES: usize = 5;

/// What the kernel takes to close what a waiter sleeps on.
fn close_of_a_watch(env: &TestEnv) -> Duration {
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&watch, env.work(), inotify::WatchFlags::CLOSE_WRITE).unwrap();
    let begun = Instant::now();
    drop(watch);
    begun.elapsed()
}

/// From the answer of a wait that slept to the end of its process.
fn end_of_a_wait(env: &TestEnv, round: usize) -> Duration {
    let go = env.side().join(format!("go-{round}"));
    let task = env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", go.display()));
    let mut waiter = env.command(&["wait", &task.task_id]).stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the waiter to sleep", PATIENCE, || {
        let files = fs::read_dir(format!("/proc/{}/fd", waiter.id())).ok()?.flatten();
        let mut names = files.filter_map(|file| fs::read_link(file.path()).ok());
        names.any(|name| name.as_os_str() == "anon_inode:inotify").then_some(())
    });
    fs::write(go, "").unwrap();
    let mut answer = waiter.stdout.take().unwrap();
    assert!(answer.read(&mut [0; 4096]).unwrap() > 0, "no answer");
    let begun = Instant::now();
    assert!(waiter.wait().unwrap().success());
    begun.elapsed()
}

#[test]
fn a_wait_ends_sooner_than_its_watch_could_be_closed() {
    let env = TestEnv::new();
    let least = |measure: &dyn Fn(usize) -> Duration| (0..TRIES).map(measure).min().unwrap();
    let close = least(&|_| close_of_a_watch(&env));
    let end = least(&|round| end_of_a_wait(&env, round));
    assert!(end < close, "the wait ended {end:?} after its answer, closing a watch takes {close:?}");
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
