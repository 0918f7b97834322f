//! The shape we ask Codex to answer in, and the reading of what came.
//!
//! Codex passes the schema on and never checks the answer, so we do.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::agents::cut;
use crate::model::{Answer, FailureCode, Fault};

/// Enough for a person; the whole text stays in the run directory.
const LONGEST_REASON: usize = 300;
/// Our own words, in place of those of an agent that had none.
pub(crate) const NOTHING_SAID: &str = "the agent finished without a message";
const KEYS: [&str; 4] = ["summary", "deliverables", "open_questions", "next_actions"];

/// The schema of the default answer: strict, because model providers refuse
/// schemas with optional or additional members.
pub(crate) fn answer_schema() -> Value {
    let texts = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": KEYS,
        "properties": {
            "summary": { "type": "string", "description": "What was done and what came of it, in a few sentences" },
            "deliverables": {
                "type": "array",
                "description": "Files made or changed that matter to the reader",
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["path", "description"],
                    "properties": {
                        "path": { "type": "string", "description": "Path, relative to the working directory" },
                        "description": { "type": "string", "description": "What it is" },
                    },
                },
            },
            "open_questions": texts("What could not be decided or found out"),
            "next_actions": texts("What the reader should do next"),
        },
    })
}

/// What the last message came to.
#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) summary: String,
    pub(super) answer: Option<Answer>,
    pub(super) warning: Option<String>,
    /// The caller's own schema is not met.
    pub(super) fault: Option<Fault>,
}

/// Reads the last message against the schema that was asked for: `schema` is
/// the caller's own, ours when absent.
pub(super) fn read(message: &str, schema: Option<&Value>) -> Reply {
    let message = message.trim();
    let parsed = serde_json::from_str::<Value>(message).ok();
    let answer = parsed.as_ref().and_then(fits);
    let summary = match &answer {
        _ if message.is_empty() => NOTHING_SAID.to_owned(),
        Some(answer) => answer.summary.clone(),
        None => message.to_owned(),
    };
    let fault = schema.and_then(|schema| violation(message, parsed.as_ref(), schema));
    let unfit = schema.is_none() && answer.is_none() && !message.is_empty();
    let warning = match message.is_empty() {
        true => schema
            .is_none()
            .then(|| "the agent ended its turn without a last message: its log shows what it did".to_owned()),
        false => unfit.then(|| {
            let length = message.chars().count();
            format!(
                "the answer is not in the shape that was asked for; its text ({length} characters) is the summary"
            )
        }),
    };
    Reply { summary, answer, warning, fault }
}

/// The default answer, when the message is exactly that.
fn fits(value: &Value) -> Option<Answer> {
    let object = value.as_object()?;
    let whole = object.len() == KEYS.len() && KEYS.iter().all(|key| object.contains_key(*key));
    whole.then(|| Answer::deserialize(value).ok()).flatten()
}

fn violation(message: &str, parsed: Option<&Value>, schema: &Value) -> Option<Fault> {
    let unmet = |why: String| {
        let why = cut(&why, LONGEST_REASON);
        Some(Fault::new(FailureCode::Schema, format!("the answer does not fit `output_schema`: {why}")).hint(
            "the answer as it came is in `last_message.json`; resume the thread and ask for the shape again",
        ))
    };
    let Some(value) = parsed else {
        return unmet(if message.is_empty() { "it is empty" } else { "it is not JSON" }.to_owned());
    };
    match jsonschema::validator_for(schema) {
        Ok(validator) => match validator.validate(value) {
            Ok(()) => None,
            Err(error) => unmet(format!("{error} at `{}`", error.instance_path())),
        },
        Err(error) => Some(
            Fault::new(
                FailureCode::Schema,
                format!("`output_schema` is not a schema: {}", cut(&error.to_string(), LONGEST_REASON)),
            )
            .hint("give a self-contained JSON Schema"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"summary":"did it","deliverables":[{"path":"a.txt","description":"a file"}],"open_questions":[],"next_actions":["look"]}"#;

    #[track_caller]
    fn check(message: &str, schema: Option<Value>, summary: &str, fits: bool, code: Option<FailureCode>) {
        let reply = read(message, schema.as_ref());
        assert_eq!(reply.summary, summary);
        assert_eq!(reply.answer.is_some(), fits, "{reply:?}");
        assert_eq!(reply.fault.map(|fault| fault.code), code);
    }

    #[test]
    fn an_answer_in_our_shape_is_taken_apart() {
        check(WHOLE, None, "did it", true, None);
        let reply = read(WHOLE, None);
        assert_eq!(reply.warning, None);
        assert_eq!(reply.answer.unwrap().next_actions, ["look"]);
    }

    #[test]
    fn our_schema_accepts_what_we_take_apart_and_nothing_else() {
        let validator = jsonschema::validator_for(&answer_schema()).unwrap();
        let whole: Value = serde_json::from_str(WHOLE).unwrap();
        assert!(validator.is_valid(&whole) && fits(&whole).is_some());
        for other in [
            json!({ "summary": "x" }),
            json!("text"),
            json!({ "summary": "x", "deliverables": [], "open_questions": [], "next_actions": [], "more": 1 }),
            json!({ "summary": "x", "deliverables": [1], "open_questions": [], "next_actions": [] }),
        ] {
            assert!(!validator.is_valid(&other) && fits(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn another_shape_than_ours_is_a_warning_with_the_text_kept() {
        let text = r#"{"status":"ok","summary":"did it"}"#;
        check(text, None, text, false, None);
        assert!(read(text, None).warning.unwrap().contains("34 characters"));
    }

    #[test]
    fn a_long_text_is_kept_whole() {
        let reply = read(&"é".repeat(5000), None);
        assert_eq!(reply.summary, "é".repeat(5000));
        assert!(reply.warning.unwrap().contains("5000 characters"));
    }

    #[test]
    fn silence_is_told() {
        check("", None, NOTHING_SAID, false, None);
        assert!(read("", None).warning.unwrap().contains("without a last message"));
    }

    #[test]
    fn the_callers_schema_decides_over_the_callers_answer() {
        let schema =
            json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
        let with = |message: &str, code| check(message, Some(schema.clone()), message, false, code);
        with(r#"{"n":1}"#, None);
        with(r#"{"n":"one"}"#, Some(FailureCode::Schema));
        with("not json at all", Some(FailureCode::Schema));
        check("", Some(schema), NOTHING_SAID, false, Some(FailureCode::Schema));
    }

    #[test]
    fn a_schema_that_is_none_is_the_callers_fault() {
        check("1", Some(json!({ "type": 7 })), "1", false, Some(FailureCode::Schema));
        check(
            "1",
            Some(json!({ "$ref": "https://example.com/a.json" })),
            "1",
            false,
            Some(FailureCode::Schema),
        );
    }
}
