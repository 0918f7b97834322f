//! The report of one run: S1's object, the answer of `run` and `resume`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Voice;
use crate::model::{RunId, SkillEntry, State, TaskId, Timestamp};
use crate::reading::{Artifact, Results};
use crate::reply::agent_answer::{self, Deliverable};
use crate::reply::autopilot::SubrunReply;
use crate::reply::cloud_task::CloudTask;
use crate::reply::command_counts::CommandsSeen;
use crate::reply::eta::Eta;
use crate::reply::failed_commands;
use crate::reply::failure_cause::{self, Cause, Unresolved};
use crate::reply::file_operations::FileOperations;
use crate::reply::metadata::{PartialResults, seconds};
use crate::reply::next_steps::{Next, NextCall};
use crate::reply::progress::Progress;
use crate::reply::progress_text::SoFar;
use crate::reply::result_set::Output;
use crate::reply::task_facts::Facts;
use crate::reply::test_results::TestsSeen;
use crate::reply::token_usage::Tokens;
use crate::reply::worktree_seen::WorktreeSeen;
use crate::text::plain;

const LONGEST_SKILL_DESCRIPTION: usize = 120;

/// The most files that a report points to.
const MOST_OPENED: usize = 4;

/// The result of one run, short enough to read whole. It points to files for everything else.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    pub(crate) task_id: TaskId,
    pub(crate) run_id: RunId,
    /// The directory with everything that the run produced.
    pub(crate) run_dir: PathBuf,
    /// The agent's conversation id, needed to resume it; null until known.
    pub(crate) subagent_thread_id: Option<String>,
    /// For a resumed task: the task that it continues. For a job: the task that planned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent_task_id: Option<String>,
    /// Skills that the agent was told about.
    pub(crate) selected_skills: Vec<Skill>,
    /// The result; for a working run, what it is doing.
    pub(crate) summary: String,
    /// The answer to the caller's own schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "agent_answer::schema")]
    pub(crate) answer: Option<Value>,
    /// The length of that answer, if it does not fit here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer_bytes: Option<u64>,
    /// Files that the agent says it created or changed.
    pub(crate) deliverables: Vec<Deliverable>,
    pub(crate) open_questions: Vec<String>,
    pub(crate) next_actions: Vec<String>,
    /// At most four files of the run directory that are worth opening.
    pub(crate) artifacts: Vec<Pointer>,
    pub(crate) timing: Timing,
    #[schemars(extend("enum" = ["working", "completed", "failed", "cancelled"]))]
    pub(crate) status: &'static str,
    /// Why the run failed or was ended by a limit.
    pub(crate) error: Option<String>,
    /// At most three calls worth making now, the most useful first.
    #[serde(rename = "next")]
    pub(crate) calls: Vec<NextCall>,
    /// How far a working run is; absent if the call did not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Progress>,
    /// What the caller should know although it did not end the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) warnings: Vec<String>,
    /// Estimated remaining time of a working run; absent if too few earlier runs took longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) eta: Option<Eta>,
    /// File changes; present once the run is finished.
    #[serde(rename = "file_operations", skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<FileOperations>,
    /// The worktree of the run; present if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<WorktreeSeen>,
    /// For a task in the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cloud: Option<CloudTask>,
    /// Command counts by outcome. Present once an agent's run is finished, if it ran commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commands: Option<CommandsSeen>,
    /// Present if tests were seen to run.
    #[serde(rename = "test_results", skip_serializing_if = "Option::is_none")]
    pub(crate) tests: Option<TestsSeen>,
    /// For a coordinator's task: what its jobs have come to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) jobs: Vec<SubrunReply>,
    /// Tokens of this run; absent if the agent did not report them.
    #[serde(rename = "token_usage", skip_serializing_if = "Option::is_none")]
    pub(crate) tokens: Option<Tokens>,
    /// What it printed: the last lines of a failed run, or more if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<Output>,
    /// `agent` if the agent wrote the summary; otherwise `delegator` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    pub(crate) report_by: Option<&'static str>,
    /// The same request was accepted before; this is its task.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deduplicated: bool,
    /// Other notes, such as finished runs that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    /// The wait ended before the run did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) wait_exceeded: bool,
    /// The state, spelled as in the structure that goes with the text.
    #[serde(skip)]
    pub(crate) state: &'static str,
    /// Code and advice of a failure.
    #[serde(rename = "error_context", skip_serializing_if = "Option::is_none")]
    pub(crate) advice: Option<Advice>,
    /// Present if the run itself did not fail, but a command or an action still did.
    #[serde(rename = "unresolved_error", skip_serializing_if = "Option::is_none")]
    pub(crate) unresolved: Option<Unresolved>,
    /// Other failed commands, each with whether the same line passed later.
    #[serde(rename = "earlier_errors", skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<String>,
    /// What to do next, for the text.
    #[serde(skip)]
    pub(crate) next: Next,
    /// Progress of a working run; in the text if the structure has it too.
    #[serde(skip)]
    pub(crate) so_far: Option<SoFar>,
    #[serde(skip)]
    pub(crate) voice: Voice,
}

/// Code and advice of a failure.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Advice {
    pub(crate) code: String,
    /// Distinguishes failures with the same code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// Whether the same request may succeed if repeated.
    pub(crate) retryable: bool,
    /// What to try instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
    #[serde(flatten)]
    pub(crate) cause: Cause,
    /// Which limit ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["idle", "hard", "command"]))]
    pub(crate) timeout_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) elapsed_seconds: Option<f64>,
    /// How far the run came before it was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) partial_results: Option<PartialResults>,
    /// Suggestions from the errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) suggestions: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Skill {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[schemars(extend("enum" = ["repo", "global"]))]
    pub(crate) origin: &'static str,
    pub(crate) path: PathBuf,
}

impl Skill {
    pub(crate) fn of(entry: &SkillEntry) -> Self {
        let description = entry.description.as_ref();
        Self {
            name: entry.name.clone(),
            description: description.map(|text| plain::line(text, LONGEST_SKILL_DESCRIPTION)),
            origin: entry.origin.as_str(),
            path: entry.path.clone(),
        }
    }

    /// `name (origin)`
    pub(crate) fn line(&self) -> String {
        format!("{} ({})", self.name, self.origin)
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Pointer {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Timing {
    /// When the run started; for a queued task, when it was accepted.
    pub(crate) started_at: Timestamp,
    /// Absent until the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) finished_at: Option<Timestamp>,
    /// Absent until the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
}

impl Report {
    pub(crate) fn of(results: &Results, facts: &Facts, now: Timestamp, voice: Voice) -> Self {
        let view = &results.view;
        let evidence = view.evidence.as_ref();
        let errors = evidence.and_then(|evidence| evidence.errors.as_ref());
        let next = Next::beside(results);
        let (answer, answer_bytes) = agent_answer::parsed(results);
        Self {
            task_id: view.row.id.clone(),
            run_id: view.row.run_id.clone(),
            run_dir: view.dir.path().to_owned(),
            subagent_thread_id: facts.thread_id.clone(),
            parent_task_id: view.row.parent_task_id.clone(),
            selected_skills: results.skills.iter().map(Skill::of).collect(),
            deliverables: Deliverable::all(results, facts),
            open_questions: facts.answer.open_questions.clone(),
            next_actions: facts.answer.next_actions.clone(),
            artifacts: worth_opening(results, facts.state),
            timing: Timing {
                started_at: facts.started_at.unwrap_or(view.row.created_at),
                finished_at: facts.finished_at,
                duration_ms: facts.duration_ms,
            },
            status: facts.state.in_report(),
            state: facts.state.in_report(),
            advice: facts.trouble.as_ref().map(|trouble| Advice {
                code: trouble.code.clone(),
                reason: trouble.reason.clone(),
                retryable: trouble.retryable,
                hint: trouble.hint(voice),
                cause: errors.map(Cause::of).unwrap_or_default(),
                timeout_type: trouble.limit.map(|(limit, _)| limit.as_str()),
                elapsed_seconds: trouble.limit.map(|(_, elapsed)| seconds(elapsed)),
                partial_results: results.partial.as_ref().map(PartialResults::of),
                suggestions: errors
                    .map(|errors| failure_cause::suggestions(errors, trouble.hint(voice).as_deref()))
                    .unwrap_or_default(),
            }),
            unresolved: Unresolved::of(errors, facts.trouble.as_ref()),
            earlier: evidence.map(|evidence| failed_commands::lines(&evidence.earlier)).unwrap_or_default(),
            error: facts.trouble.as_ref().map(|trouble| trouble.message.clone()),
            warnings: facts.warnings.clone(),
            eta: Eta::of(view, now),
            files: FileOperations::seen(view),
            worktree: WorktreeSeen::of(view, voice),
            cloud: CloudTask::of(results),
            commands: CommandsSeen::of(&results.view),
            tests: evidence.and_then(|evidence| evidence.tests.as_ref()).map(TestsSeen::of),
            jobs: SubrunReply::all(results),
            tokens: facts.usage.map(Tokens::of),
            output: results.output.as_ref().map(Output::of),
            report_by: facts.reported.then_some("agent"),
            summary: agent_answer::summary(results, facts),
            answer,
            answer_bytes,
            deduplicated: false,
            wait_exceeded: false,
            notice: None,
            calls: next.calls(),
            next,
            progress: None,
            so_far: None,
            voice,
        }
    }

    /// For a reply whose structure is an envelope, which has more states and the whole answer.
    pub(crate) fn in_envelope(self, results: &Results, facts: &Facts) -> Self {
        let view = &results.view;
        let (summary, answer) = agent_answer::summary_and_answer(results, facts);
        let next = self.next.answered();
        Self {
            state: view.state().in_envelope(),
            so_far: SoFar::of(view),
            summary,
            answer,
            calls: next.calls(),
            next,
            ..self
        }
    }

    /// For a wait result: the files of a run that went well are in its result set.
    pub(crate) fn beside_wait_meta(self) -> Self {
        let went_well = self.state == State::Completed.in_envelope();
        let named = self.cloud.as_ref().map_or(&[][..], |cloud| &cloud.changes);
        let stays = |file: &Pointer| !went_well || named.contains(&file.name);
        let artifacts = self.artifacts.into_iter().filter(stays).collect();
        Self { artifacts, ..self }
    }

    /// For a caller that waited: with the progress of an unfinished run.
    pub(crate) fn waited(self, results: &Results, facts: &Facts, now: Timestamp) -> Self {
        let progress = Progress::so_far(&results.view, facts, now, self.voice);
        Self { so_far: SoFar::of(&results.view), progress, ..self }
    }

    /// For a caller that did not wait: an unfinished run has nothing to open yet.
    pub(crate) fn acknowledging(self, state: State) -> Self {
        if state.is_final() {
            return self;
        }
        let next = self.next.acknowledging();
        Self { artifacts: Vec::new(), calls: next.calls(), next, ..self }
    }

    /// `; files: 3 changed, +10 -2 lines (git); tests: …`, as far as known; for a working run, `; progress:
    /// …`.
    pub(crate) fn facts_line(&self) -> String {
        let progress = self.so_far.as_ref().and_then(SoFar::line);
        let progress = progress.map(|progress| format!("; progress: {progress}"));
        let files = self.files.as_ref().map(|files| format!("; files: {}", files.line()));
        let tests = self.tests.as_ref().map(|tests| format!("; tests: {}", tests.line()));
        let unresolved = self.unresolved.as_ref();
        let unresolved = unresolved.map(|left| format!("; unresolved_error: {}", left.line()));
        [progress, files, tests, unresolved].into_iter().flatten().collect()
    }
}

/// The changes that came back from the cloud, the answer or the output, the transcript, and if something went wrong the errors and the record.
fn worth_opening(results: &Results, state: State) -> Vec<Pointer> {
    let wrong = state.is_final() && state != State::Completed;
    let file = |name: &str| results.artifacts.iter().find(|file| file.name.as_str() == name);
    let complained =
        |file: &&Artifact| wrong || results.view.row.agent.abilities().is_command_line() && file.bytes > 0;
    let others = [
        ["last_message.json", "stdout.log", "autopilot_aggregate.json"].into_iter().find_map(file),
        file("transcript.log"),
        file("stderr.log").filter(complained),
        file("result.json").filter(|_| wrong),
    ];
    let pointer = |file: &Artifact| Pointer { name: file.name.to_string(), path: file.path.clone() };
    results.changes().chain(others.into_iter().flatten()).take(MOST_OPENED).map(pointer).collect()
}
