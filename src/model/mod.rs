//! Plain data types that all modules use. Nothing here reads a clock, a file or the environment.

mod answer;
mod autopilot;
mod command;
mod event;
mod home_id;
mod id;
mod inline_limits;
mod limits;
mod outcome;
mod plan;
mod progress;
mod remote;
mod request;
mod result;
pub(crate) mod schema_expansion;
mod skills;
mod state;
mod time;
mod usage;
mod worktree;

pub(crate) use answer::{Answer, Deliverable};
pub(crate) use autopilot::{
    Autopilot, Decision, EarlierResult, JobRecord, JobStatus, Level, PlanRecord, Planner,
};
pub(crate) use command::{CommandSpec, KillLevel, Signal, SignalTarget, Stdin, Stdout, Stop};
pub(crate) use event::{Change, ChangeKind, Event, ItemStatus, PlanStep};
pub(crate) use home_id::{HomeId, TaskHome};
pub(crate) use id::{BadId, RunId, TaskId, TerminalId, ThreadId};
pub(crate) use inline_limits::InlineLimits;
pub(crate) use limits::{Limit, Limits};
pub(crate) use outcome::{Exit, FailureCode, Fault, Outcome, StopReason};
pub(crate) use plan::{BadPlan, Job, Plan, ThinkingLevel};
pub(crate) use progress::{Counters, Eta, POLL_FREQUENCY_MS, Phase, Progress, RunningCommand};
pub(crate) use remote::{Remote, RemoteJob, RemoteRecord};
pub(crate) use request::{AgentName, Jail, JailKind, Request, Resumed, Sandbox, Slot, Slots, WorkKind};
pub(crate) use result::{RunResult, StreamTotals};
pub(crate) use skills::{Selection, SkillEntry, SkillOrigin, SkillsMode, SkillsRequest};
pub(crate) use state::State;
pub(crate) use time::Timestamp;
pub(crate) use usage::Usage;
pub(crate) use worktree::{Worktree, WorktreeEnd};
