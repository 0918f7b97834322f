//! The envelope around every reply except a run's own report, with the fields of S2.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::model::Timestamp;
use crate::reply::next_after_error;
use crate::reply::next_steps::NextCall;

const VERSION: &str = "3.6";

/// A reply: the tool that answers, and either `data` or `error`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Envelope<M, D> {
    /// The version of the format of all replies.
    #[schemars(extend("const" = VERSION))]
    version: &'static str,
    /// The version of this category's format: `codex/v3.6/{category}/v1`.
    schema_id: String,
    /// The tool or command that replies.
    tool: &'static str,
    tool_category: Category,
    /// A UUID, new for each reply.
    request_id: String,
    ts: Timestamp,
    status: Status,
    meta: M,
    /// Present when `status` is `ok`.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<D>,
    /// Present when `status` is `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    /// At most three calls worth making now, the most useful first.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Vec<NextCall>>,
}

/// Identifies a reply: its tool, its time and its id.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    pub(crate) tool: &'static str,
    pub(crate) category: Category,
    pub(crate) request_id: String,
    pub(crate) at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Category {
    ExecutionAck,
    WaitResult,
    StatusSnapshot,
    ResultSet,
    RegistryInfo,
}

impl Category {
    fn as_str(self) -> &'static str {
        match self {
            Category::ExecutionAck => "execution_ack",
            Category::WaitResult => "wait_result",
            Category::StatusSnapshot => "status_snapshot",
            Category::ResultSet => "result_set",
            Category::RegistryInfo => "registry_info",
        }
    }

    pub(super) fn schema_id(self) -> String {
        format!("codex/v{VERSION}/{}/v1", self.as_str())
    }
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Ok,
    Error,
}

/// An object without fields.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Nothing {}

/// Why `data` is missing.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ErrorBody {
    #[schemars(extend("enum" = ["TIMEOUT", "VALIDATION", "TOOL_ERROR", "NOT_FOUND", "UNSUPPORTED", "INTERNAL"]))]
    code: &'static str,
    /// One line: what went wrong.
    message: String,
    /// `reason` as one word, and the values that the message names. `exit_code` and `stderr_tail` are those of a
    /// program that failed.
    #[serde(skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
    /// Whether the same request may succeed if repeated.
    retryable: bool,
    /// How long it was tried; only for `TIMEOUT`.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// One line: what to try instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl<M, D> Envelope<M, D> {
    pub(crate) fn ok(stamp: Stamp, meta: M, data: D) -> Self {
        Self { data: Some(data), ..Self::empty(stamp, Status::Ok, meta) }
    }

    fn empty(stamp: Stamp, status: Status, meta: M) -> Self {
        Self {
            version: VERSION,
            schema_id: stamp.category.schema_id(),
            tool: stamp.tool,
            tool_category: stamp.category,
            request_id: stamp.request_id,
            ts: stamp.at,
            status,
            meta,
            data: None,
            error: None,
            next: None,
        }
    }

    /// The same with what to do next.
    pub(crate) fn suggesting(self, next: Vec<NextCall>) -> Self {
        Self { next: Some(next), ..self }
    }
}

impl Envelope<Nothing, Nothing> {
    pub(crate) fn error(stamp: Stamp, failure: &Failure) -> Self {
        let mut details = (*failure.details).clone();
        let duration_ms = details.remove("duration_ms").and_then(|duration| duration.as_u64());
        let error = ErrorBody {
            code: failure.code.as_str(),
            message: failure.message.clone(),
            details,
            retryable: failure.code.is_retryable(),
            duration_ms,
            hint: failure.hint.clone(),
        };
        let next = Some(next_after_error(failure)).filter(|next| !next.is_empty());
        Self { error: Some(error), next, ..Self::empty(stamp, Status::Error, Nothing {}) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::failure::{Code, Exit};

    fn stamp() -> Stamp {
        Stamp {
            tool: "delegate_wait",
            category: Category::WaitResult,
            request_id: "r".into(),
            at: Timestamp::from_millis(0),
        }
    }

    #[test]
    fn an_envelope_has_every_field_of_s2_in_order() {
        let envelope =
            serde_json::to_value(Envelope::ok(stamp(), json!({ "count": 1 }), json!({ "x": 2 }))).unwrap();
        assert_eq!(
            envelope.to_string(),
            r#"{"version":"3.6","schema_id":"codex/v3.6/wait_result/v1","tool":"delegate_wait","tool_category":"wait_result","request_id":"r","ts":"1970-01-01T00:00:00.000Z","status":"ok","meta":{"count":1},"data":{"x":2}}"#
        );
    }

    #[test]
    fn an_error_takes_the_place_of_the_data() {
        let failure = Failure::new(Code::NotFound, Exit::NotFound, "no task `x`", Some("look".into()))
            .about("asked", "x");
        let envelope = serde_json::to_value(Envelope::error(stamp(), &failure)).unwrap();
        assert_eq!(envelope["status"], "error");
        assert_eq!(envelope.get("data"), None);
        let error = json!({
            "code": "NOT_FOUND", "message": "no task `x`", "details": { "asked": "x" }, "retryable": false,
            "hint": "look",
        });
        assert_eq!(envelope["error"], error);
    }
}
