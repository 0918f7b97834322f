//! What a caller may ask for when it starts a task.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{AgentName, EarlierResult, Resumed, RunId, Sandbox, SkillsMode, TaskId, Worktree};
use crate::submit::autopilot::AutopilotRequest;
use crate::submit::caller::Caller;
use crate::submit::isolation::Isolation;
use crate::worktrees::BranchPoint;

/// What a caller asks for. Absent fields take the configuration's defaults.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StartRequest {
    pub(crate) agent: Option<AgentName>,
    pub(crate) task: String,
    pub(crate) role: Option<String>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) network: bool,
    pub(crate) skip_git_repo_check: bool,
    pub(crate) add_dirs: Vec<PathBuf>,
    pub(crate) model: Option<String>,
    pub(crate) reasoning_effort: Option<String>,
    pub(crate) config_overrides: Vec<String>,
    pub(crate) output_schema: Option<Value>,
    #[serde(rename = "timeout")]
    pub(crate) limits: RequestedLimits,
    pub(crate) alias: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) env_from: Vec<String>,
    pub(crate) skills_mode: Option<SkillsMode>,
    pub(crate) skills: Vec<String>,
    pub(crate) max_skills: Option<usize>,
    pub(crate) include_repo_skills: Option<bool>,
    pub(crate) include_global_skills: Option<bool>,
    #[serde(skip)]
    pub(crate) resume: Option<Resumed>,
    /// Where a service runs it: the id or the label of an environment.
    pub(crate) env_id: Option<String>,
    /// How often a service tries it.
    pub(crate) attempts: Option<u32>,
    /// The branch that a service checks out.
    pub(crate) branch: Option<String>,
    /// Whether a service gets the uncommitted changes of `cwd`.
    pub(crate) starting_diff: bool,
    #[serde(rename = "isolation")]
    pub(crate) isolation: Isolation,
    /// For a worktree: a branch other than the usual one.
    #[serde(skip)]
    pub(crate) branch_point: Option<BranchPoint>,
    /// The worktree of the task that is resumed.
    #[serde(skip)]
    pub(crate) worktree: Option<Worktree>,
    /// A reference to the task that must complete first.
    pub(crate) after: Option<String>,
    /// Set if a coordinator starts this task as one of its jobs.
    #[serde(skip)]
    pub(crate) job_of: Option<ParentTask>,
    /// For a job: what the jobs reported that it comes after.
    #[serde(skip)]
    pub(crate) earlier: Vec<EarlierResult>,
    /// Plans the task and runs its jobs, instead of running it.
    #[serde(skip)]
    pub(crate) autopilot: Option<AutopilotRequest>,
    #[serde(skip)]
    pub(crate) caller: Caller,
    /// Whether to return the task of an identical request from a moment ago. By default, for clients without a key.
    pub(crate) dedupe: Option<bool>,
}

/// The coordinator that starts a job, and the runs around it.
#[derive(Debug, Clone)]
pub(crate) struct ParentTask {
    pub(crate) task_id: TaskId,
    pub(crate) within: Vec<RunId>,
}

/// Limits in seconds, as the caller gave them.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RequestedLimits {
    pub(crate) idle_s: Option<f64>,
    pub(crate) hard_s: Option<f64>,
    pub(crate) command_s: Option<f64>,
}
