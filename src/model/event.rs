//! One normalised line of an agent's stream.
//!
//! The same words for every agent: what Codex calls an item, Claude a content
//! block, and Gemini or an ACP agent a tool call, all become these.

use serde::Serialize;

use crate::model::{Fault, Usage};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The agent named its conversation. Some agents say it more than once.
    Thread {
        id: String,
        model: Option<String>,
    },
    TurnStarted,
    /// Something the agent said; the last one before the end is its answer.
    /// A `delta` continues the one before it.
    Message {
        text: String,
        delta: bool,
    },
    Reasoning {
        text: String,
    },
    CommandStarted {
        item: String,
        command: String,
    },
    CommandEnded {
        item: String,
        command: String,
        exit_code: Option<i64>,
        output_bytes: u64,
        status: ItemStatus,
    },
    Edited {
        item: String,
        changes: Vec<Change>,
        status: ItemStatus,
    },
    ToolStarted {
        item: String,
        tool: String,
    },
    ToolEnded {
        item: String,
        tool: String,
        status: ItemStatus,
    },
    /// The whole plan, as it stands now.
    Plan {
        steps: Vec<PlanStep>,
    },
    /// Worth telling the caller; ends nothing.
    Warning {
        message: String,
    },
    /// The agent is trying again. Not a sign of life.
    Retry {
        message: String,
    },
    /// The agent asks and waits.
    #[cfg_attr(not(test), expect(dead_code, reason = "for agents that converse; the ACP sketch shows it"))]
    Question {
        text: String,
    },
    /// One turn came to its end well. Usage as the agent counts it.
    TurnCompleted {
        usage: Option<Usage>,
    },
    TurnFailed {
        fault: Fault,
    },
    /// A line of the agent's own format that says nothing we use.
    Other {
        kind: String,
    },
}

impl Event {
    /// Whether this shows that the agent is alive and getting on.
    pub(crate) fn is_activity(&self) -> bool {
        !matches!(self, Event::Retry { .. })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ItemStatus {
    Running,
    Completed,
    Failed,
    /// Refused by a policy, a sandbox, or a person.
    Declined,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeKind {
    Add,
    Update,
    Delete,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub(crate) struct PlanStep {
    pub(crate) text: String,
    pub(crate) done: bool,
}
