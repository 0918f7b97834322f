//! Translates the Messages API to the Responses API, so that scripts are written once.

use serde_json::{Value, json};

use super::items::{INPUT_TOKENS, OUTPUT_TOKENS};

/// The conversation of a request, in the format of the Responses API.
pub(super) fn as_responses(body: &Value) -> Value {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    json!({ "input": messages.iter().flat_map(items).collect::<Vec<_>>() })
}

/// A message's content is a text or a list of blocks; each becomes an item.
fn items(message: &Value) -> Vec<Value> {
    let item = |block: &Value| match block["type"].as_str() {
        Some("tool_result") => json!({ "type": "function_call_output", "output": block["content"] }),
        Some("tool_use") => json!({ "type": "function_call", "name": block["name"] }),
        _ => json!({ "type": "message", "role": message["role"], "content": block["text"] }),
    };
    match &message["content"] {
        Value::Array(blocks) => blocks.iter().map(item).collect(),
        text => vec![json!({ "type": "message", "role": message["role"], "content": text })],
    }
}

/// The events of an answer with these items.
pub(super) fn completed(items: &[Value], number: usize) -> Vec<Value> {
    let usage = |written: u64| json!({ "input_tokens": INPUT_TOKENS, "output_tokens": written });
    let message = json!({
        "id": format!("msg_{number}"),
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage(1),
    });
    let calls = items.iter().any(|item| item["type"] == "function_call");
    let stop = json!({ "stop_reason": if calls { "tool_use" } else { "end_turn" }, "stop_sequence": null });
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    events.extend(items.iter().enumerate().flat_map(|(index, item)| block(index, item)));
    events.push(json!({ "type": "message_delta", "delta": stop, "usage": usage(OUTPUT_TOKENS) }));
    events.push(json!({ "type": "message_stop" }));
    events
}

/// An item as the events of one content block.
fn block(index: usize, item: &Value) -> [Value; 3] {
    let (start, delta) = match item["type"].as_str() {
        Some("function_call") => (
            json!({ "type": "tool_use", "id": item["call_id"], "name": item["name"], "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": item["arguments"] }),
        ),
        _ => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": item["content"][0]["text"] }),
        ),
    };
    [
        json!({ "type": "content_block_start", "index": index, "content_block": start }),
        json!({ "type": "content_block_delta", "index": index, "delta": delta }),
        json!({ "type": "content_block_stop", "index": index }),
    ]
}
