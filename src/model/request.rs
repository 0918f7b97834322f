//! A task with everything resolved, stored in `request.json`.
//!
//! Any process can start the task from it. Only environment values are stored elsewhere.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{
    Autopilot, EarlierResult, InlineLimits, Job, KillLevel, Limits, RunId, SkillsRequest, TaskHome, TaskId,
    ThreadId, Timestamp, Usage, Worktree,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) version: u32,
    pub(crate) task_id: TaskId,
    pub(crate) run_id: RunId,
    pub(crate) created_at: Timestamp,
    pub(crate) agent: AgentName,
    /// Requests of older versions are children.
    #[serde(default, skip_serializing_if = "WorkKind::is_child")]
    pub(crate) work: WorkKind,
    /// For hosted work: where the service runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) env_id: Option<String>,
    /// For hosted work: how often the service tries it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attempts: Option<u32>,
    /// For hosted work: the branch that the service checks out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
    /// For hosted work: the hash of the uncommitted changes that go with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) starting_diff: Option<String>,
    /// The coordinator that started this task as one of its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) job_of: Option<TaskId>,
    /// For an autopilot task: how to plan and run its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) autopilot: Option<Box<Autopilot>>,
    /// For a job of a plan: what the jobs reported that it comes after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<EarlierResult>,
    /// The task that must complete before this one starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<TaskId>,
    /// A worktree of its own. `cwd` and `git_root` lie in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktree: Option<Worktree>,
    /// An MCP client asked for it, and so is expected to read its result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) by_client: bool,
    /// Absent in requests of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) home: Option<TaskHome>,
    /// The skills that the agent may be told about.
    #[serde(default, skip_serializing_if = "SkillsRequest::is_default")]
    pub(crate) skills: SkillsRequest,
    /// The agent's program, as found at submit.
    pub(crate) program: PathBuf,
    pub(crate) task: String,
    pub(crate) role: String,
    pub(crate) cwd: PathBuf,
    /// The git root above `cwd`, if there is one.
    pub(crate) git_root: Option<PathBuf>,
    pub(crate) sandbox: Sandbox,
    pub(crate) network: bool,
    pub(crate) skip_git_repo_check: bool,
    pub(crate) add_dirs: Vec<PathBuf>,
    /// Whether `workspace-write` includes the system's temporary directories.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub(crate) temporary: bool,
    /// The sandbox for a client's command; absent for a user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) jail: Option<Jail>,
    pub(crate) model: Option<String>,
    pub(crate) reasoning_effort: Option<String>,
    /// Allowed keys with TOML scalar values.
    pub(crate) config_overrides: Vec<(String, String)>,
    /// The caller's schema for the answer; the default one if absent.
    pub(crate) output_schema: Option<Value>,
    pub(crate) limits: Limits,
    pub(crate) alias: Option<String>,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) resume: Option<Resumed>,
    /// Variables requested by name.
    #[serde(default)]
    pub(crate) env_from: Vec<String>,
    /// Names of all variables passed on. Values are never stored here.
    pub(crate) env_names: Vec<String>,
    /// The runs this one was started in, outermost first. It ends with them.
    pub(crate) within: Vec<RunId>,
    pub(crate) kill_level: Option<KillLevel>,
    /// Maximum number of bytes kept of each output stream.
    pub(crate) max_stream_bytes: u64,
    /// When to store long texts of replies in files.
    #[serde(default)]
    pub(crate) inline: InlineLimits,
    pub(crate) user: String,
}

impl Request {
    pub(crate) const VERSION: u32 = 1;

    /// The project that a task is listed under: the git root, or the working directory.
    pub(crate) fn project(&self) -> &std::path::Path {
        let own = self.worktree.as_ref().map(|worktree| worktree.repository.as_path());
        own.or(self.git_root.as_deref()).unwrap_or(&self.cwd)
    }

    /// The idempotency key of a job of this plan.
    pub(crate) fn job_key(&self, job: &Job) -> String {
        format!("{}:{}", self.task_id, job.id)
    }

    /// Why the jobs of this plan are cancelled when it ends before them.
    pub(crate) fn job_cancel_reason(&self) -> String {
        format!("{}, which it is a job of, has ended", self.task_id)
    }
}

fn yes() -> bool {
    true
}

fn is_true(flag: &bool) -> bool {
    *flag
}

/// How a run is executed, and so what happens if its supervisor dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkKind {
    /// A process of ours. It dies with its supervisor, and the run is lost.
    #[default]
    Child,
    /// Runs on a service, which is polled. A new supervisor goes on polling.
    Hosted,
    /// Tasks of our own. A new supervisor goes on coordinating them.
    Coordinator,
}

impl WorkKind {
    pub(crate) fn is_child(&self) -> bool {
        *self == WorkKind::Child
    }

    /// Whether a new supervisor can go on where a dead one stopped.
    pub(crate) fn can_reattach(self) -> bool {
        self != WorkKind::Child
    }

    /// What it occupies while it runs. A coordinator only waits for tasks that occupy something.
    pub(crate) fn slot(self) -> Option<Slot> {
        match self {
            WorkKind::Child => Some(Slot::Local),
            WorkKind::Hosted => Some(Slot::Cloud),
            WorkKind::Coordinator => None,
        }
    }
}

/// What a running task counts towards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Slot {
    /// `max_concurrent`.
    Local,
    /// `max_cloud`.
    Cloud,
}

/// How many tasks may run at once, on this machine and in the cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slots {
    pub(crate) local: u32,
    pub(crate) cloud: u32,
}

impl Slots {
    /// Nothing starts.
    pub(crate) const NONE: Slots = Slots { local: 0, cloud: 0 };
}

/// The sandbox program for a command, and its restrictions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Jail {
    pub(crate) kind: JailKind,
    pub(crate) program: PathBuf,
    /// Must not be readable.
    pub(crate) hidden: PathBuf,
    /// Below the working directory, but read-only.
    pub(crate) kept: Vec<PathBuf>,
    /// Like `kept`, but missing; must not be created.
    pub(crate) missing: Vec<PathBuf>,
    /// Checked to be unwritable before the command starts.
    pub(crate) outside: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JailKind {
    /// `codex sandbox`.
    Codex,
    /// Bubblewrap.
    Bwrap,
}

/// The thread that a run resumes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resumed {
    pub(crate) thread_id: ThreadId,
    pub(crate) parent_task_id: Option<TaskId>,
    /// The thread's total before this run, if known.
    pub(crate) usage_before: Option<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentName {
    Codex,
    CodexCloud,
    Command,
    Replay,
    /// Coordinates the jobs of a plan.
    Autopilot,
}

impl AgentName {
    /// The agents that are listed and that clients may use.
    pub(crate) const OFFERED: [AgentName; 4] =
        [AgentName::Codex, AgentName::CodexCloud, AgentName::Command, AgentName::Replay];
    pub(crate) const ALL: [AgentName; 5] = [
        AgentName::Codex,
        AgentName::CodexCloud,
        AgentName::Command,
        AgentName::Replay,
        AgentName::Autopilot,
    ];

    pub(crate) fn is_offered(self) -> bool {
        Self::OFFERED.contains(&self)
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            AgentName::Codex => "codex",
            AgentName::CodexCloud => "codex_cloud",
            AgentName::Command => "command",
            AgentName::Replay => "replay",
            AgentName::Autopilot => "autopilot",
        }
    }
}

/// What an agent may access, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    DangerFullAccess,
}

impl Sandbox {
    pub(crate) const ALL: [Sandbox; 3] =
        [Sandbox::ReadOnly, Sandbox::WorkspaceWrite, Sandbox::DangerFullAccess];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Sandbox::ReadOnly => "read-only",
            Sandbox::WorkspaceWrite => "workspace-write",
            Sandbox::DangerFullAccess => "danger-full-access",
        }
    }
}

/// An unknown name, with the known ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} `{given}`")]
pub(crate) struct UnknownName {
    what: &'static str,
    given: String,
    pub(crate) known: Vec<&'static str>,
}

macro_rules! named {
    ($type:ty, $what:literal, $known:ident) => {
        impl $type {
            /// The names in lists and schemas.
            pub(crate) const NAMES: [&'static str; <$type>::$known.len()] = {
                let mut names = [""; <$type>::$known.len()];
                let mut at = 0;
                while at < names.len() {
                    names[at] = <$type>::$known[at].as_str();
                    at += 1;
                }
                names
            };
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                let found = <$type>::ALL.into_iter().find(|one| one.as_str() == text);
                found.ok_or_else(|| UnknownName {
                    what: $what,
                    given: text.to_owned(),
                    known: <$type>::NAMES.to_vec(),
                })
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

named!(AgentName, "agent", OFFERED);
named!(Sandbox, "sandbox", ALL);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_refused() {
        for agent in AgentName::ALL {
            assert_eq!(agent.as_str().parse(), Ok(agent));
            assert_eq!(serde_json::to_value(agent).unwrap(), agent.as_str());
        }
        for sandbox in Sandbox::ALL {
            assert_eq!(serde_json::to_value(sandbox).unwrap(), sandbox.as_str());
        }
        assert_eq!("codx".parse::<AgentName>().unwrap_err().to_string(), "unknown agent `codx`");
    }

    #[test]
    fn sandboxes_are_ordered_by_what_they_allow() {
        assert!(
            Sandbox::ReadOnly < Sandbox::WorkspaceWrite
                && Sandbox::WorkspaceWrite < Sandbox::DangerFullAccess
        );
    }
}
