//! An agent's events as text: one line each, saying what it was.

use std::fmt::Write;

use serde_json::Value;

use crate::text::plain;

const LONGEST: usize = 160;
/// What tells most about an event, in order.
const TELLING: [&str; 10] =
    ["command", "question", "text", "message", "summary", "query", "tool", "name", "thread_id", "session_id"];
/// Where an event keeps what it is about.
const WITHIN: [&str; 4] = ["item", "error", "part", "message"];

/// One line for each event.
pub(super) fn lines(events: &[Value]) -> String {
    events.iter().map(|event| line(event) + "\n").collect()
}

/// `item.completed command_execution: cargo test (exit 1)`.
fn line(event: &Value) -> String {
    let about = WITHIN.iter().find_map(|name| event.get(name).filter(|part| part.is_object()));
    let about = about.unwrap_or(event);
    let word = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = if event.get("question").is_some() { "question" } else { "event" };
    let mut line = word(event, "type").unwrap_or_else(|| kind.into());
    // Writing to a string cannot fail.
    if let Some(kind) = word(about, "type").filter(|kind| *kind != line) {
        let _ = write!(line, " {kind}");
    }
    if let Some(telling) = TELLING.iter().find_map(|name| word(about, name)).or_else(|| listed(about)) {
        let _ = write!(line, ": {telling}");
    }
    if let Some(code) = about.get("exit_code").and_then(Value::as_i64) {
        let _ = write!(line, " (exit {code})");
    }
    plain::line(&line, LONGEST)
}

/// Changed files, or the steps of a plan with a mark on those that are done; or the tokens of a turn.
fn listed(about: &Value) -> Option<String> {
    let all = |name: &str| about.get(name)?.as_array().map(Vec::as_slice);
    if let Some(changes) = all("changes") {
        let text = |change: &Value, name: &str| change[name].as_str().unwrap_or_default().to_owned();
        let changes =
            changes.iter().map(|change| format!("{} {}", text(change, "kind"), text(change, "path")));
        return Some(changes.collect::<Vec<_>>().join(", "));
    }
    if let Some(steps) = all("items") {
        let mark = |step: &Value| if step["completed"] == true { "x" } else { " " };
        let steps = steps
            .iter()
            .map(|step| format!("[{}] {}", mark(step), step["text"].as_str().unwrap_or_default()));
        return Some(steps.collect::<Vec<_>>().join(", "));
    }
    let used = about.get("usage")?;
    Some(format!("{} in, {} out", used["input_tokens"], used["output_tokens"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_event_is_one_line_that_says_what_it_was() {
        let events = [
            json!({ "type": "thread.started", "thread_id": "01a1" }),
            json!({ "type": "turn.started" }),
            json!({ "type": "item.completed", "item": { "id": "item_1", "type": "command_execution", "command": "cargo test\n-q", "exit_code": 1 } }),
            json!({ "type": "item.completed", "item": { "type": "file_change", "changes": [{ "path": "/p/a.rs", "kind": "add" }, { "path": "/p/b.rs", "kind": "update" }] } }),
            json!({ "type": "item.updated", "item": { "type": "todo_list", "items": [{ "text": "look", "completed": true }, { "text": "fix", "completed": false }] } }),
            json!({ "type": "turn.failed", "error": { "message": "boom" } }),
            json!({ "type": "turn.completed", "usage": { "input_tokens": 3, "output_tokens": 2 } }),
            json!({ "question": "which one?" }),
            json!({ "n": 1 }),
        ];
        insta::assert_snapshot!(lines(&events), @r"
        thread.started: 01a1
        turn.started
        item.completed command_execution: cargo test -q (exit 1)
        item.completed file_change: add /p/a.rs, update /p/b.rs
        item.updated todo_list: [x] look, [ ] fix
        turn.failed: boom
        turn.completed: 3 in, 2 out
        question: which one?
        event
        ");
    }
}
