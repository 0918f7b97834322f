//! `execution_ack`: a task was accepted. It has no output; results have.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::TextLimits;
use crate::model::{State, TaskId, Timestamp};
use crate::reading::{QueuedTask, View};
use crate::reply::eta::Eta;
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::report_text::list_any;
use crate::reply::result_set::TaskResult;
use crate::reply::snapshot::whole_millis;
use crate::reply::task_facts::Facts;
use crate::submit::Accepted;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AckMeta {
    /// 0 if the task is running. Absent if it waits for another task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) queue_position: Option<usize>,
    /// The task that has to end before it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) waits_for: Option<TaskId>,
    /// The time until a queued task starts, estimated from how long earlier runs took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) estimated_start_ms: Option<u64>,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Ack {
    pub(crate) task_id: TaskId,
    /// The agent's conversation id; absent until it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    accepted: bool,
    #[schemars(extend("enum" = ["background"]))]
    capability: &'static str,
    /// How long half of the earlier runs of this kind took: of this agent in this project, for a command of the same
    /// line. Absent without enough of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_duration: Option<String>,
    /// When the run started; for a queued task, when it was accepted.
    started_at: Timestamp,
    /// The same request was accepted before; this is its task.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deduplicated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The result, or the progress so far, if the call was to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Box<TaskResult>>,
}

impl Ack {
    /// `queued` is the task's place in the queue, if it is there.
    pub(crate) fn of(
        accepted: &Accepted,
        view: &View,
        queued: Option<&QueuedTask>,
        result: Option<TaskResult>,
    ) -> (AckMeta, Self) {
        let row = &view.row;
        let runs =
            matches!(view.state(), State::Working | State::InputRequired | State::Unconfirmed).then_some(0);
        let resumed = view.request.as_ref().and_then(|request| request.resume.as_ref());
        let ack = Self {
            task_id: accepted.task_id.clone(),
            thread_id: Facts::of(view)
                .thread_id
                .or_else(|| resumed.map(|resumed| resumed.thread_id.to_string())),
            accepted: true,
            capability: "background",
            expected_duration: Eta::of_whole(view).map(|eta| eta.range()),
            started_at: row.started_at.unwrap_or(row.created_at),
            deduplicated: accepted.deduplicated,
            warnings: accepted.warnings.clone(),
            result: result.map(Box::new),
        };
        let meta = AckMeta {
            queue_position: queued.and_then(|queued| queued.position).or(runs),
            waits_for: row.waits_for.clone(),
            estimated_start_ms: queued.and_then(|queued| queued.starts_in).map(whole_millis),
            notice: None,
        };
        (meta, ack)
    }

    /// The whole reply as text. Ends with what to do `next` unless a result follows.
    pub(crate) fn text(&self, tool: &str, meta: &AckMeta, next: &[NextCall], cuts: TextLimits) -> String {
        let known = if self.deduplicated { " (the same request as before)" } else { "" };
        // A queued task has not started.
        let waits = meta.waits_for.is_some() || meta.queue_position.is_some_and(|position| position > 0);
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
        if let Some(task) = &meta.waits_for {
            let _ = writeln!(text, "waits_for: {task}");
        }
        if let Some(starts_in) = meta.estimated_start_ms {
            let _ = writeln!(text, "estimated_start_ms: {starts_in}");
        }
        if let Some(expected) = &self.expected_duration {
            let _ = writeln!(text, "expected_duration: {expected}");
        }
        list_any(&mut text, "warnings", &self.warnings, cuts);
        if let Some(notice) = &meta.notice {
            let _ = writeln!(text, "notice: {notice}");
        }
        text + &next_line(next)
    }
}
