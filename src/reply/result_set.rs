//! `result_set`: everything known about one task, with its output if asked for or if the run failed.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Voice;
use crate::model::{State, TaskId, Timestamp};
use crate::reading::{self, Results};
use crate::reply::agent_answer::{self, Deliverable};
use crate::reply::autopilot::SubrunReply;
use crate::reply::changed_files::{ChangedFile, changed_files};
use crate::reply::failure_cause::Unresolved;
use crate::reply::file_operations::FileOperations;
use crate::reply::metadata::{Metadata, seconds};
use crate::reply::progress::Progress;
use crate::reply::progress_text::SoFar;
use crate::reply::report_text::title;
use crate::reply::task_facts::Facts;
use crate::reply::test_results::TestsSeen;

fn unasked_output(voice: Voice) -> &'static str {
    voice.say("not requested (`--output`)", "not requested (`include_output`)")
}

fn unasked_events(voice: Voice) -> &'static str {
    voice.say("not requested (`--events`)", "not requested (`include_events`)")
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResultMeta {
    /// How many tasks are in this reply.
    pub(crate) count: usize,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

/// One task with its result or its progress.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskResult {
    task_id: TaskId,
    /// The directory with everything that the run produced.
    run_dir: PathBuf,
    #[schemars(extend("enum" = ["pending", "working", "unknown", "completed", "failed", "cancelled", "timeout"]))]
    pub(crate) state: &'static str,
    /// The result in one line; for a working run, what it is doing.
    summary: String,
    /// `agent` if the agent wrote the summary; otherwise `delegator` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    report_by: Option<&'static str>,
    /// The agent's whole answer, if the summary is not all of it: its text, or parsed if the caller gave a schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "agent_answer::schema")]
    answer: Option<Value>,
    /// The length of an answer to the caller's schema that does not fit here.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer_bytes: Option<u64>,
    /// Files that the agent says it created or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deliverables: Vec<Deliverable>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_questions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next_actions: Vec<String>,
    /// For a coordinator's task: what its jobs have come to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jobs: Vec<SubrunReply>,
    /// What the caller should know although it did not end the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// Seconds that the run took, or has taken so far.
    duration_seconds: f64,
    /// Absent until the run is finished; a wait result has it in `meta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_ts: Option<Timestamp>,
    /// The exit code of the agent's process, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The wait ended before the run did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wait_exceeded: bool,
    /// The run's progress; absent once it is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    metadata: Metadata,
    /// The first 20 files of the checkout that the run created or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<ChangedFile>,
    /// How many more there are; `file_operations` names them.
    #[serde(skip_serializing_if = "is_zero")]
    artifacts_left_out: usize,
    /// The run's own files, relative to `run_dir`. A wait result has them if the run did not complete; of a task that did,
    /// only what changed in the cloud.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    output: Output,
    /// Only in a result set.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Events>,
}

/// One of several tasks, short enough to decide which to read in full.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Brief {
    task_id: TaskId,
    #[schemars(extend("enum" = ["pending", "working", "unknown", "completed", "failed", "cancelled", "timeout"]))]
    state: &'static str,
    /// The beginning of the result; for a working run, what it is doing.
    summary: String,
    /// `agent` if the agent wrote the summary; otherwise `delegator` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    report_by: Option<&'static str>,
    /// Seconds that the run took, or has taken so far.
    duration_seconds: f64,
    /// The exit code of the agent's process, if it exited by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The progress in one line, from the plan and from what was done. Absent once the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<String>,
    /// File changes in one line; present once the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<String>,
    /// Test results in one line; present if tests were seen to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    tests: Option<String>,
    /// What failed and did not pass later, although the run itself did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    unresolved_error: Option<String>,
    /// The run was not finished when the reply was made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    wait_exceeded: bool,
}

impl Brief {
    pub(super) fn of(results: &Results, facts: &Facts, now: Timestamp) -> Self {
        let evidence = results.view.evidence.as_ref();
        let tests = evidence.and_then(|evidence| evidence.tests.as_ref());
        let errors = evidence.and_then(|evidence| evidence.errors.as_ref());
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
            unresolved_error: Unresolved::of(errors, facts.trouble.as_ref())
                .map(|unresolved| unresolved.line()),
            wait_exceeded: !results.view.needs_no_wait(),
        }
    }
}

/// What a run printed, as much as fits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    included: bool,
    /// Why it is not included.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    truncated: bool,
    /// For both streams together.
    max_bytes: u64,
    /// The size of both streams before cutting; present if they are included.
    #[serde(skip_serializing_if = "Option::is_none")]
    original_size: Option<u64>,
    /// For an agent that emits events: a readable log, and for a failed run the end of its last failed
    /// command's output.
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
    /// At most the last 50, as the agent wrote them, with long texts cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    items: Option<Vec<Value>>,
}

impl TaskResult {
    pub(crate) fn of(results: &Results, facts: &Facts, now: Timestamp, voice: Voice) -> Self {
        let view = &results.view;
        let (artifacts, artifacts_left_out) = changed_files(view);
        let (summary, answer) = agent_answer::summary_and_answer(results, facts);
        let (_, answer_bytes) = agent_answer::parsed(results);
        Self {
            task_id: view.row.id.clone(),
            run_dir: view.dir.path().to_owned(),
            state: facts.state.in_envelope(),
            report_by: facts.reported.then_some("agent"),
            duration_seconds: seconds(facts.elapsed_ms(now)),
            completed_ts: facts.finished_at,
            exit_code: facts.exit_code,
            wait_exceeded: false,
            progress: Progress::so_far(view, facts, now, voice),
            metadata: Metadata::of(results, facts, now, voice),
            artifacts,
            artifacts_left_out,
            files: results.artifacts.iter().map(|file| file.name.to_string()).collect(),
            output: results.output.as_ref().map_or_else(|| Output::left_out(voice), Output::of),
            events: None,
            deliverables: Deliverable::all(results, facts),
            jobs: SubrunReply::all(results),
            open_questions: facts.answer.open_questions.clone(),
            next_actions: facts.answer.next_actions.clone(),
            warnings: facts.warnings.clone(),
            summary,
            answer,
            answer_bytes,
        }
    }

    /// For a caller that waited for it.
    pub(crate) fn waited(self, results: &Results) -> Self {
        Self { wait_exceeded: !results.view.needs_no_wait(), ..self }
    }

    /// Without what `meta` of a wait result says. The files of a run that went well are in its result set.
    pub(super) fn beside_wait_meta(self) -> Self {
        let went_well = self.state == State::Completed.in_envelope();
        let named = self.metadata.cloud.as_ref().map_or(&[][..], |cloud| &cloud.changes);
        let files = self.files.into_iter().filter(|file| !went_well || named.contains(file)).collect();
        Self { completed_ts: None, exit_code: None, files, ..self }
    }

    /// For a result set.
    pub(crate) fn with_events(self, results: &Results, voice: Voice) -> Self {
        Self { events: Some(Events::of(results, voice)), ..self }
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
        let items: Option<Vec<Value>> = results
            .events
            .as_ref()
            .map(|events| events.iter().filter(|one| one.is_object()).cloned().collect());
        let reason = if results.events.is_none() { Some(unasked_events(voice)) } else { None };
        // While it works, the counter is up to a second old.
        let count = count.max(items.as_ref().map_or(0, |items| items.len() as u64));
        Self { included: results.events.is_some(), count, reason, items }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
