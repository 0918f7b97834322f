//! The report of an autopilot task: its decision, its plan, its jobs, and what they reported together.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Voice;
use crate::model::{Decision, Job, RunId, Sandbox, SkillsMode, State, TaskId, ThinkingLevel};
use crate::reading::{Results, Subrun, SubrunState, Tree};
use crate::reply::agent_answer::Deliverable;
use crate::reply::next_steps::{Next, NextCall};
use crate::reply::progress::Progress;
use crate::reply::report::{Pointer, Report, Timing};
use crate::reply::worktree_seen::WorktreeSeen;
use crate::text::plain;

/// What an autopilot task decided, planned and did.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AutopilotReport {
    pub(crate) task_id: TaskId,
    pub(crate) run_id: RunId,
    /// The directory of the task; those of its jobs are linked below `subruns`.
    pub(crate) run_dir: PathBuf,
    #[schemars(extend("enum" = ["working", "completed", "failed", "cancelled"]))]
    pub(crate) status: &'static str,
    pub(crate) timing: Timing,
    /// Null until it is decided.
    pub(crate) decision: Option<Decision>,
    pub(crate) plan: PlanReply,
    /// What the jobs of the plan have come to, in its order; first the planner's own, if an agent plans.
    pub(crate) jobs: Vec<SubrunReply>,
    /// Null until the task has ended.
    pub(crate) aggregate: Option<Aggregate>,
    /// The branch with the work of all jobs; absent until the task has ended, and if no job worked on a branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<WorktreeSeen>,
    /// At most four files of the run directory that are worth opening.
    pub(crate) artifacts: Vec<Pointer>,
    pub(crate) warnings: Vec<String>,
    /// Why the task failed or was ended by a limit.
    pub(crate) error: Option<String>,
    /// At most three calls worth making now, the most useful first.
    #[serde(rename = "next")]
    pub(crate) calls: Vec<NextCall>,
    /// How far a working task is; absent if the call did not wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<Progress>,
    /// The same request was accepted before; this is its task.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) deduplicated: bool,
    /// The wait ended before the task did.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) wait_exceeded: bool,
    /// Other notes, such as finished runs that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    #[serde(skip)]
    pub(super) next: Next,
    #[serde(skip)]
    pub(super) voice: Voice,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PlanReply {
    pub(crate) jobs: Vec<JobReply>,
}

/// A job as planned.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobReply {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The jobs that must complete first.
    pub(crate) after: Vec<String>,
    pub(crate) thinking_level: Option<ThinkingLevel>,
    #[schemars(with = "Option<String>")]
    pub(crate) sandbox: Option<Sandbox>,
    #[schemars(with = "Option<String>")]
    pub(crate) skills_mode: Option<SkillsMode>,
    pub(crate) max_skills: Option<usize>,
}

/// What a job of a plan has come to.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SubrunReply {
    pub(crate) job_id: String,
    /// `pending`: waits for earlier jobs, or for a free slot. `skipped`: never started, because an earlier job did
    /// not complete.
    #[schemars(extend("enum" = ["pending", "working", "completed", "failed", "cancelled", "skipped"]))]
    pub(crate) status: &'static str,
    /// Absent until it is submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subagent_thread_id: Option<String>,
    /// What it reported; what it is doing; or why it does nothing.
    pub(crate) summary: String,
    /// `agent` if the agent wrote the summary; otherwise `delegator` did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["agent"]))]
    pub(crate) report_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run_dir: Option<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) artifacts: Vec<Pointer>,
}

/// What the jobs reported, put together.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Aggregate {
    pub(crate) summary: String,
    pub(crate) deliverables: Vec<Deliverable>,
    pub(crate) open_questions: Vec<String>,
    pub(crate) next_actions: Vec<String>,
}

impl AutopilotReport {
    /// The report of a coordinator's task; `report` is that of any task.
    pub(crate) fn of(report: Report, results: &Results) -> Self {
        let is_over = results.view.state().is_final();
        let tree = results.tree.as_ref();
        let planned = tree.map(Tree::planned).unwrap_or_default();
        let Report { summary, deliverables, open_questions, next_actions, .. } = report;
        Self {
            task_id: report.task_id,
            run_id: report.run_id,
            run_dir: report.run_dir,
            status: report.status,
            timing: report.timing,
            decision: tree
                .and_then(|tree| tree.decision.as_ref())
                .map(|decision| Decision { reason: plain::text(&decision.reason), ..decision.clone() }),
            plan: PlanReply { jobs: planned.iter().map(|subrun| JobReply::of(&subrun.job)).collect() },
            jobs: SubrunReply::all(results),
            aggregate: is_over.then_some(Aggregate { summary, deliverables, open_questions, next_actions }),
            worktree: report.worktree,
            artifacts: report.artifacts,
            warnings: report.warnings,
            error: report.error,
            calls: report.calls,
            progress: report.progress,
            deduplicated: report.deduplicated,
            wait_exceeded: report.wait_exceeded,
            notice: report.notice,
            next: report.next,
            voice: report.voice,
        }
    }
}

impl JobReply {
    fn of(job: &Job) -> Self {
        Self {
            id: job.id.clone(),
            title: plain::text(&job.title),
            after: job.after.clone(),
            thinking_level: job.thinking_level,
            sandbox: job.sandbox,
            skills_mode: job.skills_mode,
            max_skills: job.max_skills,
        }
    }
}

impl SubrunReply {
    /// The jobs of a coordinator's task; none for other tasks.
    pub(super) fn all(results: &Results) -> Vec<Self> {
        let Some(tree) = &results.tree else { return Vec::new() };
        let mut all: Vec<Self> = tree.subruns.iter().map(Self::of).collect();
        // The planner's answer has the prompts of all jobs.
        if let (Some(planner), Some(decision)) =
            (all.first_mut().filter(|_| tree.has_planner), &tree.decision)
        {
            planner.summary = plain::text(&decision.reason);
        }
        all
    }

    fn of(subrun: &Subrun) -> Self {
        let status = match &subrun.state {
            SubrunState::Waiting | SubrunState::Task(State::Pending) => "pending",
            SubrunState::Skipped(_) => "skipped",
            SubrunState::Task(state) => state.in_report(),
        };
        let result = subrun.result.as_ref();
        let said = match (&subrun.state, result, &subrun.progress) {
            (SubrunState::Waiting, _, _) if subrun.job.after.is_empty() => "waits for other jobs".to_owned(),
            (SubrunState::Waiting, _, _) => format!("waits for {}", subrun.job.after.join(", ")),
            (SubrunState::Skipped(reason), _, _) => reason.clone(),
            (SubrunState::Task(_), Some(result), _) => result.summary.clone(),
            (SubrunState::Task(_), None, Some(progress)) => progress.activity.clone(),
            (SubrunState::Task(State::Pending), None, None) => "queued".to_owned(),
            (SubrunState::Task(State::Working), None, None) => "starting".to_owned(),
            (SubrunState::Task(_), None, None) => "its result cannot be read".to_owned(),
        };
        let completed = subrun.state == SubrunState::Task(State::Completed);
        let reported = completed && result.is_some() && !subrun.job.agent.abilities().is_command_line();
        let names: &[&str] = match (result, completed) {
            (None, _) => &[],
            (Some(_), true) => &["last_message.json"],
            (Some(_), false) => &["last_message.json", "stderr.log", "result.json"],
        };
        let pointer = |dir: &PathBuf, name: &str| Pointer { name: name.to_owned(), path: dir.join(name) };
        let dir = subrun.dir.as_ref().map(|dir| dir.path().to_owned());
        let has = |name: &str| subrun.files.iter().any(|file| file == name);
        Self {
            job_id: subrun.job.id.clone(),
            status,
            task_id: subrun.task_id.clone(),
            duration_ms: result.map(|result| result.duration_ms),
            subagent_thread_id: result.and_then(|result| result.thread_id.clone()),
            summary: plain::text(&said),
            report_by: reported.then_some("agent"),
            artifacts: dir
                .iter()
                .flat_map(|dir| names.iter().filter(|name| has(name)).map(|name| pointer(dir, name)))
                .collect(),
            run_dir: dir,
        }
    }
}
