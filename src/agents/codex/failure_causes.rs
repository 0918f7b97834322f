//! Classifies a failed turn by Codex's error message.
//!
//! The model's own text is never used: a model that writes about quotas has not exceeded one.

use serde_json::Value;

use crate::model::{FailureCode, Fault};
use crate::text::cut;

const LONGEST_MESSAGE: usize = 1000;

/// The kind of a failure and what to try next.
#[derive(Debug, Clone, Copy)]
struct Cause {
    code: FailureCode,
    hint: &'static str,
    /// Whether it recurs until somebody changes something.
    lasts: bool,
    /// Whether the same request may succeed later.
    passes: bool,
}

/// What helps if Codex has no valid login.
pub(super) const LOG_IN_HINT: &str =
    "run `codex login` in a shell with the same CODEX_HOME, then start the task again";

const WAIT: Cause =
    new(FailureCode::RateLimited, "wait until the limit resets, or use another account or model");
const PAY: Cause = Cause {
    lasts: true,
    passes: false,
    ..new(FailureCode::RateLimited, "check the plan and billing of the account that Codex uses")
};
const SLOW_DOWN: Cause = new(FailureCode::RateLimited, "try again later, or with fewer concurrent runs");
const SHORTEN: Cause = Cause {
    passes: false,
    ..new(FailureCode::ToolError, "start a new run instead of resuming this thread, or ask for less")
};
const OVERLOADED: Cause =
    new(FailureCode::ToolError, "the model's service is overloaded: resume the thread later");
const GO_ON: Cause = new(FailureCode::ToolError, "resume the thread to continue");
const REACH: Cause =
    new(FailureCode::ToolError, "check the network and the model provider's address, then try again");
const LOG_IN: Cause = Cause { passes: false, ..new(FailureCode::Auth, LOG_IN_HINT) };

const fn new(code: FailureCode, hint: &'static str) -> Cause {
    Cause { code, hint, lasts: false, passes: true }
}

/// Codes in an error body.
const CODES: &[(&[&str], Cause)] = &[
    (&["usage_limit_reached"], WAIT),
    (&["insufficient_quota", "quota_exceeded", "billing_hard_limit_reached", "usage_not_included"], PAY),
    (&["rate_limit_exceeded", "rate_limit_error", "rate_limit"], SLOW_DOWN),
    (
        &["invalid_api_key", "authentication_error", "unauthorized", "token_expired", "token_invalidated"],
        LOG_IN,
    ),
    (&["context_length_exceeded"], SHORTEN),
    (&["server_is_overloaded", "overloaded_error", "slow_down"], OVERLOADED),
];

const STATUSES: &[(u64, Cause)] = &[(401, LOG_IN), (429, SLOW_DOWN)];

/// How Codex's own messages begin, in lower case. Later words may quote the refused request.
const BEGINNINGS: &[(&str, Cause)] = &[
    ("you've hit your usage limit", WAIT),
    ("usage limit", WAIT),
    ("insufficient_quota", PAY),
    ("quota exceeded", PAY),
    ("you exceeded your current quota", PAY),
    ("rate limit exceeded", SLOW_DOWN),
    ("rate limit reached", SLOW_DOWN),
    ("too many requests", SLOW_DOWN),
    ("429 too many requests", SLOW_DOWN),
    ("401 unauthorized", LOG_IN),
    ("unauthorized", LOG_IN),
    ("not logged in", LOG_IN),
    ("incorrect api key", LOG_IN),
    ("codex ran out of room in the model's context window", SHORTEN),
    ("we're currently experiencing high demand", OVERLOADED),
    ("stream disconnected", GO_ON),
    ("connection failed", REACH),
];

/// The failure that `turn.failed` reports.
pub(super) fn fault(message: &str) -> Fault {
    let cause = cause(message);
    let message = reduced(message);
    if message.is_empty() {
        return Fault::new(FailureCode::ToolError, "codex reported a failed turn without a reason");
    }
    if let Some(name) = missing_variable(&message) {
        let hint = format!(
            "pass it with `--env {name}` or `options.env_from`; the configuration key `env_allow` must list it"
        );
        return Fault::new(FailureCode::Auth, message).hint(hint);
    }
    match cause {
        Some(Cause { code, hint, lasts, passes }) => {
            Fault { lasts, passes, ..Fault::new(code, message).hint(hint) }
        }
        None => Fault::new(FailureCode::ToolError, message),
    }
}

/// Classifies a message by the code in its error body, else by the status before that, else by how
/// it begins.
fn cause(message: &str) -> Option<Cause> {
    let message = unwrapped(message.trim());
    let codes = message.find('{').map(|at| body_codes(&message[at..])).unwrap_or_default();
    let by_code = CODES.iter().find(|(known, _)| codes.iter().any(|code| known.contains(&code.as_str())));
    if let Some((_, cause)) = by_code {
        return Some(*cause);
    }
    // Text in quotes or in a body comes from the request or the server.
    let own = message.split(['"', '`', '{']).next().unwrap_or_default().to_lowercase();
    let by_status = STATUSES.iter().find(|(status, _)| has_status(&own, *status));
    if let Some((_, cause)) = by_status {
        return Some(*cause);
    }
    let reduced = reduced(message).to_lowercase().replace('\u{2019}', "'");
    let start = unwrapped(&reduced);
    let inner = start.strip_prefix("stream disconnected before completion: ");
    let begins = |text: &str| BEGINNINGS.iter().find(|(words, _)| text.starts_with(words));
    inner.and_then(begins).or_else(|| begins(start)).map(|(_, cause)| *cause)
}

/// A message without Codex's wrapping.
fn unwrapped(message: &str) -> &str {
    let inner = message.strip_prefix("error: ").unwrap_or(message);
    let retried = inner.get(..12).filter(|head| head.eq_ignore_ascii_case("reconnecting"));
    match (retried, inner.split_once(" (")) {
        (Some(_), Some((_, reason))) => reason.strip_suffix(')').unwrap_or(reason),
        _ => inner,
    }
}

/// Matches `unexpected status 401 Unauthorized` and `last status: 429`.
fn has_status(text: &str, status: u64) -> bool {
    ["status ", "status: "].iter().any(|word| {
        text.match_indices(word).any(|(at, found)| {
            let rest = &text[at + found.len()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest[..digits].parse() == Ok(status)
        })
    })
}

/// The code and type of an error body.
fn body_codes(text: &str) -> Vec<String> {
    let body = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
    let Some(Ok(body)) = body else { return Vec::new() };
    let error = body.get("error").unwrap_or(&body);
    ["code", "type"].iter().filter_map(|name| Some(error.get(name)?.as_str()?.to_lowercase())).collect()
}

/// Replaces an error body in a message by the message inside it. Some failures contain a whole
/// error body, alone or after a status line.
pub(super) fn reduced(message: &str) -> String {
    let message = message.trim();
    let reduced = match message.find('{').and_then(|at| Some((at, body_message(&message[at..])?))) {
        Some((at, (inner, end))) => {
            let (before, after) = (&message[..at], &message[at + end..]);
            // A body may only repeat the status line.
            let status = before.trim_end_matches([':', ' ']);
            let repeats = !inner.is_empty() && status.to_lowercase().ends_with(&inner.to_lowercase());
            if repeats { format!("{status}{after}") } else { format!("{before}{inner}{after}") }
        }
        None => message.to_owned(),
    };
    cut(&told_once(reduced), LONGEST_MESSAGE)
}

/// `unexpected status 404 Not Found: 404 Not Found, url: …` without the repetition.
fn told_once(message: String) -> String {
    let Some((front, rest)) = message.split_once(": ") else { return message };
    let Some(status) = front.strip_prefix("unexpected status ") else { return message };
    let reason = status.split_once(' ').map_or(status, |(_, reason)| reason);
    let repeats = |again: &str| {
        let (head, tail) = rest.split_at_checked(again.len())?;
        (head.eq_ignore_ascii_case(again) && (tail.is_empty() || tail.starts_with([',', '.'])))
            .then_some(tail)
    };
    match repeats(status).or_else(|| repeats(reason)) {
        Some(tail) => format!("{front}{tail}"),
        None => message,
    }
}

/// The message inside an error body, and the end of the body.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn every_reason_is_the_fault_of_its_row() {
        let rows = include_str!("../../../tests/agents/codex_failures.jsonl");
        for (message, code, expected) in test_rows::<(String, FailureCode, String)>(rows) {
            let fault = fault(&message);
            assert_eq!((fault.code, fault.message), (code, expected));
        }
    }

    #[test]
    fn what_has_to_be_paid_for_first_comes_again() {
        let lasts = |message: &str| fault(message).lasts;
        assert!(lasts("Quota exceeded. Check your plan and billing details."));
        assert!(!lasts("exceeded retry limit, last status: 429 Too Many Requests"));
    }

    #[test]
    fn what_may_be_tried_again_passes() {
        let rows = include_str!("../../../tests/data/passing_failures.jsonl");
        for (message, passes) in test_rows::<(String, bool)>(rows) {
            assert_eq!(fault(&message).passes, passes, "{message}");
        }
    }

    #[test]
    fn a_missing_variable_is_named_in_the_hint() {
        let fault = fault("Missing environment variable: `FAKE_KEY`.");
        assert_eq!(fault.code, FailureCode::Auth);
        let hint = fault.hint.unwrap();
        assert!(hint.contains("`--env FAKE_KEY`") && hint.contains("`env_allow`"), "{hint}");
    }
}
