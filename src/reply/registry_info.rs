//! `registry_info` replies about the registry: what a cancel did, and what a cleanup removed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::config::Config;
use crate::model::{Outcome, Remote, TaskId, Timestamp};
use crate::reply::metadata::seconds;
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::report_text::count;
use crate::reply::storage::Storage;
use crate::tasks::{Cancelled, Cleaned, CleanupRequest, describe_awaited};
use crate::text::plain;

/// The most unread tasks that a cleanup names.
const MOST_UNREAD: usize = 5;
/// The page that lists all cloud tasks.
const CLOUD_TASKS: &str = "https://chatgpt.com/codex";

/// Metadata of each kind of reply; most have none.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct RegistryMeta {
    /// How many rows are in this reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<usize>,
    /// The file that lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// The repository that the guide is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repository: Option<String>,
    /// What its project is written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tech_stack: Option<String>,
    /// Nothing was removed; the reply lists what would be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dry_run: Option<bool>,
    /// What was asked for, or the default. A task is stuck if its supervisor is dead, at any age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stuck_threshold_seconds: Option<f64>,
    /// Finished runs count as old from this age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_threshold_hours: Option<f64>,
    /// Finished runs of this project that nobody has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
}

/// The result of cancelling a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cancellation {
    #[schemars(extend("enum" = ["cancel"]))]
    operation: &'static str,
    task_id: TaskId,
    #[schemars(extend("enum" = ["pending", "working", "unknown", "completed", "failed", "cancelled", "timeout"]))]
    pub(crate) state: &'static str,
    #[schemars(extend("enum" = ["pending", "working", "unknown", "completed", "failed", "cancelled", "timeout"]))]
    previous_state: &'static str,
    reason: Option<String>,
    /// Processes of the run that outlived its agent and were ended.
    processes_ended: u32,
    /// A stop was requested, but the task has not ended yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cancel_requested: bool,
    /// The page of a task that goes on in the cloud: it can be stopped only there, and its end is not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    goes_on_at: Option<String>,
    /// The result in one line.
    pub(crate) message: String,
}

/// What a cleanup found and removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Cleanup {
    /// Tasks whose supervisor had died.
    stuck_tasks: Stuck,
    old_tasks: Old,
    /// Run directories of submissions that were never acknowledged.
    abandoned_directories: u32,
    /// Another cleanup was running, so this call removed nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    another_cleanup: bool,
    /// Runs and outputs that have expired only by a clock that has just jumped. They stay until it has been
    /// steady for ten minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_doubt: Option<u64>,
    pub(crate) storage: Storage,
    /// The result in one line.
    pub(crate) summary: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Stuck {
    found: usize,
    cleaned: usize,
    task_ids: Vec<TaskId>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Old {
    found: usize,
    deleted: usize,
    /// The age of the oldest finished run before the cleanup; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_age_hours: Option<f64>,
    task_ids: Vec<TaskId>,
    /// How many of them nobody has read.
    #[serde(skip_serializing_if = "is_zero")]
    unread: usize,
    /// The first five of those.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_task_ids: Vec<TaskId>,
}

impl Cancellation {
    /// The whole reply as text.
    pub(crate) fn text(&self, tool: &str, notice: Option<&str>, next: &[NextCall]) -> String {
        let reason = self.reason.as_deref().map(|reason| format!("reason: {}\n", plain::line(reason, 200)));
        let notice = notice.map(|notice| format!("notice: {notice}\n"));
        format!(
            "{tool}\nstatus: {} (was {})\ntask_id: {}\n{}processes_ended: {}\nmessage: {}\n{}{}",
            self.state,
            self.previous_state,
            self.task_id,
            reason.unwrap_or_default(),
            self.processes_ended,
            self.message,
            notice.unwrap_or_default(),
            next_line(next),
        )
    }

    pub(crate) fn next(&self) -> Vec<NextCall> {
        let arguments = json!({ "task_id": self.task_id });
        vec![if self.cancel_requested {
            NextCall::new("delegate_wait", arguments, "waits for its end")
        } else {
            NextCall::new("delegate_results", arguments, self.shows())
        }]
    }

    fn shows(&self) -> &'static str {
        if self.previous_state == self.state { "shows its result" } else { "shows how far it came" }
    }

    pub(crate) fn of(cancelled: &Cancelled, asked_reason: Option<&str>) -> Self {
        let view = &cancelled.view;
        let result = view.result.as_ref();
        let recorded = result.and_then(|result| match &result.outcome {
            Outcome::Cancelled { reason } => reason.clone(),
            Outcome::Completed | Outcome::Failed { .. } | Outcome::TimedOut { .. } => None,
        });
        let state = view.state().in_envelope();
        let processes_ended = result.map_or(0, |result| result.processes_ended);
        let goes_on_at = cancelled.goes_on.as_ref().map(|remote| match remote {
            Remote::Submitted { job } => plain::line(job.page(), usize::MAX),
            Remote::Submitting { .. } => CLOUD_TASKS.to_owned(),
        });
        let message = if cancelled.was_final {
            format!("nothing to cancel: already {state}")
        } else if cancelled.still_ending {
            "stop requested; still running".to_owned()
        } else if let (Some(Remote::Submitted { .. }), Some(page)) = (&cancelled.goes_on, &goes_on_at) {
            format!(
                "{state} here; the cloud task goes on, because Codex Cloud has no cancel: stop it at {page}"
            )
        } else if let (Some(Remote::Submitting { .. }), Some(page)) = (&cancelled.goes_on, &goes_on_at) {
            format!("{state} here; the cloud may have the task all the same: look at {page}")
        } else if let Some(other) = recorded.as_ref().filter(|reason| Some(reason.as_str()) != asked_reason) {
            // It ended for another reason than this call.
            format!("{state}: {other}")
        } else if processes_ended > 0 {
            let what = if processes_ended == 1 {
                "1 leftover process was".into()
            } else {
                format!("{processes_ended} leftover processes were")
            };
            format!("{state}; {what} also ended")
        } else {
            format!("{state}; no process is left")
        };
        Self {
            operation: "cancel",
            task_id: view.row.id.clone(),
            state,
            previous_state: cancelled.previous_state.in_envelope(),
            reason: recorded
                .or_else(|| asked_reason.filter(|_| cancelled.still_ending).map(ToOwned::to_owned)),
            processes_ended,
            cancel_requested: cancelled.still_ending,
            goes_on_at,
            message,
        }
    }
}

impl Cleanup {
    pub(crate) fn of(
        cleaned: &Cleaned,
        ask: CleanupRequest,
        config: &Config,
        now: Timestamp,
    ) -> (RegistryMeta, Self) {
        let hours = |millis: u64| (seconds(millis) / 3.6).round() / 1000.0;
        let age = ask.older_than.unwrap_or(config.retention_age());
        let storage = Storage::of(cleaned, config.retention_age(), config.output_age());
        let data = Self {
            summary: summary(cleaned, ask, &storage),
            stuck_tasks: Stuck {
                found: cleaned.stuck.len(),
                cleaned: if ask.dry_run { 0 } else { cleaned.stuck.len() },
                task_ids: cleaned.stuck.clone(),
            },
            old_tasks: Old {
                found: cleaned.found.len(),
                deleted: cleaned.removed.len(),
                oldest_age_hours: cleaned.oldest.map(|oldest| hours(now.millis_since(oldest))),
                task_ids: cleaned.found.clone(),
                unread: cleaned.unread.len(),
                unread_task_ids: cleaned.unread.iter().take(MOST_UNREAD).cloned().collect(),
            },
            abandoned_directories: cleaned.abandoned,
            another_cleanup: cleaned.busy,
            in_doubt: Some(cleaned.in_doubt).filter(|count| *count > 0),
            storage,
        };
        let meta = RegistryMeta {
            dry_run: Some(ask.dry_run),
            old_threshold_hours: Some(age.as_secs_f64() / 3600.0),
            ..RegistryMeta::default()
        };
        (meta, data)
    }
}

/// ` (2 unread: T-local-…, T-local-…)`; empty if none is.
fn unread(ids: &[TaskId]) -> String {
    if ids.is_empty() {
        return String::new();
    }
    let named: Vec<&str> = ids.iter().take(MOST_UNREAD).map(TaskId::as_str).collect();
    let more = if ids.len() > MOST_UNREAD { ", …" } else { "" };
    format!(" ({} unread: {}{more})", ids.len(), named.join(", "))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn summary(cleaned: &Cleaned, ask: CleanupRequest, storage: &Storage) -> String {
    let ended = match (cleaned.stuck.len(), ask.dry_run) {
        (0, _) => String::new(),
        (stuck, true) => format!("would end {} whose supervisor has died; ", count(stuck, "run")),
        (stuck, false) => format!("ended {} whose supervisor had died; ", count(stuck, "run")),
    };
    if cleaned.busy {
        return format!("{ended}another cleanup is already running");
    }
    let outputs: String = storage.outputs(ask.dry_run).iter().map(|told| format!(", {told}")).collect();
    let doubt = if cleaned.in_doubt == 0 {
        String::new()
    } else {
        format!(
            "; {} more expired only by a clock that has just jumped: clean up again once it has been steady for 10 minutes",
            cleaned.in_doubt
        )
    };
    let awaited =
        describe_awaited(cleaned.awaited_excess).map(|note| format!("; {note}")).unwrap_or_default();
    let hours =
        |age: Duration| format!("{awaited}; old means over {} hours here", age.as_secs_f64() / 3600.0);
    let awaited = ask.older_than.map_or(awaited.clone(), hours);
    let unread = unread(&cleaned.unread);
    if ask.dry_run {
        return format!(
            "{ended}would remove {}{unread}{outputs}{doubt}{awaited}",
            count(cleaned.found.len(), "old run")
        );
    }
    let old = format!("{}{unread}", count(cleaned.removed.len(), "old run"));
    let abandoned = count(cleaned.abandoned as usize, "abandoned submission");
    format!("{ended}removed {old} and {abandoned}{outputs}, {} bytes freed{doubt}{awaited}", storage.saved())
}
