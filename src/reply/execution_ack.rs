//! `execution_ack`: a task was taken in. No output: that is what results are for.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::TextLimits;
use crate::model::{TaskId, Timestamp};
use crate::registry::Row;
use crate::reply::report_text::list;
use crate::reply::result_set::TaskResult;
use crate::submit::Accepted;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AckMeta {
    /// 0 means that it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue_position: Option<usize>,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ack {
    pub(crate) task_id: TaskId,
    /// The agent's own conversation; absent until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    accepted: bool,
    #[schemars(extend("enum" = ["background"]))]
    capability: &'static str,
    /// When it started, or, while it waits its turn, when it was taken in.
    started_at: Timestamp,
    /// The same request had been taken in before; this is its task.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deduplicated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// What came of it, or how far it is, where the call was to wait for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<TaskResult>>,
}

impl Ack {
    /// `position` counts from 1 for a task that waits, and is 0 for one that runs.
    pub(crate) fn of(
        accepted: &Accepted,
        row: &Row,
        position: Option<usize>,
        result: Option<TaskResult>,
    ) -> (AckMeta, Self) {
        let ack = Self {
            task_id: accepted.task_id.clone(),
            thread_id: row.thread_id.clone(),
            accepted: true,
            capability: "background",
            started_at: row.started_at.unwrap_or(row.created_at),
            deduplicated: accepted.deduplicated,
            warnings: accepted.warnings.clone(),
            result: result.map(Box::new),
        };
        (AckMeta { queue_position: position, notice: None }, ack)
    }

    /// All of it as text, with what can be done `next`, where no result goes with it.
    pub(crate) fn text(&self, tool: &str, meta: &AckMeta, next: &str, cuts: TextLimits) -> String {
        let known = if self.deduplicated { " (the same request as before)" } else { "" };
        // One that waits its turn has not started.
        let waits = meta.queue_position.is_some_and(|position| position > 0);
        let mut text = format!(
            "{tool}\nstatus: accepted{known}\ntask_id: {}\nsubagent_thread_id: {}\n{}: {}\n",
            self.task_id,
            self.thread_id.as_deref().unwrap_or("(none)"),
            if waits { "taken_in_at" } else { "started_at" },
            self.started_at,
        );
        // Writing to a string does not fail.
        if let Some(position) = meta.queue_position {
            let _ = writeln!(text, "queue_position: {position}");
        }
        list(&mut text, "warnings", "", self.warnings.clone(), cuts);
        if let Some(notice) = &meta.notice {
            let _ = writeln!(text, "notice: {notice}");
        }
        let _ = writeln!(text, "next: {next}");
        text
    }
}
