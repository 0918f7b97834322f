//! What an autopilot task was asked for, and what its coordinator has decided and done so far.

use serde::{Deserialize, Serialize};

use crate::model::{Job, Plan, RunId, State, TaskId, ThinkingLevel};

/// Part of the request of an autopilot task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Autopilot {
    pub(crate) planner: Planner,
    pub(crate) max_agents: usize,
    pub(crate) max_parallel: usize,
    /// Show the plan and start none of its jobs.
    pub(crate) plan_only: bool,
    pub(crate) low: Level,
    pub(crate) medium: Level,
    pub(crate) high: Level,
}

impl Autopilot {
    pub(crate) fn level(&self, level: ThinkingLevel) -> &Level {
        match level {
            ThinkingLevel::Low => &self.low,
            ThinkingLevel::Medium => &self.medium,
            ThinkingLevel::High => &self.high,
        }
    }
}

/// Who makes the plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Planner {
    /// Fixed rules: look, change, check.
    #[default]
    Rules,
    /// An agent, in a run of its own.
    Agent,
}

impl Planner {
    pub(crate) const NAMES: [&'static str; 2] = ["rules", "agent"];
}

/// The model and the effort for jobs of one thinking level. Absent means the agent's own default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Level {
    pub(crate) model: Option<String>,
    pub(crate) reasoning_effort: Option<String>,
}

/// Whether the task is worth several runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub(crate) struct Decision {
    pub(crate) should_delegate: bool,
    pub(crate) reason: String,
}

/// The content of `plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanRecord {
    pub(crate) version: u32,
    /// Absent until the planner has decided, and for a plan that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
    /// The commit from which the jobs' branches start. Without it, jobs work in the directory itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<String>,
    pub(crate) jobs: Vec<JobRecord>,
}

/// A job and the task that it became.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    #[serde(flatten)]
    pub(crate) job: Job,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run_id: Option<RunId>,
    pub(crate) status: JobStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobStatus {
    Waiting,
    Submitted,
    Ended(State),
    /// It never started, for this reason.
    Skipped(String),
}

impl PlanRecord {
    pub(crate) const VERSION: u32 = 1;

    pub(crate) fn new(decision: Option<Decision>, plan: Vec<Job>) -> Self {
        Self {
            version: Self::VERSION,
            decision,
            base: None,
            jobs: plan.into_iter().map(JobRecord::new).collect(),
        }
    }

    /// The job whose task is to make the plan.
    pub(crate) fn planner(&self) -> Option<&JobRecord> {
        self.jobs.first().filter(|record| record.job.id == Plan::PLANNER)
    }

    /// The jobs without the planner's.
    pub(crate) fn planned(&self) -> impl Iterator<Item = &JobRecord> {
        self.jobs.iter().filter(|record| record.job.id != Plan::PLANNER)
    }
}

impl JobRecord {
    pub(crate) fn new(job: Job) -> Self {
        Self { job, task_id: None, run_id: None, status: JobStatus::Waiting }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.status, JobStatus::Waiting | JobStatus::Submitted)
    }

    pub(crate) fn has_completed(&self) -> bool {
        self.status == JobStatus::Ended(State::Completed)
    }
}

/// What an earlier job of the plan reported, for those that follow it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EarlierResult {
    pub(crate) job: String,
    pub(crate) title: String,
    pub(crate) summary: String,
}
