//! JSON Schemas of every reply, made from the types themselves.
//!
//! Golden copies are kept in `schemas/`; a test fails when one is stale, and
//! writes it anew when `BLESS` is set.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::diagnosis::{Diagnosis, Keys, Rebuilt};
use super::envelope::{Category, Envelope, Nothing};
use super::log::Log;
use super::registry_info::{Cancellation, Cleanup, RegistryMeta};
use super::report::Report;
use super::result_set::{ResultMeta, TaskResult};
use super::snapshot::{SnapshotMeta, StatusSnapshot};
use super::wait_result::{WaitData, WaitMeta};

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
        name: "status_snapshot",
        used_by: &["status", "delegate_status"],
        id: || Category::StatusSnapshot.schema_id(),
        make: Envelope::<SnapshotMeta, StatusSnapshot>::json_schema,
    },
    Named {
        name: "wait_result",
        used_by: &["wait", "delegate_wait"],
        id: || Category::WaitResult.schema_id(),
        make: Envelope::<WaitMeta, WaitData>::json_schema,
    },
    Named {
        name: "result_set",
        used_by: &["results", "delegate_results"],
        id: || Category::ResultSet.schema_id(),
        make: Envelope::<ResultMeta, TaskResult>::json_schema,
    },
    Named {
        name: "registry_info",
        used_by: &["cancel", "cleanup", "doctor", "logs", "delegate_cancel", "_codex_cleanup_registry"],
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

/// Everything that a `registry_info` may be about.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it is there for its schema; each reply is made from its own type")]
enum RegistryData {
    Cancellation(Cancellation),
    Cleanup(Cleanup),
    Diagnosis(Diagnosis),
    Keys(Keys),
    Rebuilt(Rebuilt),
    Log(Log),
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
    Some(document)
}

/// Takes out what only our own types care about: the width of numbers, which
/// some clients warn of, and `null` for fields that are absent instead.
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
            // The field's own description says more than its type's.
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
