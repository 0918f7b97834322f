//! Metadata of a run: time, tokens, and for a failed run why it failed and how far it came. What is unknown
//! is absent, not guessed.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::evidence::ErrorEvidence;
use crate::failure::Voice;
use crate::model::{Limit, Timestamp, Usage};
use crate::reading::{Partial, Results};
use crate::reply::cloud_task::CloudTask;
use crate::reply::command_counts::CommandsSeen;
use crate::reply::failed_commands;
use crate::reply::failure_cause::{self, Cause, Unresolved};
use crate::reply::file_operations::FileOperations;
use crate::reply::task_facts::{Facts, Trouble};
use crate::reply::test_results::TestsSeen;
use crate::reply::token_usage::Tokens;
use crate::reply::worktree_seen::WorktreeSeen;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Metadata {
    /// Seconds that the run took, or has taken so far.
    duration: f64,
    /// Present once the run is finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    file_operations: Option<FileOperations>,
    /// Command counts by outcome. Present once an agent's run is finished, if it ran commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    commands: Option<CommandsSeen>,
    /// Present if tests were seen to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_results: Option<TestsSeen>,
    /// For a task in the cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cloud: Option<CloudTask>,
    /// For a resumed task: the task that it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_task_id: Option<String>,
    /// The worktree of the run; present if it had one.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<WorktreeSeen>,
    /// Present once the agent has reported its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_info: Option<Thread>,
    /// Present when the run failed or was ended by a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_context: Option<ErrorContext>,
    /// Present if the run itself did not fail, but a command or an action still did.
    #[serde(skip_serializing_if = "Option::is_none")]
    unresolved_error: Option<Unresolved>,
    /// Other failed commands, each with whether the same line passed later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    earlier_errors: Vec<String>,
    /// The task's state, spelled as in `state`.
    task_status: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Thread {
    thread_id: String,
    /// The share of the input that came from the cache, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit_rate: Option<f64>,
    /// Tokens of this run, without earlier runs of its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_usage: Option<Tokens>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ErrorContext {
    #[schemars(extend("enum" = [
        "TOOL_ERROR", "LOST", "SPAWN", "AUTH", "RATE_LIMITED", "SANDBOX", "SCHEMA", "BUDGET", "STORAGE", "INTERNAL",
        "TIMEOUT"
    ]))]
    code: String,
    /// Distinguishes failures with the same code.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Why the run failed or was ended.
    error_message: String,
    #[serde(flatten)]
    cause: Cause,
    /// Which limit ended the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["idle", "hard", "command"]))]
    timeout_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_seconds: Option<f64>,
    /// How far the run came before it was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_results: Option<PartialResults>,
    /// What to try next, beside the calls in `next`.
    suggestions: Vec<String>,
    /// Whether the same request may succeed if repeated.
    retryable: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PartialResults {
    /// At most the last 50 events, as the agent wrote them, with long texts cut.
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    last_events: Vec<Value>,
    /// At most the last 2,048 bytes.
    last_output: String,
    /// The size of the whole output.
    total_bytes: u64,
    /// Where the whole output is.
    file: PathBuf,
}

impl Metadata {
    pub(super) fn of(results: &Results, facts: &Facts, now: Timestamp, voice: Voice) -> Self {
        let evidence = results.view.evidence.as_ref();
        let errors = evidence.and_then(|evidence| evidence.errors.as_ref());
        Self {
            duration: seconds(facts.elapsed_ms(now)),
            file_operations: FileOperations::seen(&results.view),
            commands: CommandsSeen::of(&results.view),
            test_results: evidence.and_then(|evidence| evidence.tests.as_ref()).map(TestsSeen::of),
            cloud: CloudTask::of(results),
            parent_task_id: results.view.row.parent_task_id.clone(),
            worktree: WorktreeSeen::of(&results.view, voice),
            thread_info: facts.thread_id.clone().map(|thread| Thread {
                thread_id: thread,
                cache_hit_rate: facts.usage.and_then(Usage::cache_hit_rate).map(rounded),
                token_usage: facts.usage.map(Tokens::of),
            }),
            error_context: facts
                .trouble
                .as_ref()
                .map(|trouble| context(trouble, errors, results.partial.as_ref(), trouble.hint(voice))),
            unresolved_error: Unresolved::of(errors, facts.trouble.as_ref()),
            earlier_errors: evidence
                .map(|evidence| failed_commands::lines(&evidence.earlier))
                .unwrap_or_default(),
            task_status: facts.state.in_envelope(),
        }
    }
}

fn context(
    trouble: &Trouble,
    errors: Option<&ErrorEvidence>,
    partial: Option<&Partial>,
    hint: Option<String>,
) -> ErrorContext {
    let own = errors.map(|errors| failure_cause::suggestions(errors, hint.as_deref())).unwrap_or_default();
    ErrorContext {
        code: trouble.code.clone(),
        reason: trouble.reason.clone(),
        error_message: trouble.message.clone(),
        cause: errors.map(Cause::of).unwrap_or_default(),
        timeout_type: trouble.limit.map(|(limit, _)| Limit::as_str(limit)),
        elapsed_seconds: trouble.limit.map(|(_, elapsed)| seconds(elapsed)),
        partial_results: partial.map(PartialResults::of),
        suggestions: hint.into_iter().chain(own).collect(),
        retryable: trouble.retryable,
    }
}

impl PartialResults {
    pub(super) fn of(partial: &Partial) -> Self {
        Self {
            last_events: partial.last_events.iter().filter(|event| event.is_object()).cloned().collect(),
            last_output: partial.last_output.text.clone(),
            total_bytes: partial.last_output.total_bytes,
            file: partial.file.clone(),
        }
    }
}

fn rounded(rate: f64) -> f64 {
    (rate * 1000.0).round() / 1000.0
}

pub(super) fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}
