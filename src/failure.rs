//! How every error looks from outside: its code, its message, its hint, and its exit code. Nothing else
//! assigns any of them.

mod codes;
mod details;
mod file_hints;
mod flags;
mod machine_hints;
mod start_hints;
mod task_hints;
mod terminal_hints;

use serde_json::{Map, Value};

use crate::context::{TaskError, one_line};
use crate::redact;
use crate::text::plain;

/// In characters.
const LONGEST_MESSAGE: usize = 1000;

/// An error as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// For programs: the reason as one word, and the values in the message.
    pub(crate) details: Box<Map<String, Value>>,
}

/// S2's error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The call could not be answered in time. A run that hits its own limit is not this.
    Timeout,
    Validation,
    /// An agent's program exists but does not work.
    ToolError,
    NotFound,
    Unsupported,
    Internal,
    /// Like `Internal`, but the same request fails again until somebody changes something.
    Lasting,
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Code::Timeout => "TIMEOUT",
            Code::Validation => "VALIDATION",
            Code::ToolError => "TOOL_ERROR",
            Code::NotFound => "NOT_FOUND",
            Code::Unsupported => "UNSUPPORTED",
            Code::Internal | Code::Lasting => "INTERNAL",
        }
    }

    /// Whether the same request may succeed the next time.
    pub(crate) fn is_retryable(self) -> bool {
        match self {
            Code::Timeout | Code::Internal => true,
            Code::Validation | Code::ToolError | Code::NotFound | Code::Unsupported | Code::Lasting => false,
        }
    }
}

/// The program's exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    RunFailed = 1,
    BadInput = 2,
    NotFound = 3,
    StillWorking = 4,
    Cancelled = 5,
    Machine = 6,
    Interrupted = 130,
}

/// Whose vocabulary messages use: shell commands or MCP tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Shell,
    Tools,
}

impl Voice {
    pub(crate) fn say<'a>(self, shell: &'a str, tools: &'a str) -> &'a str {
        match self {
            Voice::Shell => shell,
            Voice::Tools => tools,
        }
    }
}

impl Failure {
    pub(crate) fn new(code: Code, exit: Exit, message: impl Into<String>, hint: Option<String>) -> Self {
        Self { code, exit, message: message.into(), hint, details: Box::default() }
    }

    /// Adds a detail.
    pub(crate) fn about(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.into(), value.into());
        self
    }

    pub(crate) fn of(error: &TaskError, voice: Voice) -> Self {
        let (code, exit) = codes::classify(error);
        // The message repeats the caller's text, which must not control a terminal.
        let message = plain::text(&one_line(error)).replace(['\n', '\t'], " ");
        let message = match flags::field(error) {
            Some(field) => flags::worded(&message, field, voice),
            None => without_middle(&message),
        };
        Self { code, exit, message, hint: hint(error, voice), details: Box::new(details::details(error)) }
    }
}

/// Shortens a long message by removing its middle. Redacts first, because half a secret is not recognised.
fn without_middle(message: &str) -> String {
    let message = redact::text(message);
    let chars = message.chars().count();
    if chars <= LONGEST_MESSAGE {
        return message.into_owned();
    }
    let half = LONGEST_MESSAGE / 2;
    let first: String = message.chars().take(half).collect();
    let last: String = message.chars().skip(chars - half).collect();
    format!("{first} … {last}")
}

/// What to try next. An error that no kind has a hint for gets none.
fn hint(error: &TaskError, voice: Voice) -> Option<String> {
    start_hints::hint(error, voice)
        .or_else(|| task_hints::hint(error, voice))
        .or_else(|| file_hints::hint(error, voice))
        .or_else(|| terminal_hints::hint(error, voice))
        .or_else(|| machine_hints::hint(error, voice))
}
