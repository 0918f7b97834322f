//! No call delays another, and a client that goes away takes nothing with it.

use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};

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
    // An unknown client may give up after a minute: no wait takes that long.
    let id = client.begin(
        "tools/call",
        json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": 9999 } }),
    );
    client.call("delegate_cancel", json!({ "task_id": task, "reason": "enough" })).unwrap();
    let answer = client.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["meta"]["waited_limit_ms"], 50_000, "{answer}");
}

/// How long the next wait of this client for a task that works could take.
fn next_limit(client: &mut Client, task: &str) -> Value {
    let arguments = json!({ "task_id": task, "timeout_sec": 0.01 });
    assert_eq!(client.call("delegate_wait", arguments).unwrap()["meta"]["waited_limit_ms"], 10);
    let id = client.begin("tools/call", json!({ "name": "delegate_wait", "arguments": { "task_id": task } }));
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
    client.answer(id)["result"]["structuredContent"]["meta"]["waited_limit_ms"].clone()
}

/// Less than a second tells nothing, so this test about time has to take some.
const GIVEN_UP_AFTER: Duration = Duration::from_millis(1300);

#[test]
fn a_client_that_cancels_a_wait_or_vanishes_in_it_gets_shorter_ones_from_every_server() {
    for vanishes in [false, true] {
        let env = TestEnv::new();
        let mut client = Client::new(&env, Era::Session);
        let task = client.replay("fix-test --speed 0.01");
        let wait = json!({ "name": "delegate_wait", "arguments": { "task_id": task } });
        let id = client.begin("tools/call", wait);
        client.call("delegate_status", json!({})).unwrap();
        thread::sleep(GIVEN_UP_AFTER);
        if vanishes {
            client.leave();
            client = Client::new(&env, Era::Session);
        } else {
            client.notify("notifications/cancelled", json!({ "requestId": id, "reason": "timed out" }));
            // It is read before the next call is answered.
            client.call("delegate_status", json!({})).unwrap();
        }
        let other = client.replay("fix-test --speed 0.01");
        assert_eq!(next_limit(&mut client, &other), 4_000, "vanishes: {vanishes}");
        client.leave();
        // Another server, in the revision without sessions, for the same client.
        let mut next = Client::new(&env, Era::Stateless);
        let other = next.replay("fix-test --speed 0.01");
        assert_eq!(next_limit(&mut next, &other), 4_000, "vanishes: {vanishes}");
        let kept = env.home().join("patience.json");
        fs::remove_file(kept).unwrap();
        let other = next.replay("fix-test --speed 0.01");
        assert_eq!(next_limit(&mut next, &other), 50_000, "what was removed is forgotten");
        next.call("delegate_cancel", json!({ "task_id": task })).unwrap();
    }
}

/// Some clients cancel every call once it is answered, and some waits end because the run does.
#[test]
fn what_is_answered_teaches_nothing() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("fix-test --speed 0.01");
    let wait = json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": 1.3 } });
    let id = client.begin("tools/call", wait);
    let told = client.answer(id);
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
    assert!(!env.home().join("patience.json").exists());
    // A wait that was too short says what to call, and that nothing is lost.
    let text = told["result"]["content"][0]["text"].as_str().unwrap();
    let next = format!("delegate_wait {{\"task_id\": \"{task}\"}}");
    assert!(text.contains(&next) && text.contains("the run continues"), "{text}");
    let next = &told["result"]["structuredContent"]["next"][0];
    assert_eq!((&next["tool"], &next["arguments"]), (&json!("delegate_wait"), &json!({ "task_id": task })));
    assert!(next["why"].as_str().unwrap().contains("the run continues"), "{next}");
}
