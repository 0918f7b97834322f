//! What holds on every connection, whoever the client is.

use serde_json::Value;

use crate::wire::{Call, Wire};

/// As much of a summary as every text shows of it.
const SHOWN: usize = 60;

#[track_caller]
pub fn check(wire: &Wire) {
    for call in wire.calls() {
        if let Some(result) = call.result.as_ref().filter(|result| result["resultType"] != "task") {
            fits_its_schema(wire, &call, result);
            says_it_twice(result);
        }
        rises(&wire.progress(&call), &call);
    }
    stops_with_the_answer(wire);
    refuses_nothing(wire);
    if wire.protocol() == "2026-07-28" {
        asks_nothing(wire);
    }
}

/// Structured content is there unless the call failed, and fits what the tool promised.
fn fits_its_schema(wire: &Wire, call: &Call, result: &Value) {
    let Some(content) = result.get("structuredContent") else {
        assert_eq!(result["isError"], true, "{}: no structured content: {result:#}", call.tool);
        return;
    };
    let tool = wire.tools().iter().find(|tool| tool["name"] == call.tool);
    let schema =
        tool.map(|tool| &tool["outputSchema"]).unwrap_or_else(|| panic!("`{}` is not listed", call.tool));
    let schema = jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{}: {error}", call.tool));
    let complaints: Vec<String> =
        schema.iter_errors(content).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(complaints.is_empty(), "{}: {complaints:#?} in {content:#}", call.tool);
}

/// Whoever reads only the text learns of the same tasks, in the same states, with the same outcome.
fn says_it_twice(result: &Value) {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    assert!(!text.is_empty(), "no text: {result:#}");
    let Some(content) = result.get("structuredContent") else { return };
    if let Ok(document) = serde_json::from_str::<Value>(text) {
        assert_eq!(&document, content, "`format: json` is the structured content");
        return;
    }
    let said = one_line(text);
    for task in tasks(content) {
        let state = task.get("state").or(task.get("status"));
        for fact in [task.get("task_id"), state, task.get("summary")].into_iter().flatten() {
            let fact = one_line(fact.as_str().unwrap_or_default());
            let fact: String = fact.trim_end_matches('…').chars().take(SHOWN).collect();
            assert!(said.contains(&fact), "`{fact}` is not in the text:\n{text}\n{content:#}");
        }
    }
}

/// Every object that describes a task.
fn tasks(value: &Value) -> Vec<&Value> {
    let own = value.get("task_id").is_some_and(Value::is_string).then_some(value);
    let inner: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    own.into_iter().chain(inner.into_iter().flat_map(tasks)).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
pub fn rises(progress: &[f64], of: &Call) {
    assert!(progress.is_sorted_by(|a, b| a < b), "{} sent progress {progress:?}", of.tool);
}

/// Progress carries the token of a call that is not answered yet.
fn stops_with_the_answer(wire: &Wire) {
    let mut open: Vec<Call> = wire.calls();
    for message in &wire.server {
        if message["method"] == "notifications/progress" {
            let token = &message["params"]["progressToken"];
            let known = open.iter().any(|call| call.params["_meta"]["progressToken"] == *token);
            assert!(known, "progress for nobody: {message}");
        } else if message.get("method").is_none() {
            open.retain(|call| call.id != message["id"]);
        }
    }
}

/// Everything that real clients ask for is answered: what a tool cannot do is its result, not an error of the protocol.
fn refuses_nothing(wire: &Wire) {
    let errors: Vec<&Value> = wire.server.iter().filter(|message| message.get("error").is_some()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Since that revision only clients make requests.
fn asks_nothing(wire: &Wire) {
    let asks = |message: &&Value| message.get("method").is_some() && message.get("id").is_some();
    let asked: Vec<&Value> = wire.server.iter().filter(asks).collect();
    assert!(asked.is_empty(), "{asked:#?}");
}
