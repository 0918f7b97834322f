//! A wall clock that is wrong costs no result.

use std::fs;
use std::time::Duration;

use jiff::{Span, Timestamp};
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::env::{PATIENCE, Ran, Submitted, TestEnv, wait_for};
use crate::support::kept::{LARGE, capture, terminal};
use crate::support::kill;

/// Runs the program while it sees a wall clock that is so many days ahead.
///
/// The program has no other clock than the system's, which is not ours to set. So
/// everything in its home is moved the other way, and back again afterwards.
fn shifted(env: &TestEnv, days: i64, args: &[&str]) -> Ran {
    move_home(env, -days);
    let ran = env.run(args);
    move_home(env, days);
    ran
}

fn move_home(env: &TestEnv, days: i64) {
    let registry = Connection::open(env.registry()).unwrap();
    registry.busy_timeout(PATIENCE).unwrap();
    for column in ["created_at", "started_at", "completed_at"] {
        registry.execute(&format!("UPDATE tasks SET {column} = {column} + ?1"), [days * 86_400_000]).unwrap();
    }
    for name in ["captures", "terminals/term-000000000001"] {
        for entry in fs::read_dir(env.home().join(name)).into_iter().flatten().flatten() {
            let file = fs::File::options().write(true).open(entry.path()).unwrap();
            let (by, written) = (Duration::from_secs(days.unsigned_abs() * 86_400), file.metadata().unwrap());
            let written = written.modified().unwrap();
            file.set_modified(if days < 0 { written - by } else { written + by }).unwrap();
        }
    }
    let noted = env.home().join("clock.json");
    if let Ok(text) = fs::read_to_string(&noted) {
        let mut clock: Value = serde_json::from_str(&text).unwrap();
        for field in ["wall", "believed"] {
            let moment: Timestamp = clock[field].as_str().unwrap().parse().unwrap();
            clock[field] = json!((moment + Span::new().hours(24 * days)).to_string());
        }
        fs::write(noted, clock.to_string()).unwrap();
    }
}

fn done(env: &TestEnv, task: &str) -> Submitted {
    let submitted = env.submit(task);
    assert_eq!(env.await_final(&submitted.task_id), "completed");
    wait_for("the supervisor to go", PATIENCE, || kill::supervisors(env.home()).is_empty().then_some(()));
    submitted
}

#[test]
fn one_process_that_sees_a_month_later_removes_nothing_and_says_so() {
    let env = TestEnv::new();
    let runs = ["echo 1", "echo 2", "echo 3"].map(|task| done(&env, task));
    env.expect(0, &["results", &runs[0].task_id]);
    let outputs = [capture(env.home(), 1, 100, 2), terminal(env.home(), 1, LARGE - 1, 2)];
    let all_there = || {
        assert!(runs.iter().all(|run| env.run_dir(&run.run_id).exists()), "a run is gone");
        assert!(outputs.iter().all(|path| path.exists()), "a capture or a terminal is gone");
    };
    for _ in 0..3 {
        for args in [&["cleanup", "--dry-run", "--json"][..], &["cleanup", "--json"]] {
            let ran = shifted(&env, 31, args);
            let data: Value = serde_json::from_str::<Value>(&ran.stdout).unwrap()["data"].clone();
            assert_eq!((&data["in_doubt"], &data["old_tasks"]["found"]), (&json!(5), &json!(0)), "{data:#}");
            assert!(data["summary"].as_str().unwrap().contains("once it has been steady"), "{data:#}");
            all_there();
        }
        shifted(&env, 31, &["status"]);
        // Somebody who sees the right time again knows of no doubt.
        assert_eq!(env.json(&["cleanup", "--json"])["data"].get("in_doubt"), None);
        all_there();
    }
    // What needs no clock is done by any.
    let ran = shifted(&env, 31, &["cleanup", "--older-than", "0"]);
    assert!(ran.stdout.contains("removed 3 old runs"), "{}", ran.stdout);
}

#[test]
fn a_home_that_nobody_has_cleaned_yet_loses_nothing_either() {
    let env = TestEnv::new();
    let run = done(&env, "echo 1");
    fs::remove_file(env.home().join("clock.json")).unwrap();
    for days in [31, 31, -9000, 31] {
        shifted(&env, days, &["cleanup"]);
        assert!(env.run_dir(&run.run_id).exists());
    }
}

#[test]
fn a_run_whose_end_was_recorded_in_1970_is_kept() {
    let env = TestEnv::new();
    let runs = ["echo 1", "echo 2"].map(|task| done(&env, task));
    let registry = Connection::open(env.registry()).unwrap();
    registry
        .execute("UPDATE tasks SET created_at = 5000, started_at = 5000, completed_at = 6000", [])
        .unwrap();
    drop(registry);
    assert_eq!(env.json(&["cleanup", "--json"])["data"]["old_tasks"]["found"], 0);
    assert!(runs.iter().all(|run| env.run_dir(&run.run_id).exists()));
    env.expect(0, &["cleanup", "--older-than", "0"]);
    assert!(runs.iter().all(|run| !env.run_dir(&run.run_id).exists()));
}
