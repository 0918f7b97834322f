//! How a run ended, and why.

use serde::{Deserialize, Serialize};

use crate::model::{Limit, State};

/// The failure code of `failed` and `timed_out`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum FailureCode {
    /// The agent failed at its work.
    ToolError,
    /// The supervisor died before the run ended.
    Lost,
    /// The agent could not be started.
    Spawn,
    Auth,
    RateLimited,
    Sandbox,
    /// The answer does not match the caller's schema.
    Schema,
    Budget,
    /// Required data could not be written to disk.
    Storage,
    Internal,
    /// A limit ended the run.
    Timeout,
}

impl FailureCode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            FailureCode::ToolError => "TOOL_ERROR",
            FailureCode::Lost => "LOST",
            FailureCode::Spawn => "SPAWN",
            FailureCode::Auth => "AUTH",
            FailureCode::RateLimited => "RATE_LIMITED",
            FailureCode::Sandbox => "SANDBOX",
            FailureCode::Schema => "SCHEMA",
            FailureCode::Budget => "BUDGET",
            FailureCode::Storage => "STORAGE",
            FailureCode::Internal => "INTERNAL",
            FailureCode::Timeout => "TIMEOUT",
        }
    }
}

/// A failure and its first cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: FailureCode,
    pub(crate) message: String,
    /// Distinguishes faults with the same code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What to try next, if the fault itself implies it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    /// The thread to be resumed no longer exists.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) thread_gone: bool,
    /// It recurs until somebody changes something, whatever is usual for its code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) lasts: bool,
    /// The same request may succeed later, whatever is usual for its code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) passes: bool,
}

impl Fault {
    pub(crate) fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            reason: None,
            hint: None,
            thread_gone: false,
            lasts: false,
            passes: false,
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn passing(self) -> Self {
        Self { passes: true, ..self }
    }
}

/// How the agent's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
}

impl Exit {
    pub(crate) fn succeeded(self) -> bool {
        self == Exit::Code(0)
    }

    /// The exit status as in a shell: 128 plus the number for a signal.
    pub(crate) fn status(self) -> i32 {
        match self {
            Exit::Code(code) => code,
            Exit::Signal(number) => 128 + number,
        }
    }
}

/// Why we stopped a run. The first reason is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StopReason {
    Cancelled {
        reason: Option<String>,
    },
    Limit(Limit),
    /// The run could not be recorded, or is not what was requested.
    Fault(Fault),
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub(crate) enum Outcome {
    Completed,
    Failed { fault: Fault },
    Cancelled { reason: Option<String> },
    TimedOut { limit: Limit, elapsed_ms: u64 },
}

impl Outcome {
    pub(crate) fn state(&self) -> State {
        match self {
            Outcome::Completed => State::Completed,
            Outcome::Failed { .. } => State::Failed,
            Outcome::Cancelled { .. } => State::Cancelled,
            Outcome::TimedOut { .. } => State::TimedOut,
        }
    }

    pub(crate) fn code(&self) -> Option<FailureCode> {
        match self {
            Outcome::Completed | Outcome::Cancelled { .. } => None,
            Outcome::Failed { fault } => Some(fault.code),
            Outcome::TimedOut { .. } => Some(FailureCode::Timeout),
        }
    }
}
