//! Tests the rules that every tool must follow so that every client accepts it.

use serde_json::{Value, json};

use crate::config::{Config, ToolProfile};
use crate::failure::{Code, Exit, Failure};
use crate::mcp::protocol::describe;
use crate::mcp::tools::{TOOLS, listed};
use crate::model::Timestamp;
use crate::reply::{Category, Envelope, Stamp};

/// The list as clients receive it.
fn list(profile: ToolProfile) -> Vec<Value> {
    let config = Config::default();
    listed(profile).map(|tool| serde_json::to_value(describe::tool(tool, &config)).unwrap()).collect()
}

/// The bytes of the whole list, and of the part that a model reads.
fn sizes(tools: &[Value]) -> (usize, usize) {
    let read = |tool: &Value| {
        json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] })
            .to_string()
            .len()
    };
    (json!({ "tools": tools }).to_string().len(), tools.iter().map(read).sum())
}

#[test]
fn the_list_is_as_it_was_and_within_its_budget() {
    let default = list(ToolProfile::Default);
    let all = list(ToolProfile::All);
    let (whole, read) = sizes(&default);
    let (all_whole, all_read) = sizes(&all);
    println!("tools/list: default whole={whole}, as read={read}; all whole={all_whole}, as read={all_read}");
    // Ten tools share the first two budgets: the rest is for those that do not exist yet.
    assert!(whole <= 28_000 && read <= 13_000, "default: {whole}, {read}");
    assert!(all_whole <= 80_000 && all_read <= 30_000, "all: {all_whole}, {all_read}");
    insta::assert_snapshot!("tools", format!("{:#}", Value::Array(all)));
}

#[test]
fn only_the_primitives_list_the_format() {
    for tool in list(ToolProfile::All) {
        let name = tool["name"].as_str().unwrap();
        let lists = tool["inputSchema"]["properties"].get("format").is_some();
        assert_eq!(lists, name.starts_with('_'), "{name}");
    }
}

#[test]
fn names_and_descriptions_fit_every_client() {
    for tool in TOOLS {
        let plain =
            tool.name.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
        assert!(plain && tool.name.len() <= 40, "{}", tool.name);
        let most = if tool.name.starts_with('_') { 200 } else { 300 };
        assert!(tool.about.chars().count() <= most, "{}: {}", tool.name, tool.about.chars().count());
        // Some clients show no more than this: a whole sentence that says what the tool does.
        let first: String = tool.about.chars().take(155).collect();
        assert!(first.contains(". ") || first.contains(": "), "{}: {first}", tool.name);
        assert!(!tool.about.starts_with("Like "), "{}: the likeness comes later", tool.name);
        assert!(!tool.title.is_empty() && !tool.search_hint.is_empty(), "{}", tool.name);
    }
}

#[test]
fn input_schemas_use_nothing_that_some_client_refuses() {
    for tool in list(ToolProfile::All) {
        let name = tool["name"].as_str().unwrap();
        let input = &tool["inputSchema"];
        assert!(jsonschema::meta::is_valid(input), "{name}");
        assert_eq!(
            (&input["type"], &input["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{name}"
        );
        assert!(input["properties"].as_object().unwrap().len() < 15, "{name}");
        walk(input, 0, &mut |schema, depth| {
            assert!(depth <= 2, "{name}: too deep");
            for word in [
                "$ref",
                "$defs",
                "oneOf",
                "anyOf",
                "allOf",
                "not",
                "if",
                "const",
                "nullable",
                "patternProperties",
                "format",
            ] {
                assert_eq!(schema.get(word), None, "{name}: {word}");
            }
            assert!(schema["type"].is_string(), "{name}: a type that is no single word: {schema}");
            assert_ne!(schema.get("default"), Some(&Value::Null), "{name}");
            if schema["type"] == "array" {
                assert!(schema["items"]["type"].is_string(), "{name}: {schema}");
            }
            for key in schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys()) {
                let plain =
                    key.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
                assert!(plain && key.len() <= 40, "{name}: {key}");
            }
        });
    }
}

fn walk(schema: &Value, depth: usize, visit: &mut impl FnMut(&Value, usize)) {
    visit(schema, depth);
    for property in schema["properties"].as_object().into_iter().flat_map(|fields| fields.values()) {
        walk(property, depth + 1, visit);
    }
    if let Some(items) = schema.get("items") {
        walk(items, depth + 1, visit);
    }
}

#[test]
fn output_schemas_are_objects_without_references() {
    for tool in list(ToolProfile::All) {
        let output = &tool["outputSchema"];
        assert!(jsonschema::meta::is_valid(output), "{}", tool["name"]);
        assert_eq!(output["type"], "object", "{}", tool["name"]);
        for unwanted in ["$ref", "$defs", "anyOf", "oneOf"] {
            assert!(!output.to_string().contains(&format!("\"{unwanted}\"")), "{}: {unwanted}", tool["name"]);
        }
    }
}

#[test]
fn an_error_envelope_fits_what_every_tool_advertises() {
    for tool in TOOLS {
        let stamp = Stamp {
            tool: tool.name,
            category: tool.category.unwrap_or(Category::ExecutionAck),
            request_id: "0".into(),
            at: Timestamp::from_millis(0),
        };
        let failure =
            Failure::new(Code::Validation, Exit::BadInput, "no", Some("so".into())).about("field", "task");
        let envelope = serde_json::to_value(Envelope::error(stamp, &failure)).unwrap();
        let told = jsonschema::validate(&Value::Object((tool.output)()), &envelope);
        assert!(told.is_ok(), "{}: {told:?}", tool.name);
    }
}
