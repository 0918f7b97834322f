//! The machine-readable part of an error: a word for the reason, and the values in the message.

use std::error::Error;
use std::iter;

use serde_json::{Map, Value, json};

use crate::context::{TaskError, WorktreeError};
use crate::host::BoundedRunError;
use crate::inspect::InspectError;
use crate::redact;
use crate::registry::RegistryError;
use crate::terminals::TerminalError;
use crate::text::plain;

/// The longest value, in characters.
const LONGEST: usize = 500;
/// The longest end of a program's standard error, in bytes.
const LONGEST_TAIL: usize = 1024;

/// The details of an error; empty if the code says it all.
pub(super) fn details(error: &TaskError) -> Map<String, Value> {
    let known = match error {
        TaskError::LongTask { bytes, limit } => {
            json!({ "reason": "too_long", "field": "task", "bytes": bytes, "limit": limit })
        }
        TaskError::LongField { name, bytes, limit } => {
            json!({ "reason": "too_long", "field": name, "bytes": bytes, "limit": limit })
        }
        TaskError::LongList { name, count, limit } => {
            json!({ "reason": "too_long", "field": name, "count": count, "limit": limit })
        }
        TaskError::EmptyTask => json!({ "reason": "empty", "field": "task" }),
        TaskError::EmptyField { name } => json!({ "reason": "empty", "field": name }),
        TaskError::SkillsNotExplicit(_) => json!({ "reason": "bad_value", "field": "skills" }),
        TaskError::OddField { name } | TaskError::BadLimit { name } => {
            json!({ "reason": "bad_value", "field": name })
        }
        TaskError::BadAttempts(given) => {
            json!({ "reason": "bad_value", "field": "attempts", "asked": given, "min": 1, "max": 4 })
        }
        TaskError::BadBranch(_) => json!({ "reason": "bad_value", "field": "branch" }),
        TaskError::NoEnvironment { known } => {
            json!({ "reason": "missing", "field": "env_id", "environments": known })
        }
        TaskError::BadRepository(_) | TaskError::NoGitHubRemote(_) => {
            json!({ "reason": "bad_value", "field": "repository" })
        }
        TaskError::BadTechStack { known, .. } => {
            json!({ "reason": "bad_value", "field": "tech_stack", "known": known })
        }
        TaskError::NoStartingDiff { .. } => json!({ "reason": "cannot_be_sent", "field": "starting_diff" }),
        TaskError::NoDirectory(path) | TaskError::NotADirectory(path) => {
            json!({ "reason": "no_directory", "file": path.display().to_string() })
        }
        TaskError::OddDirectory(path) => {
            json!({ "reason": "not_utf8", "file": path.display().to_string() })
        }
        TaskError::OutsideGit(path) | TaskError::DiffOutsideGit(path) => {
            json!({ "reason": "outside_git", "file": path.display().to_string() })
        }
        TaskError::ForbiddenRoot(path) | TaskError::OutsideRoots(path) => {
            json!({ "reason": "outside_roots", "file": path.display().to_string(), "config_key": "roots" })
        }
        TaskError::GuardedRoot(path) => {
            json!({ "reason": "outside_roots", "file": path.display().to_string() })
        }
        TaskError::OutsideSandbox(path) => {
            json!({ "reason": "beyond_client", "file": path.display().to_string() })
        }
        TaskError::SandboxBeyond { asked, max } => json!({
            "reason": "beyond_configuration", "field": "sandbox", "asked": asked, "max": max, "config_key": "max_sandbox",
        }),
        TaskError::SandboxBeyondClient { asked, max } => {
            json!({ "reason": "beyond_client", "field": "sandbox", "asked": asked, "max": max })
        }
        TaskError::NetworkOff => {
            json!({ "reason": "beyond_configuration", "field": "network", "config_key": "allow_network" })
        }
        TaskError::NetworkBeyondClient => json!({ "reason": "beyond_client", "field": "network" }),
        TaskError::ReadsBeyondClient => json!({ "reason": "beyond_client" }),
        TaskError::CommandOverMcp => {
            json!({ "reason": "beyond_configuration", "field": "agent", "config_key": "command_over_mcp" })
        }
        TaskError::EnvNotAllowed(name) => json!({
            "reason": "beyond_configuration", "field": "env_from", "asked": name, "config_key": "env_allow",
        }),
        TaskError::OverrideNotAllowed(key) => json!({
            "reason": "beyond_configuration", "field": "config_overrides", "asked": key,
            "config_key": "config_override_keys",
        }),
        TaskError::TooDeep { depth, max } => {
            json!({ "reason": "beyond_configuration", "depth": depth, "max": max, "config_key": "max_depth" })
        }
        TaskError::AgentMissing { agent } => json!({ "reason": "agent_missing", "agent": agent }),
        TaskError::BadProgram(path) => {
            json!({ "reason": "cannot_be_run", "file": path.display().to_string() })
        }
        TaskError::Unsupported { agent, field } => {
            json!({ "reason": "agent_cannot", "agent": agent, "field": field })
        }
        TaskError::NoRemoteCancel { task, page } => {
            json!({ "reason": "agent_cannot", "task_id": task, "page": page })
        }
        TaskError::NotYet(fields) => {
            json!({ "reason": "not_enforced", "field": fields.first(), "fields": fields })
        }
        TaskError::KeyConflict { key, task } => {
            json!({ "reason": "key_used", "field": "idempotency_key", "asked": key, "task_id": task })
        }
        TaskError::OutsideHome(path) => json!({ "reason": "outside_home", "file": path }),
        TaskError::NotInspectable(path) => json!({ "reason": "not_inspectable", "file": path }),
        TaskError::NoOutput(path) => json!({ "reason": "no_file", "file": path }),
        TaskError::NotAPlainFile(path) => json!({ "reason": "not_a_plain_file", "file": path }),
        TaskError::Unreadable { path, .. } => {
            json!({ "reason": "cannot_read", "file": path.display().to_string() })
        }
        TaskError::NoArtifact { task, name, there } => {
            json!({ "reason": "no_artifact", "task_id": task, "asked": name, "artifacts": there })
        }
        TaskError::NoCommand { task, item, there } => {
            json!({ "reason": "no_command", "task_id": task, "asked": item, "commands": there })
        }
        TaskError::MissingOutput { task, .. } => json!({ "reason": "no_output", "task_id": task }),
        TaskError::Inspect(inspect) => match inspect {
            InspectError::Read(_) => json!({ "reason": "cannot_read" }),
            InspectError::Pattern(_) => json!({ "reason": "bad_pattern", "field": "pattern" }),
            InspectError::Path(_) => json!({ "reason": "bad_path", "field": "json_path" }),
            InspectError::NoCursor(_) | InspectError::WrongCursor => {
                json!({ "reason": "bad_cursor", "field": "cursor" })
            }
            InspectError::Idle { name, mode } => {
                json!({ "reason": "means_nothing", "field": name, "mode": mode })
            }
            InspectError::NoPattern => json!({ "reason": "missing", "field": "pattern" }),
            InspectError::PathAlone => json!({ "reason": "stands_alone", "field": "json_path" }),
            InspectError::Backwards => json!({ "reason": "bad_range", "field": "end_line" }),
        },
        TaskError::NotFound(reference) | TaskError::BadThread(reference) => {
            json!({ "reason": "no_task", "asked": reference })
        }
        TaskError::OtherProject { reference, task, .. } => {
            json!({ "reason": "other_project", "asked": reference, "task_id": task })
        }
        TaskError::Ambiguous { reference, candidates } => {
            json!({ "reason": "ambiguous", "asked": reference, "candidates": candidates })
        }
        TaskError::NoThread(task) => json!({ "reason": "no_thread", "task_id": task }),
        TaskError::ThreadBusy { thread, task } => {
            json!({ "reason": "thread_busy", "thread_id": thread, "task_id": task })
        }
        TaskError::NothingToPin(reference) => json!({ "reason": "nothing_to_pin", "asked": reference }),
        TaskError::CleaningUp => json!({ "reason": "cleaning_up" }),
        TaskError::DiskFull { free, .. } => json!({ "reason": "disk_full", "free_bytes": free }),
        TaskError::Write { path, .. } => {
            json!({ "reason": "cannot_write", "file": path.display().to_string() })
        }
        TaskError::Config(_) => json!({ "reason": "bad_configuration" }),
        TaskError::Worktree(WorktreeError::NoRepository(_) | WorktreeError::NoCommit(_)) => {
            json!({ "reason": "no_commit", "field": "isolation" })
        }
        TaskError::Worktree(WorktreeError::NoBase(_)) => json!({ "reason": "not_found", "field": "base" }),
        TaskError::Worktree(_) => json!({ "reason": "worktree" }),
        TaskError::Home(_) => json!({ "reason": "home_unusable" }),
        TaskError::Registry(registry) => json!({ "reason": match registry {
            RegistryError::Busy(_) => "registry_busy",
            RegistryError::Full(_) => "disk_full",
            RegistryError::Newer { .. } => "registry_newer",
            RegistryError::Damaged { .. } | RegistryError::Corrupt(_) => "registry_damaged",
            RegistryError::Unusable { .. }
            | RegistryError::Runs { .. }
            | RegistryError::Sql(_)
            | RegistryError::OldLibrary(_) => "registry_unusable",
        } }),
        TaskError::Terminal(terminal) => match terminal {
            TerminalError::NotFound(asked) => json!({ "reason": "no_terminal", "asked": asked }),
            TerminalError::None { .. } => json!({ "reason": "no_terminal" }),
            TerminalError::Ambiguous { reference, candidates } => {
                json!({ "reason": "ambiguous", "asked": reference, "candidates": candidates })
            }
            TerminalError::BadCursor(_) => json!({ "reason": "bad_cursor", "field": "cursor" }),
            TerminalError::BadMoment(_) => json!({ "reason": "bad_value", "field": "since_timestamp" }),
            TerminalError::NotAPlainFile(path) => json!({ "reason": "not_a_plain_file", "file": path }),
            TerminalError::Read { .. } => json!({ "reason": "cannot_read" }),
            TerminalError::NoPty(_) | TerminalError::Spawn { .. } => json!({ "reason": "cannot_be_run" }),
        },
        TaskError::Read(_)
        | TaskError::Setup(_)
        | TaskError::Environments(_)
        | TaskError::Listen(_)
        | TaskError::Token(_)
        | TaskError::Random(_)
        | TaskError::NothingToRebuild
        | TaskError::NulInTask
        | TaskError::NeedsWrite { .. }
        | TaskError::BadAlias(_)
        | TaskError::CommandUnconfined
        | TaskError::NoJail { .. }
        | TaskError::ForeignRecording
        | TaskError::EnvNotSet(_)
        | TaskError::BadOverride(_)
        | TaskError::BadSchema(_)
        | TaskError::WideSchema(_)
        | TaskError::CostlySchema(_)
        | TaskError::UncheckedSchema(_)
        | TaskError::BadRecording(_)
        | TaskError::BadPlan(_) => Value::Null,
    };
    let mut known = if let Value::Object(known) = known { known } else { Map::new() };
    known.values_mut().for_each(made_plain);
    known.extend(failed_program(error));
    known
}

/// The exit code and the end of the standard error of the program that failed, if that is the cause.
fn failed_program(error: &TaskError) -> Map<String, Value> {
    let mut causes = iter::successors(error.source(), |&cause| Error::source(cause));
    let Some(BoundedRunError::Failed { status, complaint }) = causes.find_map(|cause| cause.downcast_ref())
    else {
        return Map::new();
    };
    // Redacts first, because half a secret is not recognised.
    let said = plain::printed(&redact::text(complaint));
    let tail = said.ceil_char_boundary(said.len().saturating_sub(LONGEST_TAIL));
    let exit_code = status.code().map(|code| ("exit_code".to_owned(), code.into()));
    let stderr = Some(said[tail..].trim()).filter(|said| !said.is_empty());
    exit_code.into_iter().chain(stderr.map(|said| ("stderr_tail".to_owned(), said.into()))).collect()
}

/// Strips control characters, because details repeat the caller's text.
fn made_plain(value: &mut Value) {
    match value {
        Value::String(text) => *text = plain::line(text, LONGEST),
        Value::Array(items) => items.iter_mut().for_each(made_plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    #[track_caller]
    fn check(status: i32, complaint: &str, expected: Value) {
        let failed =
            BoundedRunError::Failed { status: ExitStatus::from_raw(status), complaint: complaint.to_owned() };
        let git = TaskError::NoStartingDiff { why: failed.to_string(), git: Some(failed) };
        let mut all = details(&git);
        all.retain(|name, _| ["exit_code", "stderr_tail"].contains(&name.as_str()));
        assert_eq!(Value::Object(all), expected);
    }

    #[test]
    fn a_program_that_failed_is_quoted_without_secrets() {
        let told = "fatal: no\nremote: [redacted:github]";
        let secret = format!("fatal: no\nremote: ghp_{}\n", "a1B2c3D4e5F6".repeat(3));
        check(128 << 8, &secret, json!({ "exit_code": 128, "stderr_tail": told }));
        check(9, "", json!({}));
        check(1 << 8, &"é".repeat(1000), json!({ "exit_code": 1, "stderr_tail": "é".repeat(512) }));
    }

    #[test]
    fn a_refusal_of_our_own_names_no_program() {
        let large = TaskError::NoStartingDiff { why: "it is large".into(), git: None };
        assert_eq!(details(&large).keys().collect::<Vec<_>>(), ["reason", "field"]);
    }
}
