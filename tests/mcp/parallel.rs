//! No call delays another, and a client that goes away takes nothing with it.

use serde_json::json;

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

#[test]
fn a_quick_call_answers_while_others_wait_and_a_cancelled_wait_leaves_the_run_alone() {
    let env = TestEnv::new();
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        let task = client.replay("fix-test --speed 0.01");
        let wait = || json!({ "name": "delegate_wait", "arguments": { "task_id": task } });
        let parked: Vec<u64> = (0..40).map(|_| client.begin("tools/call", wait())).collect();
        // Forty calls are held; the next ones are not behind them.
        let status = client.call("delegate_status", json!({})).unwrap();
        assert_eq!(status["data"]["tasks"][0]["task_id"], task, "{status}");
        for id in &parked[1..] {
            client.notify("notifications/cancelled", json!({ "requestId": id }));
        }
        let status = client.call("delegate_status", json!({ "task_id": task })).unwrap();
        assert_eq!(status["data"]["tasks"][0]["state"], "working", "{status}");
        client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
        let answer = client.answer(parked[0]);
        assert_eq!(answer["result"]["structuredContent"]["data"]["state"], "cancelled", "{answer}");
        client.leave();
    }
}

#[test]
fn a_client_that_goes_away_in_the_middle_of_a_wait_ends_the_server_and_not_the_run() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("fix-test --speed 0.01");
    client.begin("tools/call", json!({ "name": "delegate_wait", "arguments": { "task_id": task } }));
    client.call("delegate_status", json!({})).unwrap();
    client.leave();
    let mut next = Client::new(&env, Era::Stateless);
    let status = next.call("delegate_status", json!({ "task_id": task })).unwrap();
    assert_eq!(status["data"]["tasks"][0]["state"], "working", "{status}");
    next.call("delegate_cancel", json!({ "task_id": task })).unwrap();
}

#[test]
fn a_wait_says_that_it_was_too_short_and_how_long_it_could_have_been() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("fix-test --speed 0.01");
    let waited = client.call("delegate_wait", json!({ "taskId": task, "timeout_sec": "0.2" })).unwrap();
    assert_eq!(
        (&waited["data"]["state"], &waited["data"]["wait_exceeded"]),
        (&json!("working"), &json!(true))
    );
    assert_eq!(waited["meta"]["waited_limit_ms"], 200);
    assert!(
        waited["meta"].get("completed_ts").is_none() && waited["data"]["progress"].is_object(),
        "{waited}"
    );
    // An unknown client gives up after two minutes: no wait takes that long.
    let id = client.begin(
        "tools/call",
        json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": 9999 } }),
    );
    client.call("delegate_cancel", json!({ "task_id": task, "reason": "enough" })).unwrap();
    let answer = client.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["meta"]["waited_limit_ms"], 110_000, "{answer}");
}
