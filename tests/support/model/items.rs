//! Output items of the Responses API and their events.
//!
//! Ids are derived from the request number, which is unique per server: Codex matches calls and
//! outputs by them.

use serde_json::{Value, json};

/// Input tokens reported by every response.
pub const INPUT_TOKENS: u64 = 1200;
/// The cached part of [`INPUT_TOKENS`].
pub const CACHED_TOKENS: u64 = 200;
/// Output tokens reported by every response.
pub const OUTPUT_TOKENS: u64 = 34;

pub(super) fn message(text: &str, number: usize) -> Value {
    json!({
        "type": "message",
        "id": format!("msg_{number}"),
        "role": "assistant",
        "status": "completed",
        "content": [{ "type": "output_text", "text": text, "annotations": [] }],
    })
}

/// A tool call with JSON arguments, sent as text.
pub(super) fn function_call(tool: &str, arguments: &Value, number: usize) -> Value {
    json!({
        "type": "function_call",
        "id": format!("fc_{number}"),
        "call_id": format!("call_{number}"),
        "name": tool,
        "arguments": arguments.to_string(),
        "status": "completed",
    })
}

/// A tool call with free text, like `apply_patch`.
pub(super) fn text_call(tool: &str, input: &str, number: usize) -> Value {
    json!({
        "type": "custom_tool_call",
        "id": format!("ctc_{number}"),
        "call_id": format!("call_{number}"),
        "name": tool,
        "input": input,
        "status": "completed",
    })
}

/// A patch that adds one file.
pub(super) fn patch(path: &str, body: &str) -> String {
    let added: String = body.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch")
}

/// The events of a successful response.
pub(super) fn completed(items: &[Value], number: usize) -> Vec<Value> {
    let mut events = vec![created(number)];
    for (index, item) in items.iter().enumerate() {
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item }));
    }
    let mut response = response("completed", number);
    response["output"] = items.into();
    response["usage"] = json!({
        "input_tokens": INPUT_TOKENS,
        "input_tokens_details": { "cached_tokens": CACHED_TOKENS },
        "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": { "reasoning_tokens": 5 },
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    });
    events.push(json!({ "type": "response.completed", "response": response }));
    events
}

/// The events of a response that the provider fails.
pub(super) fn failed(code: &str, message: &str, number: usize) -> Vec<Value> {
    let mut response = response("failed", number);
    response["error"] = json!({ "code": code, "message": message });
    vec![created(number), json!({ "type": "response.failed", "response": response })]
}

fn created(number: usize) -> Value {
    json!({ "type": "response.created", "response": response("in_progress", number) })
}

fn response(status: &str, number: usize) -> Value {
    json!({ "id": format!("resp_{number}"), "object": "response", "status": status, "output": [] })
}
