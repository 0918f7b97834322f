//! Servers come and go, tasks stay: kills between submit and wait, many servers on one home, an idle one that looks after
//! the queue, and waits that outlive the server that took them in.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::support::kill;

#[test]
fn a_server_killed_between_submit_and_wait_is_replaced_by_the_next() {
    let env = TestEnv::new();
    for _ in 0..5 {
        let mut first = Client::new(&env, Era::Session);
        let task = first.replay("quick");
        first.kill();
        let mut second = Client::new(&env, Era::Stateless);
        let waited = second.call("delegate_wait", json!({ "task_id": task })).unwrap();
        assert_eq!(waited["data"]["state"], "completed", "{waited}");
    }
}

#[test]
fn thirty_two_servers_share_one_home() {
    let env = TestEnv::new();
    let mut clients: Vec<Client> = (0..32).map(|_| Client::new(&env, Era::Session)).collect();
    let tasks: Vec<String> = clients.iter_mut().map(|client| client.replay("quick --instant")).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        // Each waits for the task of another.
        let task = &tasks[(at + 7) % tasks.len()];
        let waited = client.call("delegate_wait", json!({ "task_id": task })).unwrap();
        assert_eq!(waited["data"]["state"], "completed", "{waited}");
    }
    let mut different = tasks.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 32);
    println!("servers on one home: {}", clients.len());
}

#[test]
fn a_server_at_rest_starts_the_next_task_when_a_runner_is_killed() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let mut client = Client::new(&env, Era::Session);
    let first = client.replay("fix-test --speed 0.01");
    let second = client.replay("fix-test --speed 0.01");
    let mut dir = |task: &str| {
        let results = client.call("delegate_results", json!({ "task_id": task })).unwrap();
        PathBuf::from(results["data"]["run_dir"].as_str().unwrap())
    };
    let (first, waiting) = (dir(&first), dir(&second));
    wait_for("the first to start", PATIENCE, || first.join("started.json").exists().then_some(()));
    let supervisor = wait_for("its supervisor", PATIENCE, || kill::supervisor_of(&first));
    kill::send(supervisor, libc::SIGKILL);
    // Nobody asks the server for anything: it looks after the queue by itself.
    wait_for("the next to start", PATIENCE, || waiting.join("started.json").exists().then_some(()));
    let ended: Value = serde_json::from_slice(&fs::read(first.join("result.json")).unwrap()).unwrap();
    assert_eq!(ended["outcome"]["fault"]["code"], "LOST", "{ended}");
    client.call("delegate_cancel", json!({ "task_id": second })).unwrap();
}
