//! Why a turn failed, from the message Codex gives with it.
//!
//! Only that message is read, never the model's own prose: a model that writes
//! about quotas has not met one.

use serde_json::Value;

use crate::agents::cut;
use crate::model::{FailureCode, Fault};

const LONGEST_MESSAGE: usize = 1000;

/// Words of a failure, what it is, and what to try next. The first row that
/// fits decides; words are compared in lower case and as whole words.
const CAUSES: &[(&str, FailureCode, &str)] = &[
    ("usage limit", FailureCode::RateLimited, "wait until the limit resets, or use another account or model"),
    (
        "insufficient_quota",
        FailureCode::RateLimited,
        "check the plan and billing of the account that Codex uses",
    ),
    ("quota exceeded", FailureCode::RateLimited, "check the plan and billing of the account that Codex uses"),
    ("rate limit", FailureCode::RateLimited, "try again in a while, or with fewer runs at once"),
    ("rate_limit", FailureCode::RateLimited, "try again in a while, or with fewer runs at once"),
    ("rate_limit_exceeded", FailureCode::RateLimited, "try again in a while, or with fewer runs at once"),
    ("too many requests", FailureCode::RateLimited, "try again in a while, or with fewer runs at once"),
    ("429", FailureCode::RateLimited, "try again in a while, or with fewer runs at once"),
    ("401", FailureCode::Auth, LOG_IN),
    ("unauthorized", FailureCode::Auth, LOG_IN),
    ("not logged in", FailureCode::Auth, LOG_IN),
    ("incorrect api key", FailureCode::Auth, LOG_IN),
    ("invalid_api_key", FailureCode::Auth, LOG_IN),
    (
        "context window",
        FailureCode::ToolError,
        "start a new run instead of resuming this thread, or ask for less",
    ),
    ("high demand", FailureCode::ToolError, "the model's service is overloaded: resume the thread later"),
    ("stream disconnected", FailureCode::ToolError, "resume the thread to go on from here"),
    ("connection failed", FailureCode::ToolError, "check the network and the model provider's address"),
];

const LOG_IN: &str =
    "run `codex login`, or hand over a key with `--env CODEX_API_KEY` (configuration key `env_allow`)";

/// The failure that `turn.failed` reports.
pub(super) fn fault(message: &str) -> Fault {
    let message = reduced(message);
    if message.is_empty() {
        return Fault::new(FailureCode::ToolError, "codex reported a failed turn without a reason");
    }
    if let Some(name) = missing_variable(&message) {
        let hint =
            format!("hand it over with `--env {name}`; the configuration key `env_allow` must list it");
        return Fault::new(FailureCode::Auth, message).hint(hint);
    }
    let lower = message.to_lowercase();
    match CAUSES.iter().find(|(words, _, _)| has_words(&lower, words)) {
        Some((_, code, hint)) => Fault::new(*code, message).hint(*hint),
        None => Fault::new(FailureCode::ToolError, message),
    }
}

/// A message without the JSON that a server wrapped around it.
///
/// Some failures carry a whole error body, alone or after a status line.
pub(super) fn reduced(message: &str) -> String {
    let message = message.trim();
    let reduced = match message.find('{').and_then(|at| Some((at, body_message(&message[at..])?))) {
        Some((at, (inner, end))) => format!("{}{inner}{}", &message[..at], &message[at + end..]),
        None => message.to_owned(),
    };
    cut(&reduced, LONGEST_MESSAGE)
}

/// The message inside an error body, and where the body ends.
fn body_message(text: &str) -> Option<(String, usize)> {
    let mut bodies = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let body = bodies.next()?.ok()?;
    let error = body.get("error").unwrap_or(&body);
    let inner = error.get("message").or_else(|| error.get("detail")).unwrap_or(error).as_str()?;
    Some((inner.to_owned(), bodies.byte_offset()))
}

/// The name in ``Missing environment variable: `NAME`.``
fn missing_variable(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("issing environment variable: `")?;
    rest.split('`').next().filter(|name| !name.is_empty())
}

fn has_words(text: &str, words: &str) -> bool {
    let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    text.match_indices(words).any(|(at, found)| {
        edge(text[..at].chars().next_back()) && edge(text[at + found.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(message: &str, code: FailureCode, expected: &str) {
        let fault = fault(message);
        assert_eq!((fault.code, fault.message.as_str()), (code, expected));
    }

    #[test]
    fn limits_of_the_account_are_told_apart_from_failures() {
        for message in [
            "exceeded retry limit, last status: 429 Too Many Requests",
            "You’ve hit your usage limit. Try again at 3:33 AM.",
            "rate limit exceeded: Please try again in 1s.",
            "Quota exceeded. Check your plan and billing details.",
            "error: insufficient_quota",
        ] {
            check(message, FailureCode::RateLimited, message);
        }
        let message = "Incomplete response returned, reason: max_output_tokens";
        check(message, FailureCode::ToolError, message);
    }

    #[test]
    fn a_number_inside_another_is_no_status() {
        let message = "request req_1429 took 4290 ms";
        check(message, FailureCode::ToolError, message);
    }

    #[test]
    fn a_missing_variable_is_named_in_the_hint() {
        let fault = fault("Missing environment variable: `FAKE_KEY`.");
        assert_eq!(fault.code, FailureCode::Auth);
        let hint = fault.hint.unwrap();
        assert!(hint.contains("`--env FAKE_KEY`") && hint.contains("`env_allow`"), "{hint}");
    }

    #[test]
    fn an_error_body_is_reduced_to_its_message() {
        check(
            r#"{"error": {"message": "Invalid schema", "type": "invalid_request_error"}}"#,
            FailureCode::ToolError,
            "Invalid schema",
        );
        check(
            r#"unexpected status 401 Unauthorized: {"error":{"message":"no key"}}, url: http://127.0.0.1/v1"#,
            FailureCode::Auth,
            "unexpected status 401 Unauthorized: no key, url: http://127.0.0.1/v1",
        );
        check(r#"{"detail":"model not found"}"#, FailureCode::ToolError, "model not found");
        check("bad value {x}", FailureCode::ToolError, "bad value {x}");
    }

    #[test]
    fn no_reason_is_said_to_be_none() {
        check("  ", FailureCode::ToolError, "codex reported a failed turn without a reason");
    }
}
