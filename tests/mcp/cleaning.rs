//! Cleaning up by a server: on its own, and for a client.

use std::fs;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, Submitted, TestEnv, wait_for};
use crate::support::kept::{LARGE, age, capture, content, hold, id, name, terminal, versions};
use crate::support::kill;

/// A run that is over, and everybody who had to do with it gone.
fn finished(env: &TestEnv, task: &str) -> Submitted {
    let submitted = env.submit(task);
    env.await_final(&submitted.task_id);
    wait_for("the supervisor to go", PATIENCE, || kill::supervisors(env.home()).is_empty().then_some(()));
    submitted
}

fn stamp(env: &TestEnv) -> SystemTime {
    fs::metadata(env.home().join("cleanup.lock")).unwrap().modified().unwrap()
}

#[test]
fn a_server_cleans_up_once_an_hour_and_leaves_alone_what_is_live_or_pinned() {
    let env = TestEnv::new();
    let run = finished(&env, "echo old");
    // The run is old at once; what there is was cleaned up two hours ago.
    env.configure("retention_days = 0\n");
    age(&env.home().join("cleanup.lock"), 2);
    let (old, large) = (capture(env.home(), 1, 100, 25), capture(env.home(), 2, LARGE, 2));
    let (live, pinned) = (terminal(env.home(), 1, LARGE, 25), terminal(env.home(), 2, LARGE, 25));
    let held = hold(&live.join("lock"));
    fs::write(pinned.join("pin"), "").unwrap();
    let mut client = Client::new(&env, Era::Session);
    wait_for("everything to be cleaned up", PATIENCE, || {
        let done = !old.exists() && versions(&large).0.is_none() && !env.run_dir(&run.run_id).exists();
        done.then_some(())
    });
    assert_eq!(versions(&large), (None, Some(content(2, LARGE))));
    assert!(stamp(&env) > SystemTime::now() - Duration::from_secs(600), "{:?}", stamp(&env));
    assert_eq!(versions(&live.join("output.log")).0.unwrap().len(), LARGE);
    assert_eq!(versions(&pinned.join("output.log")).0.unwrap().len(), LARGE);
    let reply = client.call("delegate_status", json!({})).unwrap();
    assert_eq!(reply["data"]["summary"]["recently_completed"], 0);
    drop(held);
    client.leave();
}

fn cleaned(client: &mut Client, arguments: Value) -> Value {
    client.call("_codex_cleanup_registry", arguments).unwrap()["data"].clone()
}

#[test]
fn a_client_is_told_totals_and_cannot_make_the_age_shorter() {
    let env = TestEnv::new();
    finished(&env, "echo mine");
    let young = capture(env.home(), 1, 100, 23);
    let old = capture(env.home(), 2, 200, 24);
    let recorded = terminal(env.home(), 1, 300, 23);
    let before = stamp(&env);
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let brief = json!({ "old_threshold_hours": 0.000_001 });
    let data = cleaned(&mut client, json!({ "old_threshold_hours": 0.000_001, "dry_run": true }));
    assert_eq!(
        (&data["old_tasks"]["found"], &data["storage"]["captures"]["expired"]),
        (&json!(1), &json!(1))
    );
    let told = data["summary"].as_str().unwrap();
    assert!(told.ends_with("; old means over 0.000001 hours here"), "{told}");
    let data = cleaned(&mut client, brief);
    assert_eq!(data["old_tasks"]["deleted"], 1, "{data:#}");
    let captures = &data["storage"]["captures"];
    assert_eq!(
        (&captures["count"], &captures["total_bytes"], &captures["removed"]),
        (&json!(1), &json!(100), &json!(1))
    );
    assert_eq!(data["storage"]["terminals"]["count"], 1);
    assert!(young.exists() && recorded.exists() && !old.exists());
    for secret in [name(1), name(2), id(1)] {
        assert!(!data.to_string().contains(&secret), "{data:#}");
    }
    // It has not cleaned up after others, and does not put that off.
    assert_eq!(stamp(&env), before);
}

#[test]
fn what_a_client_asks_for_by_older_names_is_taken_and_liveness_decides() {
    let env = TestEnv::new();
    let run = env.submit("until [ -e go ]; do sleep 0.02; done");
    finished_beside(&env, "echo done");
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let ask = json!({ "stuck_threshold_seconds": 0.001, "old_threshold_hours": 0.000_001 });
    let data = cleaned(&mut client, ask);
    assert_eq!(
        (&data["old_tasks"]["deleted"], &data["storage"]["runs"]["live"]),
        (&json!(1), &json!(1)),
        "{data:#}"
    );
    assert!(env.run_dir(&run.run_id).exists());
    // Without an age it is thirty days.
    let data = cleaned(&mut client, json!({}));
    assert_eq!(data["storage"]["runs"]["retention_hours"], json!(720.0));
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&run.task_id);
}

/// Somebody's wall clock is a month ahead in a home that has no record of the clock.
#[test]
fn a_client_of_a_project_without_runs_trusts_the_clock_no_more_than_others() {
    let env = TestEnv::new();
    let run = finished(&env, "echo mine");
    fs::remove_file(env.home().join("clock.json")).unwrap();
    let registry = rusqlite::Connection::open(env.registry()).unwrap();
    for column in ["created_at", "started_at", "completed_at"] {
        let month = 31_i64 * 86_400_000;
        registry.execute(&format!("UPDATE tasks SET {column} = {column} - ?1"), [month]).unwrap();
    }
    registry.execute("UPDATE tasks SET project = '/elsewhere'", []).unwrap();
    drop(registry);
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    cleaned(&mut client, json!({}));
    client.leave();
    assert_eq!(env.json(&["cleanup", "--json"])["data"]["old_tasks"]["found"], 0);
    assert!(env.run_dir(&run.run_id).exists());
}

/// A run that is over while another goes on.
fn finished_beside(env: &TestEnv, task: &str) {
    let submitted = env.submit(task);
    env.await_final(&submitted.task_id);
}

#[test]
fn with_a_configuration_that_cannot_be_read_nothing_is_removed() {
    let env = TestEnv::new();
    let run = finished(&env, "echo kept");
    let old = capture(env.home(), 1, 100, 99);
    env.configure("output_retention_hours = 999\nretention_days = \"many\"\n");
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let refused =
        client.call("_codex_cleanup_registry", json!({ "old_threshold_hours": 0.000_001 })).unwrap_err();
    assert!(refused.contains("is not valid"), "{refused}");
    assert!(old.exists() && env.run_dir(&run.run_id).exists());
}
