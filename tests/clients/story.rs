//! The story that the SDK drivers play (`drivers/story.py`, `drivers/story.mjs`), and how it has to end.

use serde_json::{Value, json};

use crate::wire::Wire;
use crate::world::World;

/// Holds what the driver says that it received against the story, and against what was sent.
#[track_caller]
pub fn check(world: &World, received: &Value, protocol: &str) {
    let wire = world.conversation();
    assert_eq!(wire.protocol(), protocol);
    let names: Vec<&str> = list(&received["tools"]).iter().filter_map(|tool| tool["name"].as_str()).collect();
    for tool in ["run", "resume", "status", "wait", "results", "cancel"] {
        assert!(names.contains(&format!("delegate_{tool}").as_str()), "{names:?}");
    }
    let calls = list(&received["calls"]);
    arrived(&wire, calls);
    let [started, waited, results, as_json, failed, long, early, cancelled, status, unknown] = calls else {
        panic!("{} calls", calls.len());
    };

    assert_eq!(content(started)["status"], "working");
    let task = &content(started)["task_id"];
    let data = &content(waited)["data"];
    assert_eq!((&data["task_id"], &data["state"]), (task, &json!("completed")));
    assert_eq!(list(&data["deliverables"]).len(), 2, "{data:#}");
    assert!(list(&waited["progress"]).len() >= 2, "{:#}", waited["progress"]);
    assert_eq!(content(results)["data"]["summary"], data["summary"]);
    assert_eq!(content(as_json)["data"]["summary"], data["summary"]);

    assert_eq!(content(failed)["status"], "failed");
    let long = &content(long)["task_id"];
    let data = &content(early)["data"];
    assert_eq!((&data["task_id"], &data["state"]), (long, &json!("working")));
    assert_eq!(data["wait_exceeded"], true, "{data:#}");
    let data = &content(cancelled)["data"];
    assert_eq!((&data["task_id"], &data["state"]), (long, &json!("cancelled")));

    let listed = content(status).to_string();
    for task in [task, long] {
        assert!(listed.contains(task.as_str().unwrap_or("no task")), "{listed}");
    }
    // Only what could not be answered is an error; a failed run is an answer.
    for (at, call) in calls.iter().enumerate() {
        assert_eq!(call["result"]["isError"] == true, at == 9, "{call:#}");
    }
    let text = unknown["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("T-local-000000000000") && text.contains("delegate_status"), "{text}");
}

/// The client handed to its user what the server had sent.
fn arrived(wire: &Wire, received: &[Value]) {
    let sent = wire.calls();
    assert_eq!(sent.len(), received.len());
    for (sent, received) in sent.iter().zip(received) {
        let result = sent.result.as_ref().unwrap_or_else(|| panic!("no answer to {}", sent.tool));
        for part in ["structuredContent", "content"] {
            let (there, here) = (result.get(part), received["result"].get(part));
            assert_eq!(here.map(as_numbers), there.map(as_numbers), "{}", sent.tool);
        }
        let progress: Vec<f64> = list(&received["progress"]).iter().filter_map(Value::as_f64).collect();
        assert_eq!(progress, wire.progress(sent), "{}", sent.tool);
    }
}

/// The same, whether a whole number was written as `2` or as `2.0`.
fn as_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(values) => values.iter().map(as_numbers).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), as_numbers(value))).collect()
        }
        other => other.clone(),
    }
}

#[track_caller]
fn content(call: &Value) -> &Value {
    call["result"].get("structuredContent").unwrap_or_else(|| panic!("no structured content: {call:#}"))
}

#[track_caller]
pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}
