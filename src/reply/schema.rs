//! JSON Schemas of all replies, generated from the types.
//!
//! `schemas/` holds golden copies; a test fails if one is stale, and rewrites it if `BLESS` is set.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::reply::apply::{Application, Diff, Discard};
use crate::reply::autopilot::AutopilotReport;
use crate::reply::client_setup::ClientSetup;
use crate::reply::codex_reply::CodexReply;
use crate::reply::diagnosis::{Diagnosis, Keys, Rebuilt};
use crate::reply::envelope::{Category, Envelope, Nothing};
use crate::reply::environments::{EnvironmentChange, EnvironmentList};
use crate::reply::execution_ack::{Ack, AckMeta};
use crate::reply::github_setup::GitHubSetup;
use crate::reply::inspection::Inspection;
use crate::reply::output_reply::Log;
use crate::reply::pinning::Pinning;
use crate::reply::registry_info::{Cancellation, Cleanup, RegistryMeta};
use crate::reply::report::Report;
use crate::reply::result_set::{ResultMeta, TaskResult};
use crate::reply::setup_reply::SetupReply;
use crate::reply::skills::SkillList;
use crate::reply::snapshot::{SnapshotMeta, StatusSnapshot};
use crate::reply::terminal::{TerminalList, TerminalOutput};
use crate::reply::wait_result::{WaitData, WaitMeta};

/// One schema: its name, the tools and commands that reply in it, and its type.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) used_by: &'static [&'static str],
    id: fn() -> String,
    make: fn(&mut SchemaGenerator) -> schemars::Schema,
}

pub(crate) const SCHEMAS: &[Named] = &[
    Named {
        name: "delegate_run",
        used_by: &["run", "resume", "demo", "delegate_resume"],
        id: || "delegator/delegate_run/v1".to_owned(),
        make: <Report as JsonSchema>::json_schema,
    },
    Named {
        name: "delegate_autopilot",
        used_by: &["autopilot"],
        id: || "delegator/delegate_autopilot/v1".to_owned(),
        make: <AutopilotReport as JsonSchema>::json_schema,
    },
    Named {
        name: "codex",
        used_by: &["do"],
        id: || "delegator/codex/v1".to_owned(),
        make: <CodexReply as JsonSchema>::json_schema,
    },
    Named {
        name: "execution_ack",
        used_by: &["_codex_local_run", "_codex_local_exec", "_codex_local_resume"],
        id: || Category::ExecutionAck.schema_id(),
        make: Envelope::<AckMeta, Ack>::json_schema,
    },
    Named {
        name: "status_snapshot",
        used_by: &["status", "delegate_status", "_codex_local_status"],
        id: || Category::StatusSnapshot.schema_id(),
        make: Envelope::<SnapshotMeta, StatusSnapshot>::json_schema,
    },
    Named {
        name: "wait_result",
        used_by: &["wait", "delegate_wait", "_codex_local_wait"],
        id: || Category::WaitResult.schema_id(),
        make: Envelope::<WaitMeta, WaitData>::json_schema,
    },
    Named {
        name: "result_set",
        used_by: &["results", "delegate_results", "_codex_local_results"],
        id: || Category::ResultSet.schema_id(),
        make: Envelope::<ResultMeta, TaskResult>::json_schema,
    },
    Named {
        name: "registry_info",
        used_by: &[
            "apply",
            "cancel",
            "diff",
            "discard",
            "delegate_apply",
            "cleanup",
            "doctor",
            "environments",
            "inspect",
            "logs",
            "pin",
            "setup",
            "terminal",
            "get_terminal_output",
            "inspect_output",
            "delegate_cancel",
            "_codex_local_cancel",
            "_codex_cleanup_registry",
        ],
        id: || Category::RegistryInfo.schema_id(),
        make: Envelope::<RegistryMeta, RegistryData>::json_schema,
    },
    Named {
        name: "error",
        used_by: &[],
        id: || "delegator/error/v1".to_owned(),
        make: Envelope::<Nothing, Nothing>::json_schema,
    },
];

/// Every kind of `registry_info` reply.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is used; each reply has its own type")]
enum RegistryData {
    Application(Application),
    Cancellation(Cancellation),
    Diff(Diff),
    Discard(Discard),
    Cleanup(Box<Cleanup>),
    Diagnosis(Diagnosis),
    EnvironmentChange(EnvironmentChange),
    EnvironmentList(EnvironmentList),
    GitHubSetup(GitHubSetup),
    Inspection(Box<Inspection>),
    Keys(Keys),
    Rebuilt(Rebuilt),
    Log(Log),
    Pinning(Pinning),
    TerminalOutput(Box<TerminalOutput>),
    TerminalList(TerminalList),
    Setup(SetupReply),
    ClientSetup(ClientSetup),
    SkillList(SkillList),
}

/// The schema of the given name, or of the tool or command of that name.
pub(crate) fn schema(name: &str) -> Option<Value> {
    let named = SCHEMAS.iter().find(|one| one.name == name || one.used_by.contains(&name))?;
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    // Many clients do not follow references.
    settings.inline_subschemas = true;
    let made = (named.make)(&mut settings.into_generator());
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": (named.id)(),
        "title": named.name,
    });
    if let (Some(document), Value::Object(fields)) = (document.as_object_mut(), made.to_value()) {
        document.extend(fields.into_iter().filter(|(key, _)| key != "title"));
    }
    simplify(&mut document);
    part(&mut document);
    Some(document)
}

/// An error has no `data` and no values for `meta`, so required fields of `meta` apply only to replies with
/// status `ok`.
fn part(document: &mut Value) {
    let meta = document.pointer_mut("/properties/meta").and_then(Value::as_object_mut);
    let Some(required) = meta.map(|meta| meta.shift_remove("required").unwrap_or_else(|| json!([]))) else {
        return;
    };
    document["if"] = json!({ "properties": { "status": { "const": "ok" } } });
    document["then"] = json!({ "properties": { "meta": { "required": required } }, "required": ["data"] });
    document["else"] = json!({ "required": ["error"] });
}

/// The schema of `T` as clients get it: what they validate, without descriptions, and with deep objects left
/// open. Every reply fits it, and it is small.
pub(crate) fn advertised<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut made = T::json_schema(&mut settings.into_generator()).to_value();
    simplify(&mut made);
    terse(&mut made, 0);
    let Value::Object(mut made) = made else { return Map::new() };
    for (_, around) in objects(&mut made).filter(|(name, _)| AROUND_DATA.contains(&name.as_str())) {
        terse(around, TOLD_DEPTH);
    }
    made
}

/// What every envelope has beside its data: listed by name only, because all tools repeat it.
const AROUND_DATA: [&str; 2] = ["meta", "error"];

fn objects(made: &mut Map<String, Value>) -> impl Iterator<Item = (&String, &mut Value)> {
    made.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
}

/// The same for a run's report. If the tool itself fails, an envelope is sent instead, so fields that only
/// one of the two has are not required. Two tools use it; it lists objects that not every run has by their
/// names only.
pub(crate) fn advertised_report() -> Map<String, Value> {
    advertised_beside_errors::<Report>()
}

/// The same for the report of an autopilot task, with all objects by their names only and without rare fields.
pub(crate) fn advertised_autopilot() -> Map<String, Value> {
    let mut made = advertised_beside_errors::<AutopilotReport>();
    if let Some(Value::Object(properties)) = made.get_mut("properties") {
        for rare in ["worktree", "progress", "deduplicated", "wait_exceeded", "notice"] {
            properties.shift_remove(rare);
        }
        properties.values_mut().for_each(|property| terse(property, TOLD_DEPTH));
    }
    made
}

fn advertised_beside_errors<T: JsonSchema>() -> Map<String, Value> {
    let mut made = advertised::<T>();
    let required = made.insert("required".into(), json!(["status"])).unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|all| all.iter().any(|one| one == name));
    if let Some(Value::Object(properties)) = made.get_mut("properties") {
        for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
            terse(property, TOLD_DEPTH);
        }
    }
    for (field, list, also) in [("status", "enum", "error"), ("error", "type", "object")] {
        if let Some(Value::Array(list)) = made.get_mut("properties").and_then(|all| all[field].get_mut(list))
        {
            list.push(also.into());
        }
    }
    made
}

/// The reply of `codex`. An argument that is refused gets an envelope instead, so no field is required.
pub(crate) fn advertised_codex() -> Map<String, Value> {
    let mut made = advertised::<CodexReply>();
    made.shift_remove("required");
    // The objects inside are in the shipped schema.
    for (_, property) in objects(&mut made) {
        terse(property, TOLD_DEPTH);
    }
    made
}

/// How deeply the fields of an advertised schema are described.
const TOLD_DEPTH: usize = 2;

fn terse(schema: &mut Value, depth: usize) {
    let Some(fields) = schema.as_object_mut() else { return };
    for words in ["description", "title", "pattern", "format"] {
        fields.shift_remove(words);
    }
    // Our counts are never negative, and there are dozens of them.
    fields.shift_remove("minimum");
    if let Some(Value::Array(shapes)) = fields.shift_remove("anyOf") {
        fields.extend(any_of(&shapes));
    }
    if depth >= TOLD_DEPTH && fields.contains_key("properties") {
        fields.retain(|name, _| name == "type");
        return;
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(|property| terse(property, depth + 1));
    }
    if let Some(items) = fields.get_mut("items") {
        terse(items, depth + 1);
    }
}

/// One object schema that every one of these shapes fits.
fn any_of(shapes: &[Value]) -> Map<String, Value> {
    let mut types: Vec<Value> = shapes.iter().map(|shape| shape["type"].clone()).collect();
    types.dedup();
    let mut properties = Map::new();
    for (name, property) in shapes.iter().filter_map(|shape| shape["properties"].as_object()).flatten() {
        properties.entry(name).or_insert_with(|| property.clone());
    }
    let mut fields = Map::new();
    fields.insert("type".into(), if types.len() == 1 { types.remove(0) } else { types.into() });
    if !properties.is_empty() {
        fields.insert("properties".into(), properties.into());
    }
    fields
}

/// Removes what only our own types need: integer formats, which some clients warn about, and `null` for
/// fields that are absent instead.
fn simplify(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("format").is_some_and(|format| format != "date-time") {
                fields.shift_remove("format");
            }
            let required: Vec<Value> =
                fields.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                for (name, property) in properties.iter_mut() {
                    if !required.iter().any(|one| one == name) {
                        drop_null(property);
                    }
                }
            }
            fields.values_mut().for_each(simplify);
        }
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn drop_null(property: &mut Value) {
    let Some(fields) = property.as_object_mut() else { return };
    let single = fields.get("type").and_then(Value::as_array).and_then(|types| {
        let named: Vec<&Value> = types.iter().filter(|one| *one != "null").collect();
        (named.len() == 1 && types.len() == 2).then(|| named[0].clone())
    });
    if let Some(single) = single {
        fields.insert("type".to_owned(), single);
    }
    let alternatives = fields.get("anyOf").and_then(Value::as_array);
    let only = alternatives.filter(|all| all.len() == 2).and_then(|all| {
        all.iter()
            .any(|one| one["type"] == "null")
            .then(|| all.iter().find(|one| one["type"] != "null").cloned())?
    });
    if let Some(Value::Object(only)) = only {
        fields.shift_remove("anyOf");
        for (key, value) in only {
            // The field's own description is more specific than its type's.
            fields.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test asks whether to write")]
    fn the_shipped_schemas_are_those_of_the_types() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
        for named in SCHEMAS {
            let path = dir.join(format!("{}.json", named.name));
            let made = format!("{:#}\n", schema(named.name).unwrap());
            if std::env::var_os("BLESS").is_some() {
                std::fs::create_dir_all(&dir).unwrap();
                std::fs::write(&path, &made).unwrap();
            }
            let kept = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(kept == made, "{} is stale: run the tests once with BLESS=1", path.display());
        }
    }

    #[test]
    fn every_schema_is_one_and_is_found_by_its_users() {
        for named in SCHEMAS {
            let made = schema(named.name).unwrap();
            assert!(jsonschema::meta::is_valid(&made), "{made:#}");
            assert_eq!(made["type"], "object", "{}", named.name);
            let text = made.to_string();
            for unwanted in ["$ref", "$defs", "uint", "int32", "double"] {
                assert!(!text.contains(unwanted), "{}: {unwanted}", named.name);
            }
            for user in named.used_by {
                assert_eq!(schema(user).unwrap(), made);
            }
        }
        assert_eq!(schema("nothing"), None);
    }
}
