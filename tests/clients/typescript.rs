//! The official TypeScript SDK, in both of its lines, and the client of the tasks extension.

use serde_json::{Value, json};

use crate::story::{self, list};
use crate::world::World;

#[test]
fn the_typescript_sdk_shakes_hands() {
    let world = World::new();
    story::check(&world, &sdk(&world, "story"), "2025-11-25");
}

#[test]
fn the_typescript_client_finds_out_the_newest_revision() {
    let world = World::new();
    story::check(&world, &client(&world, "auto", "story"), "2026-07-28");
}

#[test]
fn the_typescript_client_can_be_told_the_newest_revision() {
    let world = World::new();
    story::check(&world, &client(&world, "2026-07-28", "story"), "2026-07-28");
}

#[test]
fn the_typescript_client_shakes_hands_as_before() {
    let world = World::new();
    story::check(&world, &client(&world, "legacy", "story"), "2025-11-25");
}

#[test]
fn the_typescript_sdk_may_give_up_a_call_and_never_the_run() {
    let world = World::new();
    patience(&world, &sdk(&world, "patience"));
}

#[test]
fn the_typescript_client_may_give_up_a_call_and_never_the_run() {
    let world = World::new();
    patience(&world, &client(&world, "2026-07-28", "patience"));
}

fn sdk(world: &World, play: &str) -> Value {
    world.node("ts-sdk", "ts_sdk.mjs", &[play]).ended(0).json()
}

fn client(world: &World, mode: &str, play: &str) -> Value {
    world.node("ts-client", "ts_client.mjs", &[mode, play]).ended(0).json()
}

/// A call with half a second's patience ends, one that is aborted too, and the run goes on; and progress keeps a call
/// alive for longer than its patience.
fn patience(world: &World, received: &Value) {
    let [_, impatient, aborted, status, patient] = list(&received["calls"]) else { panic!("{received:#}") };
    let error = |call: &Value| call["error"].as_str().unwrap_or_default().to_owned();
    assert!(error(impatient).contains("timed out"), "{impatient:#}");
    assert!(error(aborted).contains("enough"), "{aborted:#}");
    let status = status["result"]["structuredContent"].to_string();
    assert!(status.contains(r#""state":"working""#), "{status}");
    assert_eq!(patient["result"]["structuredContent"]["data"]["state"], "completed", "{patient:#}");

    let wire = world.conversation();
    let given_up = wire.client.iter().filter(|message| message["method"] == "notifications/cancelled");
    assert_eq!(given_up.count(), 2);
}

#[test]
fn a_wait_is_a_task_for_a_client_that_asks_for_tasks() {
    let world = World::new();
    let told = world.node("ts-client", "tasks.mjs", &[]).ended(0).json();
    let (finished, left) = (&told["finished"], &told["left"]);
    assert_eq!(finished["last"]["status"], "completed", "{told:#}");
    let content = &finished["result"]["structuredContent"];
    assert_eq!(content["data"]["task_id"], finished["task_id"], "{told:#}");
    assert_eq!(content["data"]["state"], "completed", "{told:#}");
    let status = left["status"].to_string();
    assert!(status.contains(r#""state":"working""#), "the run goes on without the wait: {status}");

    let wire = world.conversation();
    let waits: Vec<_> = wire.calls().into_iter().filter(|call| call.tool == "delegate_wait").collect();
    assert_eq!(waits.len(), 2);
    for task in waits.into_iter().filter_map(|wait| wait.result) {
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task:#}");
        // A name of its own: whoever cancels it leaves the wait, not the run.
        assert!(task["taskId"].as_str().is_some_and(|id| id.starts_with("wait_")), "{task:#}");
        assert!(task["pollIntervalMs"].is_u64() && task.get("ttlMs").is_some(), "{task:#}");
    }
}
