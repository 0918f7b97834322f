//! Checks every tool reply against what the server advertised.
//!
//! Tests that read messages from a server pass each of them to [`Advertised::check`]; other
//! messages are ignored. Structured content must match the short schema from `tools/list` and the
//! full one in `schemas/`, and the text must state the same facts (`facts`).

use std::collections::HashMap;
use std::sync::OnceLock;
use std::{fs, path::Path};

use jsonschema::Validator;
use serde_json::Value;

use super::facts;

/// The schema of every tool's structured content, as listed by the server.
pub struct Advertised {
    schemas: HashMap<String, Validator>,
}

impl Advertised {
    /// `listed` is the result of `tools/list`.
    #[track_caller]
    pub fn of(listed: &Value) -> Advertised {
        let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("no tools: {listed}"));
        let schema = |tool: &Value| {
            let name = tool["name"].as_str().unwrap_or_default().to_owned();
            let schema = jsonschema::validator_for(&tool["outputSchema"]);
            (name.clone(), schema.unwrap_or_else(|error| panic!("{name}: {error}")))
        };
        Advertised { schemas: tools.iter().map(schema).collect() }
    }

    /// Checks the tool reply in `message`, if it contains one.
    #[track_caller]
    pub fn check(&self, message: &Value) {
        let result = &message["result"];
        // A polled wait contains its reply.
        for result in [result, &result["result"]] {
            if is_reply(result) {
                self.check_reply(named(result), result);
            }
        }
    }

    /// Checks a reply of `tool`.
    #[track_caller]
    pub fn check_reply(&self, tool: &str, result: &Value) {
        let schema = self.schemas.get(tool).unwrap_or_else(|| panic!("`{tool}` is not listed: {result:#}"));
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let content = result.get("structuredContent");
        let content = content.unwrap_or_else(|| panic!("{tool}: no structured content: {result:#}"));
        let complaints: Vec<String> =
            schema.iter_errors(content).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(complaints.is_empty(), "{tool}: {complaints:#?} in {content:#}");
        fits_shipped(tool, content, result["isError"] == true);
        if let Err(disagreement) = facts::agree(tool, text, content) {
            panic!("{disagreement}, in the text\n{text}\nbeside {content:#}");
        }
    }
}

/// Checks the structured content of `tool` against the shipped schema.
#[track_caller]
fn fits_shipped(tool: &str, content: &Value, is_error: bool) {
    // The report of a run is the only document that does not state its kind.
    let id = match content["schema_id"].as_str() {
        Some(_) if is_error => "delegator/error/v1",
        Some(id) => id,
        None if tool == "codex" => "delegator/codex/v1",
        None => "delegator/delegate_run/v1",
    };
    let schema = shipped().get(id).unwrap_or_else(|| panic!("{tool}: no schema `{id}` is shipped"));
    let complaints: Vec<String> =
        schema.iter_errors(content).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(complaints.is_empty(), "{tool}, {id}: {complaints:#?} in {content:#}");
}

/// All schemas in `schemas/` by id.
fn shipped() -> &'static HashMap<String, Validator> {
    static SHIPPED: OnceLock<HashMap<String, Validator>> = OnceLock::new();
    SHIPPED.get_or_init(|| {
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas")).expect("schemas");
        let read = |file: fs::DirEntry| {
            let text = fs::read_to_string(file.path()).expect("a schema");
            let schema: Value = serde_json::from_str(&text).expect("JSON");
            let id = schema["$id"].as_str().expect("an id").to_owned();
            (id, jsonschema::validator_for(&schema).expect("a schema"))
        };
        files.map(|file| read(file.expect("a file"))).collect()
    })
}

/// Checks all messages of a server on a connection on which `tools/list` was called.
#[track_caller]
pub fn check(messages: &[Value]) {
    let listed = messages.iter().map(|message| &message["result"]).find(|result| result["tools"].is_array());
    let advertised = Advertised::of(listed.expect("the tools"));
    messages.iter().for_each(|message| advertised.check(message));
}

fn is_reply(result: &Value) -> bool {
    result["content"].is_array()
        && (result.get("structuredContent").is_some() || result.get("isError").is_some())
}

/// The tool of a reply: its text begins with the name, and its envelope has a member for it. A
/// run's report has neither if its text is JSON.
fn named(result: &Value) -> &str {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let first = text.lines().next().filter(|_| !text.starts_with('{'));
    first.or(result["structuredContent"]["tool"].as_str()).unwrap_or("delegate_run")
}
