//! A task in the reply of `codex`, with the names of S4.

use schemars::JsonSchema;
use serde::Serialize;

use crate::host::clock;
use crate::model::{Progress, State, TaskId, Timestamp, WorkKind};
use crate::reading::View;
use crate::reply::report_text::duration;
use crate::reply::task_facts::Facts;
use crate::requests::status;
use crate::text::plain;

/// The longest sentence of an agent that a message repeats.
const QUOTED: usize = 300;
const MOST_FILES: usize = 20;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodexTask {
    pub(super) id: TaskId,
    #[schemars(extend("enum" = ["local", "cloud"]))]
    pub(super) mode: &'static str,
    #[schemars(extend("enum" = ["pending", "working", "completed", "failed", "canceled", "unknown"]))]
    pub(super) status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<CodexProgress>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// How long the result is kept from now on.
    ttl_ms: u64,
    /// Only while the task is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    recommended_poll_ms: Option<u32>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CodexProgress {
    /// Only with a plan of the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_steps: Option<usize>,
    step_description: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<CodexStep>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CodexStep {
    key: String,
    label: String,
    done: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultSummary {
    /// Tests that passed, if tests were seen to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    passed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    summary: String,
    /// `agent` if the agent wrote the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    report_by: Option<&'static str>,
    /// Files that the run changed; `inspect_output` and `delegate_results` have the rest.
    artifacts: Vec<String>,
}

/// How a task is doing, in a sentence.
pub(super) fn how_it_is(view: &View) -> String {
    let facts = Facts::of(view);
    let id = &view.row.id;
    let said = plain::line(&facts.summary, QUOTED);
    let by = if facts.reported { " The agent reports: " } else { " " };
    let took = duration(facts.elapsed_ms(clock::now()));
    match view.state() {
        State::Pending => match &view.row.waits_for {
            Some(task) => format!("Task {id} waits for {task}."),
            None => format!("Task {id} is queued."),
        },
        State::Working => format!("Task {id} is running for {took}: {said}."),
        State::Unconfirmed => format!("Task {id} was submitted, but the cloud has not confirmed it yet."),
        State::InputRequired => {
            format!("Task {id} asks: {}", plain::line(view.question().unwrap_or(&said), QUOTED))
        }
        State::Completed => format!("Task {id} completed in {took}.{by}{said}"),
        State::Failed => format!("Task {id} failed after {took}.{by}{said}"),
        State::TimedOut => format!("Task {id} was stopped by a limit after {took}.{by}{said}"),
        State::Cancelled => format!("Task {id} was canceled.{by}{said}"),
    }
    .trim_end()
    .to_owned()
}

impl CodexTask {
    pub(super) fn of(view: &View) -> Self {
        let row = &view.row;
        let is_final = view.state().is_final();
        let progress = view.progress.as_ref().filter(|_| !is_final).map(CodexProgress::of);
        let last_event = view.progress.as_ref().and_then(|progress| progress.last_event_at);
        let updated_at = row.completed_at.or(last_event).or(row.started_at).unwrap_or(row.created_at);
        let hosted = row.agent.abilities().work == WorkKind::Hosted;
        let kept = u64::try_from(view.kept_for.as_millis()).unwrap_or(u64::MAX);
        let age = if is_final { clock::now().millis_since(updated_at) } else { 0 };
        Self {
            id: row.id.clone(),
            mode: if hosted { "cloud" } else { "local" },
            status: status(view.state()),
            progress,
            created_at: row.created_at,
            updated_at,
            ttl_ms: kept.saturating_sub(age),
            recommended_poll_ms: (!is_final).then_some(row.poll_frequency_ms),
        }
    }
}

impl CodexProgress {
    fn of(progress: &Progress) -> Self {
        let done = progress.steps.iter().filter(|step| step.done).count();
        let planned = !progress.steps.is_empty();
        Self {
            percent: progress.percent,
            current_step: planned.then_some((done + 1).min(progress.steps.len())),
            total_steps: planned.then_some(progress.steps.len()),
            step_description: plain::text(&progress.activity),
            steps: (1..)
                .zip(&progress.steps)
                .map(|(number, step)| CodexStep {
                    key: format!("step-{number}"),
                    label: plain::text(&step.text),
                    done: step.done,
                })
                .collect(),
        }
    }
}

impl ResultSummary {
    /// `None` before the end.
    pub(super) fn of(view: &View) -> Option<Self> {
        let facts = Facts::of(view);
        let evidence = view.evidence.as_ref().filter(|_| view.state().is_final());
        let tests = evidence.and_then(|evidence| evidence.tests.as_ref());
        let files = evidence.map(|evidence| evidence.files.changes.as_slice()).unwrap_or_default();
        view.state().is_final().then(|| Self {
            passed: tests.and_then(|tests| tests.passed),
            failed: tests.and_then(|tests| tests.failed),
            duration_ms: facts.duration_ms,
            report_by: facts.reported.then_some("agent"),
            summary: facts.summary,
            artifacts: files.iter().take(MOST_FILES).map(|file| plain::text(&file.path)).collect(),
        })
    }
}
