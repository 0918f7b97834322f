//! What differs between clients: how long a call may take, and how they report their sandbox.

mod reported_sandbox;

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::submit::Ceiling;

/// The metadata key with Codex's own sandbox, sent if the server asks for it.
pub(crate) const SANDBOX_STATE: &str = "codex/sandbox-state-meta";
/// The metadata key with the thread that a Codex call comes from.
const TURN: &str = "x-codex-turn-metadata";

/// How long a call may take before the client called `name` gives up, minus a margin. Most clients that were
/// not measured allow 60 s.
pub(crate) fn safe_wait(name: &str, has_token: bool) -> Duration {
    let name = name.to_lowercase();
    let seconds = if name.contains("codex") {
        280
    } else if name.contains("claude-code") && has_token {
        25 * 60
    } else if name.contains("gemini") {
        9 * 60
    } else if name.contains("copilot") {
        75
    } else {
        50
    };
    Duration::from_secs(seconds)
}

/// Whether the request comes from one of our own runs, according to the client.
pub(crate) fn is_run(meta: &Map<String, Value>) -> bool {
    let turn = match meta.get(TURN) {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    turn["thread_source"] == "delegator"
}

/// The client's own sandbox, if the request reports one. A report that is not understood counts as read-only.
pub(crate) fn ceiling(meta: &Map<String, Value>) -> Option<Ceiling> {
    let state = meta.get(SANDBOX_STATE)?;
    Some(reported_sandbox::ceiling(state).unwrap_or(Ceiling::LOWEST))
}

/// The client's working directory, if the request reports it.
pub(crate) fn place(meta: &Map<String, Value>) -> Option<PathBuf> {
    file(meta.get(SANDBOX_STATE)?["sandboxCwd"].as_str()?)
}

/// The path of a `file://` URL.
pub(crate) fn file(address: &str) -> Option<PathBuf> {
    let path = address.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    decoded.starts_with('/').then(|| PathBuf::from(decoded.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_takes_longer_than_its_client_waits() {
        let seconds = |name, token| safe_wait(name, token).as_secs();
        assert_eq!((seconds("codex-mcp-client", true), seconds("codex-mcp-client", false)), (280, 280));
        assert_eq!((seconds("claude-code", true), seconds("claude-code", false)), (1500, 50));
        assert_eq!((seconds("gemini-cli-mcp-client", true), seconds("Copilot CLI", false)), (540, 75));
        assert_eq!((seconds("opencode", true), seconds("mcp", true), seconds("", false)), (50, 50, 50));
    }

    #[test]
    fn an_address_is_a_path_on_this_machine_or_nothing() {
        assert_eq!(file("file:///work/a%20b"), Some("/work/a b".into()));
        assert_eq!(file("file://localhost/work"), Some("/work".into()));
        for other in
            ["/work", "work", "file:work", "file://work", "file://host/work", "http://x/", "", "file://"]
        {
            assert_eq!(file(other), None, "{other}");
        }
    }

    #[test]
    fn a_run_of_ours_is_known_by_its_thread() {
        let told = |turn: Value| is_run(&Map::from_iter([(TURN.to_owned(), turn)]));
        assert!(told(serde_json::json!({ "thread_source": "delegator" })));
        assert!(told(r#"{"thread_source":"delegator"}"#.into()));
        assert!(!told(serde_json::json!({ "thread_source": "user" })));
        assert!(!told("delegator".into()));
        assert!(!is_run(&Map::new()));
    }

    #[test]
    fn a_report_that_is_none_is_the_least() {
        let told = |state: Value| ceiling(&Map::from_iter([(SANDBOX_STATE.to_owned(), state)]));
        for state in [Value::Null, "read-only".into(), serde_json::json!({}), serde_json::json!([])] {
            assert_eq!(told(state), Some(Ceiling::LOWEST));
        }
        assert_eq!(ceiling(&Map::new()), None);
    }
}
