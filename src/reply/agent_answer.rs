//! The agent's answer in a reply: its summary as one line, the whole of it, and the files that it names.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::reading::{AgentAnswer, Results};
use crate::reply::task_facts::Facts;
use crate::text::plain;

/// The longest summary of a reply that has the whole answer beside it.
const LINE: usize = 200;

/// The type of an answer. Some clients complain about a field of any type.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "object", "array", "number", "boolean", "null"] })
}

/// A file that the agent says it created or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Deliverable {
    /// Where it is, as the agent wrote it.
    pub(crate) path: String,
    /// What it is.
    pub(crate) description: String,
    /// It is not on disk.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) missing: bool,
}

impl Deliverable {
    pub(super) fn all(results: &Results, facts: &Facts) -> Vec<Self> {
        let missing = results.missing.iter().copied().chain(std::iter::repeat(false));
        let named = facts.answer.deliverables.iter().zip(missing);
        let deliverable = |(one, missing): (&crate::model::Deliverable, bool)| Self {
            path: one.path.clone(),
            description: one.description.clone(),
            missing,
        };
        named.map(deliverable).collect()
    }

    pub(super) fn line(&self) -> String {
        let Self { path, description, missing } = self;
        let missing = if *missing { " (not on disk)" } else { "" };
        format!("{path}: {description}{missing}")
    }
}

/// The answer to a caller's schema, parsed; and its length if it does not fit.
pub(super) fn parsed(results: &Results) -> (Option<Value>, Option<u64>) {
    match &results.answer {
        Some(AgentAnswer::Fits(answer)) => (Some(shown(answer)), None),
        Some(AgentAnswer::TooLong { bytes }) => (None, Some(*bytes)),
        None => (None, None),
    }
}

/// The summary. An answer to a caller's schema is its own `summary`, or its beginning.
pub(super) fn summary(results: &Results, facts: &Facts) -> String {
    match &results.answer {
        None => facts.summary.clone(),
        Some(AgentAnswer::TooLong { .. }) => plain::line(&facts.summary, LINE),
        Some(AgentAnswer::Fits(answer)) => match answer.get("summary").and_then(Value::as_str) {
            Some(summary) => plain::text(summary),
            None => plain::line(&facts.summary, LINE),
        },
    }
}

/// One line, and the whole answer if the line is not all of it.
pub(super) fn summary_and_answer(results: &Results, facts: &Facts) -> (String, Option<Value>) {
    let summary = summary(results, facts);
    if !facts.reported {
        return (summary, None);
    }
    let line = plain::line(&summary, LINE);
    let whole = (line != summary).then_some(summary);
    let (parsed, _) = parsed(results);
    (line, parsed.or(whole.map(Value::String)))
}

/// The answer as the text shows it.
pub(super) fn body(answer: &Value) -> String {
    answer.as_str().map_or_else(|| format!("{answer:#}"), str::to_owned)
}

fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain::text(text)),
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, one)| (plain::text(name), shown(one))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}
