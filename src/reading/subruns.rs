//! Reads how far the jobs of a coordinator are: from its plan, and from the directories of their runs.

use crate::model::{
    Answer, Decision, Job, JobRecord, JobStatus, PlanRecord, Progress, RunResult, State, TaskId, WorktreeEnd,
};
use crate::reading::artifact::{HeadAndTail, read_artifact};
use crate::reading::view::is_alive;
use crate::runs::{ArtifactName, RunDir};

/// A planner's answer is shorter.
const LONGEST_ANSWER: u64 = 1 << 20;

/// A plan with its jobs as they are now.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) decision: Option<Decision>,
    /// The planner's job first, if an agent makes the plan.
    pub(crate) subruns: Vec<Subrun>,
    pub(crate) has_planner: bool,
}

/// A job of a plan, with what its run has come to.
#[derive(Debug)]
pub(crate) struct Subrun {
    pub(crate) job: Job,
    pub(crate) task_id: Option<TaskId>,
    /// Absent until it is submitted.
    pub(crate) dir: Option<RunDir>,
    pub(crate) state: SubrunState,
    /// Once it has ended.
    pub(crate) result: Option<RunResult>,
    /// While it runs.
    pub(crate) progress: Option<Progress>,
    /// The names of its files, once it has ended.
    pub(crate) files: Vec<String>,
}

impl Tree {
    /// The jobs of the plan, without the planner's.
    pub(crate) fn planned(&self) -> &[Subrun] {
        self.subruns.get(usize::from(self.has_planner)..).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SubrunState {
    /// It comes after jobs that have not completed yet, or the plan allows no more at the same time.
    Waiting,
    /// Its task is in this state.
    Task(State),
    Skipped(String),
}

/// The plan of the coordinator's run in `dir`, if it has one.
pub(super) fn tree(dir: &RunDir) -> Option<Tree> {
    let plan: PlanRecord = dir.read_state(&dir.plan()).ok().flatten()?;
    let subruns = subruns(dir, &plan);
    let has_planner = plan.planner().is_some();
    Some(Tree { decision: plan.decision, subruns, has_planner })
}

/// The jobs of `plan`, whose coordinator's directory is `dir`.
pub(crate) fn subruns(dir: &RunDir, plan: &PlanRecord) -> Vec<Subrun> {
    plan.jobs.iter().map(|record| Subrun::read(dir, record)).collect()
}

/// What the running jobs do, if any runs.
pub(crate) fn activity(subruns: &[Subrun]) -> Option<String> {
    let running = subruns.iter().filter_map(|subrun| {
        let progress = subrun.progress.as_ref()?;
        Some(format!("{}: {}", subrun.job.id, progress.activity))
    });
    let running: Vec<String> = running.collect();
    (!running.is_empty()).then(|| running.join("; "))
}

impl Subrun {
    fn read(parent: &RunDir, record: &JobRecord) -> Self {
        let dir = record.run_id.as_ref().map(|run| parent.of(run));
        let is_open = dir.as_ref().is_some_and(is_alive);
        let ended = dir.as_ref().filter(|_| !is_open);
        // A record beside a live supervisor may have been planted.
        let result = ended.and_then(|dir| dir.read_result().ok().flatten());
        let has_started = || dir.as_ref().is_some_and(|dir| dir.started().exists());
        let state = match (&record.status, &result) {
            (JobStatus::Waiting, _) => SubrunState::Waiting,
            (JobStatus::Skipped(reason), _) => SubrunState::Skipped(reason.clone()),
            (JobStatus::Ended(state), _) => SubrunState::Task(*state),
            (JobStatus::Submitted, Some(result)) => SubrunState::Task(result.state()),
            (JobStatus::Submitted, None) if has_started() => SubrunState::Task(State::Working),
            (JobStatus::Submitted, None) => SubrunState::Task(State::Pending),
        };
        let is_working = state == SubrunState::Task(State::Working);
        let progress = dir.as_ref().filter(|_| is_working).and_then(RunDir::read_progress);
        let files = dir.as_ref().filter(|_| result.is_some()).map(RunDir::artifacts).unwrap_or_default();
        let files = files.into_iter().map(|(name, _)| name.to_string()).collect();
        Self { job: record.job.clone(), task_id: record.task_id.clone(), dir, state, result, progress, files }
    }

    pub(crate) fn is_over(&self) -> bool {
        match &self.state {
            SubrunState::Waiting => false,
            SubrunState::Skipped(_) => true,
            SubrunState::Task(state) => state.is_final(),
        }
    }

    /// `scan (T-local-0123456789ab): completed`.
    pub(crate) fn line(&self) -> String {
        let task = self.task_id.as_ref().map(|task| format!(" ({task})")).unwrap_or_default();
        let state = match &self.state {
            SubrunState::Waiting if self.job.after.is_empty() => "waiting".to_owned(),
            SubrunState::Waiting => format!("waiting, after {}", self.job.after.join(", ")),
            SubrunState::Skipped(reason) => format!("skipped: {reason}"),
            SubrunState::Task(state) => state.as_str().to_owned(),
        };
        format!("{}{task}: {state}", self.job.id)
    }

    /// The branch with what it has changed, if it completed.
    pub(crate) fn changed_branch(&self) -> Option<&WorktreeEnd> {
        let completed = self.state == SubrunState::Task(State::Completed);
        let end = self.result.as_ref().filter(|_| completed)?.worktree.as_ref();
        end.filter(|end| end.is_changed())
    }

    /// What it reported; for a run without a structured answer, its summary alone.
    pub(crate) fn into_answer(self) -> Option<Answer> {
        let result = self.result?;
        let summary = result.summary;
        Some(result.answer.unwrap_or_else(|| Answer { summary, ..Answer::default() }))
    }

    /// Its last message as it was written.
    pub(crate) fn last_message(self) -> Option<String> {
        let name = ArtifactName::parse("last_message.json")?;
        let written = read_artifact(self.dir.as_ref()?, &name, LONGEST_ANSWER);
        // One that wrote no file said it in its summary.
        let said = || self.result.map(|result| result.summary);
        written.ok().map(|HeadAndTail { head, .. }| head).or_else(said)
    }
}
