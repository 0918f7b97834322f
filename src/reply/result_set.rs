//! `result_set`: everything worth knowing of one task, with its output where
//! it was asked for or the run went wrong.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Voice;
use crate::model::{Deliverable, RunId, TaskId, Timestamp};
use crate::reading::{self, Results};
use crate::reply::failure_cause::Unresolved;
use crate::reply::file_operations::FileOperations;
use crate::reply::metadata::{Metadata, seconds};
use crate::reply::progress::Progress;
use crate::reply::progress_text::SoFar;
use crate::reply::report_text::title;
use crate::reply::task_facts::Facts;
use crate::reply::test_results::TestsSeen;

fn unasked_output(voice: Voice) -> &'static str {
    voice.say(
        "left out because nobody asked for it (`--output`)",
        "left out because nobody asked for it (`include_output`)",
    )
}

fn unasked_events(voice: Voice) -> &'static str {
    voice.say(
        "left out because nobody asked for them (`--events`)",
        "left out because nobody asked for them (`include_events`)",
    )
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResultMeta {
    /// How many tasks are in this reply.
    pub(crate) count: usize,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

/// One task with what came of it, or with how far it is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskResult {
    task_id: TaskId,
    run_id: RunId,
    /// Holds everything the run produced.
    run_dir: PathBuf,
    #[schemars(extend("enum" = ["pending", "working", "completed", "failed", "cancelled", "timeout"]))]
    pub(crate) state: &'static str,
    /// What came of it in one line; while it works, what it is doing.
    summary: String,
    /// `agent` when the summary is the agent's own account rather than ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    report_by: Option<&'static str>,
    /// Files that the agent says it made or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deliverables: Vec<Deliverable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_questions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next_actions: Vec<String>,
    /// What the caller should know though it ended nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// Seconds that the run took, or has taken so far.
    duration_seconds: f64,
    /// Absent until the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_ts: Option<Timestamp>,
    /// Of the agent's process, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The run was not finished when the reply was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wait_exceeded: bool,
    /// Where the run is; absent once it is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    metadata: Metadata,
    /// The files of the run directory.
    artifacts: Vec<ArtifactRef>,
    output: Output,
    events: Events,
}

/// One of several tasks: enough to know which of them to read in full.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Brief {
    task_id: TaskId,
    #[schemars(extend("enum" = ["pending", "working", "completed", "failed", "cancelled", "timeout"]))]
    state: &'static str,
    /// The beginning of what came of it; while it works, what it is doing.
    summary: String,
    /// `agent` when the summary is the agent's own account rather than ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    report_by: Option<&'static str>,
    /// Seconds that the run took, or has taken so far.
    duration_seconds: f64,
    /// Of the agent's process, where it ended by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// How far it is, in a line: by its plan and by what it did. Absent once the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<String>,
    /// What became of the files, in a line; present once the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<String>,
    /// How the tests went, in a line; present where some were seen to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<String>,
    /// What failed and was not seen to succeed later, though the run did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    unresolved_error: Option<String>,
    /// The run was not finished when the reply was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wait_exceeded: bool,
}

impl Brief {
    pub(super) fn of(results: &Results, now: Timestamp) -> Self {
        let facts = Facts::of(&results.view);
        let evidence = results.view.evidence.as_ref();
        let tests = evidence.and_then(|evidence| evidence.tests.as_ref());
        Self {
            task_id: results.view.row.id.clone(),
            state: facts.state.in_envelope(),
            summary: title(&facts.summary),
            report_by: facts.reported.then_some("agent"),
            duration_seconds: seconds(facts.elapsed_ms(now)),
            exit_code: facts.exit_code,
            progress: SoFar::of(&results.view).and_then(|so_far| so_far.line()),
            files: FileOperations::seen(&results.view).map(|files| files.line()),
            tests: tests.map(|tests| TestsSeen::of(tests).line()),
            unresolved_error: Unresolved::line_of(&results.view),
            wait_exceeded: !facts.state.is_final(),
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct ArtifactRef {
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["file"]))]
    kind: &'static str,
    #[serde(rename = "ref")]
    path: PathBuf,
    size: u64,
}

/// What a run printed, as much of it as a reply holds.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    included: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    truncated: bool,
    /// For both streams together.
    max_bytes: u64,
    /// Of both streams, before anything was cut; present where they are included.
    #[serde(skip_serializing_if = "Option::is_none")]
    original_size: Option<u64>,
    /// Of an agent that emits events: a readable account of them, and where the
    /// run went wrong, the end of what its last failing command printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stderr: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Events {
    included: bool,
    /// How many events the run has had.
    count: u64,
    /// Why they are not included.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The last 50 at most, as the agent wrote them, long texts cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    items: Option<Vec<Value>>,
}

impl TaskResult {
    pub(crate) fn of(results: &Results, now: Timestamp, voice: Voice) -> Self {
        let view = &results.view;
        let facts = Facts::of(view);
        Self {
            task_id: view.row.id.clone(),
            run_id: view.row.run_id.clone(),
            run_dir: view.dir.path().to_owned(),
            state: facts.state.in_envelope(),
            report_by: facts.reported.then_some("agent"),
            duration_seconds: seconds(facts.elapsed_ms(now)),
            completed_ts: facts.finished_at,
            exit_code: facts.exit_code,
            wait_exceeded: !facts.state.is_final(),
            progress: Progress::so_far(view, &facts, now, voice),
            metadata: Metadata::of(results, &facts, now, voice),
            artifacts: results.artifacts.iter().map(ArtifactRef::of).collect(),
            output: results.output.as_ref().map_or_else(|| Output::left_out(voice), Output::of),
            events: Events::of(results, voice),
            deliverables: facts.answer.deliverables,
            open_questions: facts.answer.open_questions,
            next_actions: facts.answer.next_actions,
            warnings: facts.warnings,
            summary: facts.summary,
        }
    }
}

impl ArtifactRef {
    fn of(artifact: &reading::Artifact) -> Self {
        Self { kind: "file", path: artifact.path.clone(), size: artifact.bytes }
    }
}

impl Output {
    fn left_out(voice: Voice) -> Self {
        Self {
            included: false,
            reason: Some(unasked_output(voice)),
            truncated: false,
            max_bytes: 0,
            original_size: None,
            stdout: None,
            stderr: None,
        }
    }

    pub(super) fn of(output: &reading::Output) -> Self {
        let reading::Output { max_bytes, stdout, stderr } = output;
        let truncated = stdout.cut || stderr.cut;
        Self {
            included: true,
            reason: None,
            truncated,
            max_bytes: *max_bytes,
            original_size: Some(stdout.total_bytes + stderr.total_bytes),
            stdout: Some(stdout.text.clone()),
            stderr: Some(stderr.text.clone()),
        }
    }
}

impl Events {
    fn of(results: &Results, voice: Voice) -> Self {
        let progress =
            results.view.progress.as_ref().filter(|_| results.view.row.agent.abilities().emits_events());
        let count = progress.map_or(0, |progress| progress.counters.events);
        let items = results
            .events
            .as_ref()
            .map(|events| events.iter().filter(|one| one.is_object()).cloned().collect());
        let reason = if results.events.is_none() { Some(unasked_events(voice)) } else { None };
        Self { included: results.events.is_some(), count, reason, items }
    }
}
