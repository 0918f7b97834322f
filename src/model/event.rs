//! Normalised events of an agent's output, the same for every agent.

use serde::Serialize;

use crate::model::{Fault, Usage};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// The agent's conversation id. Some agents report it repeatedly.
    Thread {
        id: String,
        model: Option<String>,
    },
    TurnStarted,
    /// Something the agent said; the last message is its answer. A `delta` continues the previous
    /// message.
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
    /// The current plan as a whole.
    Plan {
        steps: Vec<PlanStep>,
    },
    /// Reported to the caller; does not end the run.
    Warning {
        message: String,
    },
    /// The agent is retrying. Does not count as activity.
    Retry {
        message: String,
    },
    /// The agent asked a question and waits.
    Question {
        text: String,
    },
    /// A turn succeeded. Usage is counted by the agent.
    TurnCompleted {
        usage: Option<Usage>,
    },
    TurnFailed {
        fault: Fault,
    },
    /// A line that is not used.
    Other {
        kind: String,
    },
}

impl Event {
    /// Whether this shows that the agent makes progress.
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
    /// Refused by a policy, a sandbox or a person.
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
