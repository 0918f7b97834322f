//! No secret leaves: not in replies, not on the edge of a cut, not in progress.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

const SECRET: &str = "ghp_Ab3xYz9Qw2Ab3xYz9Qw2Ab3xYz9Qw2Ab3xYz";

#[test]
fn a_secret_in_the_output_is_taken_out_wherever_it_is_cut() {
    let env = TestEnv::new();
    // One endless line with a key at every place that a cut can fall on.
    let line = format!(
        "printf 'x%.0s' $(seq 1 500); printf ' '; for i in 1 2 3 4 5 6 7 8; do printf '{SECRET} '; done; printf 'y%.0s' $(seq 1 500)"
    );
    let task = env.submit(&line).task_id;
    env.await_final(&task);
    let mut client = Client::new(&env, Era::Session);
    for bytes in (900..1_200).step_by(13) {
        let ask = json!({ "task_id": task, "include_output": true, "max_output_bytes": bytes });
        let reply = client.result("tools/call", json!({ "name": "delegate_results", "arguments": ask }));
        let said = reply.to_string();
        for part in ["ghp_", "Ab3x", "Yz9Qw2"] {
            assert!(!said.contains(part), "{bytes}: {said}");
        }
    }
}

#[test]
fn a_secret_in_a_command_is_not_told_as_progress() {
    let env = TestEnv::new();
    let task = env.submit(&format!("export TOKEN={SECRET}; sleep 300")).task_id;
    let mut client = Client::new(&env, Era::Session);
    let wait = json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": 3 }, "_meta": { "progressToken": "p" } });
    let begun = client.begin("tools/call", wait);
    let told = client.wait_for("progress", |message| message["method"] == "notifications/progress");
    assert!(!told.to_string().contains("Ab3x"), "{told}");
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
    let answer: Value = client.answer(begun);
    assert!(!answer.to_string().contains("Ab3x"), "{answer}");
    let status = client.call("delegate_status", json!({})).unwrap();
    assert!(!status.to_string().contains("Ab3x"), "{status}");
}
