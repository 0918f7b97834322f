//! The progress of a run, derived from its events.

use serde::{Deserialize, Serialize};

use crate::model::{PlanStep, Timestamp};

/// How long to wait before asking for a task's state again. Waiting for it is cheaper.
pub(crate) const POLL_FREQUENCY_MS: u32 = 15_000;

/// The content of `progress.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) version: u32,
    pub(crate) phase: Phase,
    /// What the run is doing, in one line.
    pub(crate) activity: String,
    /// From the agent's plan; absent without one. Never falls.
    pub(crate) percent: Option<u8>,
    pub(crate) steps: Vec<PlanStep>,
    pub(crate) counters: Counters,
    pub(crate) last_event_at: Option<Timestamp>,
    /// Estimated end; absent if too few runs took longer.
    #[serde(default)]
    pub(crate) eta: Option<Eta>,
    /// Commands that have started and not ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) running: Vec<RunningCommand>,
    /// What the agent asked and waits to be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) question: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningCommand {
    /// The agent's id for it.
    pub(crate) item: String,
    pub(crate) command: String,
    pub(crate) since: Option<Timestamp>,
}

/// Half of the runs that the estimate is based on ended in this range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Eta {
    pub(crate) earliest: Timestamp,
    pub(crate) latest: Timestamp,
    /// Number of runs that it is based on.
    pub(crate) samples: usize,
}

impl Progress {
    pub(crate) const VERSION: u32 = 1;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Phase {
    /// Not started: it waits for a free slot. Only in replies.
    Queued,
    Starting,
    Thinking,
    Running,
    Editing,
    Answering,
    /// The agent asked a question and waits.
    Asking,
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Counters {
    pub(crate) events: u64,
    pub(crate) messages: u64,
    pub(crate) commands: u64,
    pub(crate) commands_failed: u64,
    pub(crate) files_changed: u64,
    pub(crate) tool_calls: u64,
    pub(crate) retries: u64,
}
