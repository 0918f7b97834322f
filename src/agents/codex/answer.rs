//! The format in which Codex must answer, and the parser for its answers.
//!
//! Codex forwards the schema but does not check the answer. Answers to a caller's own schema are
//! checked elsewhere, because that may take long.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::model::Answer;

/// Used if an agent said nothing.
pub(crate) const NOTHING_SAID: &str = "the agent finished without a message";
const KEYS: [&str; 4] = ["summary", "deliverables", "open_questions", "next_actions"];

/// The schema of the default answer. Strict, because model providers refuse schemas with optional
/// or additional members.
pub(crate) fn answer_schema() -> Value {
    let texts = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": KEYS,
        "properties": {
            "summary": { "type": "string", "description": "The answer to the task, as long as it deserves: Markdown, the result first" },
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

/// The parsed last message.
#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    pub(super) summary: String,
    pub(super) answer: Option<Answer>,
    pub(super) warning: Option<String>,
}

/// Whose schema the agent was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Ours,
    Callers,
}

/// Parses the last message.
pub(super) fn read(message: &str, shape: Shape) -> Reply {
    let message = message.trim();
    let parsed = serde_json::from_str::<Value>(message).ok();
    let answer = parsed.as_ref().and_then(fits);
    let summary = match &answer {
        _ if message.is_empty() => NOTHING_SAID.to_owned(),
        Some(answer) => answer.summary.clone(),
        None => message.to_owned(),
    };
    let warning = match (shape, &answer) {
        (Shape::Callers, _) | (Shape::Ours, Some(_)) => None,
        (Shape::Ours, None) if message.is_empty() => {
            Some("the agent ended its turn without a final message; its log shows what it did".to_owned())
        }
        (Shape::Ours, None) => {
            let length = message.chars().count();
            Some(format!(
                "the answer does not have the requested format; its text ({length} characters) is used as the summary"
            ))
        }
    };
    Reply { summary, answer, warning }
}

/// The default answer, if the message has exactly its format.
fn fits(value: &Value) -> Option<Answer> {
    let object = value.as_object()?;
    let whole = object.len() == KEYS.len() && KEYS.iter().all(|key| object.contains_key(*key));
    whole.then(|| Answer::deserialize(value).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"summary":"did it","deliverables":[{"path":"a.txt","description":"a file"}],"open_questions":[],"next_actions":["look"]}"#;

    #[track_caller]
    fn check(message: &str, summary: &str, fits: bool) {
        let reply = read(message, Shape::Ours);
        assert_eq!((reply.summary.as_str(), reply.answer.is_some()), (summary, fits), "{reply:?}");
        // Whether it fits the caller's schema is checked elsewhere.
        let theirs = read(message, Shape::Callers);
        assert_eq!((theirs.summary.as_str(), theirs.warning), (summary, None));
    }

    #[test]
    fn an_answer_in_our_shape_is_taken_apart() {
        check(WHOLE, "did it", true);
        let reply = read(WHOLE, Shape::Ours);
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
        check(text, text, false);
        assert!(read(text, Shape::Ours).warning.unwrap().contains("34 characters"));
    }

    #[test]
    fn a_long_text_is_kept_whole() {
        let reply = read(&"é".repeat(5000), Shape::Ours);
        assert_eq!(reply.summary, "é".repeat(5000));
        assert!(reply.warning.unwrap().contains("5000 characters"));
    }

    #[test]
    fn silence_is_told() {
        check("", NOTHING_SAID, false);
        assert!(read("", Shape::Ours).warning.unwrap().contains("without a final message"));
    }
}
