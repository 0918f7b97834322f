//! The form of replies: plain types built from what the use cases return, the same for every surface, and the
//! text that goes with them.
//!
//! Nothing here reads a file, the clock or the environment, and nothing prints.

mod agent_answer;
mod apply;
mod autopilot;
mod autopilot_text;
mod changed_files;
mod client_setup;
mod cloud_task;
mod codex_reply;
mod codex_task;
mod command_counts;
mod diagnosis;
mod envelope;
mod environments;
mod eta;
mod event_digest;
mod execution_ack;
mod failed_commands;
mod failure_cause;
mod file_operations;
mod file_summary;
pub(crate) mod fit;
mod github_setup;
mod inspection;
mod metadata;
mod next_after_error;
mod next_steps;
mod output_reply;
mod pinning;
mod progress;
mod progress_text;
mod registry_info;
mod report;
mod report_text;
mod result_set;
mod schema;
mod schema_types;
mod setup_reply;
mod skills;
pub(crate) mod snapshot;
mod storage;
mod task_facts;
mod task_lists;
mod terminal;
mod test_results;
mod text_layout;
mod token_usage;
mod wait_result;
mod worktree_seen;

pub(crate) use crate::reply::apply::{Application, ApplyStep, Diff, Discard};
pub(crate) use crate::reply::fit::budget::Budget;
pub(crate) use crate::reply::fit::funnel::{Funnel, line, words};
pub(crate) use autopilot::AutopilotReport;
pub(crate) use autopilot_text::autopilot;
pub(crate) use client_setup::ClientSetup;
pub(crate) use codex_reply::CodexReply;
pub(crate) use diagnosis::{Diagnosis, Keys, Rebuilt};
pub(crate) use envelope::{Category, Envelope, Stamp};
pub(crate) use environments::{EnvironmentChange, EnvironmentList};
pub(crate) use eta::Eta;
pub(crate) use execution_ack::{Ack, AckMeta};
pub(crate) use github_setup::GitHubSetup;
pub(crate) use inspection::Inspection;
pub(crate) use next_after_error::next_after_error;
pub(crate) use next_steps::{Next, NextCall, next_line, next_of_several};
pub(crate) use output_reply::{Log, Stream};
pub(crate) use pinning::Pinning;
pub(crate) use progress_text::brief;
pub(crate) use registry_info::{Cancellation, Cleanup, RegistryMeta};
pub(crate) use report::{Report, Skill};
pub(crate) use report_text::{duration, page, report, title};
pub(crate) use result_set::{ResultMeta, TaskResult};
pub(crate) use schema::{
    SCHEMAS, advertised, advertised_autopilot, advertised_codex, advertised_report, schema,
};
pub(crate) use setup_reply::SetupReply;
pub(crate) use skills::{ScoredSkill, SkillChoice, SkillList};
pub(crate) use snapshot::{SnapshotMeta, StatusSnapshot};
pub(crate) use task_facts::Facts;
pub(crate) use task_lists::{events, reports, snapshot};
pub(crate) use terminal::{TerminalList, TerminalOutput, TerminalRow};
pub(crate) use text_layout::Page;
pub(crate) use wait_result::{WaitData, WaitMeta};
