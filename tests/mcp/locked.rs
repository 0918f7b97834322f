//! Somebody keeps the registry locked for writing: who waits is answered in time all the same, with what is on disk.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::json;

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, Submitted, TestEnv, wait_for};
use crate::support::kill;

/// Less than a write waits for the lock, much more than an answer takes.
const IN_TIME: Duration = Duration::from_secs(6);

struct Locked {
    env: TestEnv,
    task: Submitted,
    /// Held until the test ends.
    lock: Connection,
}

/// A run that goes on until `let_go`, then a lock on the registry.
fn locked() -> Locked {
    let env = TestEnv::new();
    let task =
        env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", env.side().join("go").display()));
    wait_for("the start", PATIENCE, || env.run_dir(&task.run_id).join("started.json").exists().then_some(()));
    let lock = lock(&env);
    Locked { env, task, lock }
}

fn lock(env: &TestEnv) -> Connection {
    let lock = Connection::open(env.registry()).unwrap();
    lock.busy_timeout(PATIENCE).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    lock
}

impl Locked {
    /// Ends the run, whose row nobody can write.
    fn let_go(&self) {
        fs::write(self.env.side().join("go"), "").unwrap();
        let result = self.env.run_dir(&self.task.run_id).join("result.json");
        wait_for("the seal", PATIENCE, || result.exists().then_some(()));
    }

    #[track_caller]
    fn check_shell(&self, code: i32, state: &str) {
        let begun = Instant::now();
        let ran = self.env.run(&["wait", &self.task.task_id, "--timeout", "1", "--json"]);
        assert!(begun.elapsed() < IN_TIME, "it took {:?}", begun.elapsed());
        assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(&format!("\"state\": \"{state}\"")), "{}", ran.stdout);
    }

    #[track_caller]
    fn check_client(&self, client: &mut Client, state: &str) {
        let begun = Instant::now();
        let ask = json!({ "task_id": self.task.task_id, "timeout_sec": 1 });
        let answer = client.call("delegate_wait", ask).unwrap();
        assert!(begun.elapsed() < IN_TIME, "it took {:?}", begun.elapsed());
        assert_eq!(answer["data"]["state"], state, "{answer}");
    }
}

#[test]
fn a_wait_keeps_to_its_limit_while_the_registry_is_locked() {
    let locked = locked();
    locked.check_shell(4, "working");
    locked.check_client(&mut Client::new(&locked.env, Era::Session), "working");
}

#[test]
fn a_run_that_ended_while_the_registry_is_locked_is_told_of() {
    let locked = locked();
    locked.let_go();
    locked.check_shell(0, "completed");
    let mut client = Client::new(&locked.env, Era::Session);
    locked.check_client(&mut client, "completed");
    // The second time the first answer is still marked unread.
    locked.check_client(&mut client, "completed");
    locked.lock.execute_batch("ROLLBACK").unwrap();
    client.call("delegate_wait", json!({ "task_id": locked.task.task_id })).unwrap();
    assert_eq!(locked.env.await_final(&locked.task.task_id), "completed");
    let seen = || locked.env.json(&["status", &locked.task.task_id, "--json"]);
    wait_for("the mark to go", PATIENCE, || {
        (seen()["data"]["recently_completed"][0]["unread"] == false).then_some(())
    });
}

#[test]
fn a_supervisor_that_died_while_the_registry_is_locked_holds_up_no_wait() {
    let locked = locked();
    let supervisor = kill::supervisor_of(&locked.env.run_dir(&locked.task.run_id)).unwrap();
    kill::send(supervisor, libc::SIGKILL);
    wait_for("its end", PATIENCE, || (!kill::alive(supervisor)).then_some(()));
    let begun = Instant::now();
    let ran = locked.env.run(&["wait", &locked.task.task_id, "--timeout", "1"]);
    assert!(begun.elapsed() < IN_TIME, "it took {:?}", begun.elapsed());
    assert!(matches!(ran.code, Some(1 | 4)), "{ran:?}");
    locked.lock.execute_batch("ROLLBACK").unwrap();
    locked.env.run(&["wait", &locked.task.task_id]);
    assert_eq!(locked.env.await_final(&locked.task.task_id), "failed");
}

/// There is a free slot for a queued task, which nobody can claim.
#[test]
fn logs_are_followed_to_the_end_while_the_registry_is_locked() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1");
    let go = env.side().join("go");
    let task =
        env.submit(&format!("echo first; while ! [ -e {} ]; do sleep 0.02; done; echo last", go.display()));
    let queued = env.submit("true");
    env.configure("max_concurrent = 2");
    let lock = lock(&env);
    let begun = Instant::now();
    let mut command = env.command(&["logs", "-f", &task.task_id]);
    let mut follower = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(follower.stdout.take().unwrap());
    let mut text = String::new();
    printed.read_line(&mut text).unwrap();
    fs::write(go, "").unwrap();
    printed.read_to_string(&mut text).unwrap();
    let ended = follower.wait_with_output().unwrap();
    assert!(ended.status.success() && begun.elapsed() < IN_TIME, "{:?}: {ended:?}", begun.elapsed());
    assert_eq!(text, "first\nlast\n");
    lock.execute_batch("ROLLBACK").unwrap();
    for task in [&task, &queued] {
        assert_eq!(env.await_final(&task.task_id), "completed");
    }
}

#[test]
fn a_start_that_the_lock_prevents_says_how_long_it_tried() {
    let locked = locked();
    let mut client = Client::new(&locked.env, Era::Session);
    let run = json!({ "task": "quick --instant", "options": { "agent": "replay" } });
    let reply = client.result("tools/call", json!({ "name": "delegate_run", "arguments": run }));
    let error = &reply["structuredContent"]["error"];
    assert_eq!((&error["code"], &error["retryable"]), (&json!("TIMEOUT"), &json!(true)), "{error:#}");
    assert!(error["duration_ms"].as_u64().unwrap() > 1000, "{error:#}");
}

#[test]
fn a_registry_that_nobody_can_read_is_not_set_aside_by_a_rebuild() {
    let env = TestEnv::new();
    env.expect(0, &["run", "--agent", "command", "--wait", "true"]);
    let set_aside = || {
        let names = fs::read_dir(env.home()).unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().contains("damaged")).count()
    };
    let lock = Connection::open(env.registry()).unwrap();
    lock.busy_timeout(PATIENCE).unwrap();
    // Keeps even readers out.
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let ran = env.expect(6, &["doctor", "--rebuild"]);
    assert!(ran.stderr.starts_with("delegator: the registry is busy"), "{}", ran.stderr);
    assert_eq!(set_aside(), 0);
    drop(lock);
    let nothing = env.expect(2, &["doctor", "--rebuild"]);
    assert!(nothing.stderr.contains("nothing to rebuild"), "{}", nothing.stderr);
}
