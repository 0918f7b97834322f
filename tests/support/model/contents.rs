//! Translates Gemini's API to the Responses API, so that scripts are written once.

use serde_json::{Value, json};

use super::items::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

/// The conversation of a request, in the format of the Responses API.
pub(super) fn as_responses(body: &Value) -> Value {
    let contents = body["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    json!({ "input": contents.iter().flat_map(items).collect::<Vec<_>>() })
}

/// Each part of a content becomes an item.
fn items(content: &Value) -> Vec<Value> {
    let item = |part: &Value| match (part.get("functionResponse"), part.get("functionCall")) {
        (Some(answered), _) => {
            json!({ "type": "function_call_output", "output": answered["response"].to_string() })
        }
        (_, Some(call)) => json!({ "type": "function_call", "name": call["name"] }),
        _ => json!({ "type": "message", "role": content["role"], "content": part["text"] }),
    };
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().map(item).collect()
}

/// The single event of an answer with these items.
pub(super) fn completed(items: &[Value], number: usize) -> Value {
    let parts: Vec<Value> = items.iter().map(part).collect();
    json!({
        "responseId": format!("resp_{number}"),
        "modelVersion": "scripted",
        "candidates": [{ "index": 0, "finishReason": "STOP", "content": { "role": "model", "parts": parts } }],
        "usageMetadata": {
            "promptTokenCount": INPUT_TOKENS,
            "cachedContentTokenCount": CACHED_TOKENS,
            "candidatesTokenCount": OUTPUT_TOKENS,
            "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS,
        },
    })
}

fn part(item: &Value) -> Value {
    match item["type"].as_str() {
        Some("function_call") => {
            // An item's arguments are JSON text.
            let arguments =
                item["arguments"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
            json!({ "functionCall": { "id": item["call_id"], "name": item["name"], "args": arguments } })
        }
        _ => json!({ "text": item["content"][0]["text"] }),
    }
}
