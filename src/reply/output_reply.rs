//! `registry_info` with the output of a run.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Voice;
use crate::model::TaskId;
use crate::reading::{Excerpt, View};
use crate::reply::next_steps::Next;
use crate::text::plain;

/// Output of a run, raw or as a readable log.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Log {
    pub(crate) task_id: TaskId,
    #[schemars(extend("enum" = ["pending", "working", "unknown", "completed", "failed", "cancelled", "timeout"]))]
    pub(crate) state: &'static str,
    /// `output`: what the agent printed, as a readable log for agents that emit events. `events`: the raw
    /// events.
    #[schemars(extend("enum" = ["output", "stderr", "events"]))]
    pub(crate) stream: &'static str,
    pub(crate) text: String,
    pub(crate) truncated: bool,
    /// The size of the whole output.
    pub(crate) total_bytes: u64,
    /// The files that hold the whole output.
    pub(crate) files: Vec<PathBuf>,
    /// What the caller should know although it did not end the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// What can be done with the task now.
    pub(crate) next: Vec<String>,
}

/// Which part of a run's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Output,
    Stderr,
    Events,
}

impl Log {
    pub(crate) fn of(view: &View, stream: Stream, excerpt: Excerpt, files: Vec<PathBuf>) -> Self {
        Self {
            task_id: view.row.id.clone(),
            state: view.state().in_envelope(),
            stream: match stream {
                Stream::Output => "output",
                Stream::Stderr => "stderr",
                Stream::Events => "events",
            },
            text: excerpt.text,
            truncated: excerpt.cut,
            total_bytes: excerpt.total_bytes,
            files,
            warnings: view.damaged.iter().map(|warning| plain::text(warning)).collect(),
            next: Next::of(view).actions(Voice::Shell),
        }
    }
}
