//! The sealed result of a run, stored in `result.json`.

use serde::{Deserialize, Serialize};

use crate::model::{
    Answer, Exit, Outcome, Progress, Request, RunId, State, TaskId, Timestamp, Usage, WorktreeEnd,
};

/// Written once at the end. A row can be finished from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunResult {
    pub(crate) version: u32,
    pub(crate) task_id: TaskId,
    pub(crate) run_id: RunId,
    pub(crate) attempt: u32,
    pub(crate) outcome: Outcome,
    /// Absent if the agent did not start.
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) finished_at: Timestamp,
    pub(crate) duration_ms: u64,
    pub(crate) exit: Option<Exit>,
    pub(crate) thread_id: Option<String>,
    /// The thread that the run resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent_thread_id: Option<String>,
    pub(crate) model: Option<String>,
    /// Usage of this run.
    pub(crate) usage: Option<Usage>,
    /// The thread's total after this run, for one that resumes it.
    pub(crate) usage_total: Option<Usage>,
    /// One line; for agents, the summary they reported.
    pub(crate) summary: String,
    pub(crate) answer: Option<Answer>,
    pub(crate) warnings: Vec<String>,
    pub(crate) progress: Option<Progress>,
    pub(crate) stdout: StreamTotals,
    pub(crate) stderr: StreamTotals,
    /// Processes that were left when the agent ended and had to be killed.
    pub(crate) processes_ended: u32,
    /// Whether `evidence.json` was written, so that its loss can be detected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) evidence: bool,
    /// What became of its worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<WorktreeEnd>,
    /// The other files of the run, relative to its directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) artifacts: Vec<String>,
}

impl RunResult {
    pub(crate) const VERSION: u32 = 1;

    /// A minimal result, for a run that did not start its agent.
    pub(crate) fn bare(
        task_id: TaskId,
        run_id: RunId,
        attempt: u32,
        outcome: Outcome,
        now: Timestamp,
    ) -> Self {
        let summary = match &outcome {
            Outcome::Failed { fault } => fault.message.clone(),
            Outcome::Cancelled { reason: Some(reason) } => format!("cancelled before it started: {reason}"),
            Outcome::Cancelled { reason: None } => "cancelled before it started".into(),
            Outcome::Completed | Outcome::TimedOut { .. } => String::new(),
        };
        Self {
            version: Self::VERSION,
            task_id,
            run_id,
            attempt,
            outcome,
            started_at: None,
            finished_at: now,
            duration_ms: 0,
            exit: None,
            thread_id: None,
            parent_thread_id: None,
            model: None,
            usage: None,
            usage_total: None,
            summary,
            answer: None,
            warnings: Vec::new(),
            progress: None,
            stdout: StreamTotals::default(),
            stderr: StreamTotals::default(),
            processes_ended: 0,
            evidence: false,
            worktree: None,
            artifacts: Vec::new(),
        }
    }

    /// The result of a run that ended with `summary`.
    pub(crate) fn ended(
        request: &Request,
        attempt: u32,
        outcome: Outcome,
        summary: String,
        now: Timestamp,
    ) -> Self {
        let bare = Self::bare(request.task_id.clone(), request.run_id.clone(), attempt, outcome, now);
        Self { summary, model: request.model.clone(), ..bare }
    }

    pub(crate) fn state(&self) -> State {
        self.outcome.state()
    }
}

/// Totals of an output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct StreamTotals {
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
    /// Bytes left out of the middle because of the size limit.
    pub(crate) dropped_bytes: u64,
}
