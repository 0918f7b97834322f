//! `registry_info` replies about the changes of a task: what `apply` did, and what `discard` removed.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::config::TextLimits;
use crate::failure::Voice;
use crate::model::TaskId;
use crate::reply::next_steps::{NextCall, next_line};
use crate::reply::report_text::{count, list_any};
use crate::tasks::{AppliedChanges, Discarded};
use crate::text::plain;

/// What was done with the changes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApplyStep {
    Applied,
    WouldApply,
    Undone,
}

/// What became of the changes of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Application {
    #[schemars(extend("enum" = ["apply", "undo"]))]
    operation: &'static str,
    task_id: TaskId,
    /// The branch with the changes; absent if they are a diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The checkout whose files were changed.
    repository: PathBuf,
    /// Whether files were changed: all of them or none.
    pub(crate) applied: bool,
    /// Nothing was changed, because this was only to be tried.
    dry_run: bool,
    /// The files that changed, or would.
    files: Vec<AppliedFile>,
    /// The files that stand in the way. With any of them, nothing was changed.
    pub(crate) conflicts: Vec<Conflict>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The command that undoes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
    /// The result in one line.
    pub(crate) message: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AppliedFile {
    path: String,
    #[schemars(extend("enum" = ["added", "modified", "deleted"]))]
    change: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Conflict {
    path: String,
    reason: &'static str,
}

impl Application {
    pub(crate) fn of(done: AppliedChanges, step: ApplyStep) -> Self {
        let AppliedChanges { task_id, branch, repository, applied, warnings } = done;
        let shown = |path: &[u8]| plain::line(&String::from_utf8_lossy(path), usize::MAX);
        let files: Vec<AppliedFile> = applied
            .files
            .iter()
            .map(|file| AppliedFile { path: shown(&file.path), change: file.change })
            .collect();
        let conflicts: Vec<Conflict> = applied
            .conflicts
            .iter()
            .map(|conflict| Conflict { path: shown(&conflict.path), reason: conflict.reason })
            .collect();
        let wrote = step != ApplyStep::WouldApply && conflicts.is_empty() && !files.is_empty();
        let undo = (wrote && step == ApplyStep::Applied).then(|| format!("delegator apply --undo {task_id}"));
        let number = count(files.len(), "file");
        let message = match (step, conflicts.len(), files.len()) {
            (_, 1.., _) => format!("nothing was changed: {} in conflict", count(conflicts.len(), "file")),
            (ApplyStep::Undone, ..) => format!("undone: {number} as before"),
            (_, _, 0) => "nothing to apply: the checkout has all of it".to_owned(),
            (ApplyStep::Applied, ..) => {
                format!("{number} changed in the checkout; nothing is staged or committed")
            }
            (ApplyStep::WouldApply, ..) => format!("would change {number} without a conflict"),
        };
        Self {
            operation: if step == ApplyStep::Undone { "undo" } else { "apply" },
            task_id,
            branch,
            repository,
            applied: wrote,
            dry_run: step == ApplyStep::WouldApply,
            files,
            conflicts,
            warnings,
            undo,
            message,
        }
    }

    pub(crate) fn next(&self) -> Vec<NextCall> {
        let (tool, why) = match (self.dry_run, self.conflicts.is_empty(), self.files.is_empty()) {
            (true, true, false) => ("delegate_apply", "applies it"),
            _ => ("delegate_results", "shows what it did"),
        };
        vec![NextCall::new(tool, json!({ "task_id": self.task_id }), why)]
    }

    /// For people, and with the head of a tool's reply for models.
    pub(crate) fn text(&self, voice: Voice, tool: &str, next: &[NextCall], cuts: TextLimits) -> String {
        let mut text = match voice {
            Voice::Shell => format!("{}: {}\n", self.task_id, self.message),
            Voice::Tools => format!("{tool}\ntask_id: {}\nmessage: {}\n", self.task_id, self.message),
        };
        text.extend(self.branch.iter().map(|branch| format!("branch: {branch}\n")));
        text += &format!("repository: {}\n", plain::line(&self.repository.to_string_lossy(), usize::MAX));
        let files: Vec<String> =
            self.files.iter().map(|file| format!("{} {}", file.change, file.path)).collect();
        list_any(&mut text, "files", &files, cuts);
        let conflicts: Vec<String> =
            self.conflicts.iter().map(|conflict| format!("{}: {}", conflict.path, conflict.reason)).collect();
        list_any(&mut text, "conflicts", &conflicts, cuts);
        list_any(&mut text, "warnings", &self.warnings, cuts);
        text.extend(self.undo.iter().map(|undo| format!("undo: {undo}\n")));
        match voice {
            Voice::Shell => text,
            Voice::Tools => text + &next_line(next),
        }
    }
}

/// A worktree that was removed with its branch.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Discard {
    #[schemars(extend("enum" = ["discard"]))]
    operation: &'static str,
    task_id: TaskId,
    branch: String,
    /// The commit that had all of the work; git keeps it for some weeks.
    commit: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The result in one line.
    pub(crate) message: String,
}

impl Discard {
    pub(crate) fn of(done: Discarded) -> Self {
        let Discarded { task_id, branch, commit, warnings } = done;
        let message = match &commit {
            Some(commit) => format!(
                "{task_id}: removed its worktree and the branch {branch}; `git branch NAME {commit}` brings the work back"
            ),
            None => format!("{task_id}: there was nothing left of its worktree"),
        };
        Self { operation: "discard", task_id, branch, commit, warnings, message }
    }

    pub(crate) fn text(&self) -> String {
        let warnings = self.warnings.iter().map(|warning| format!("warning: {warning}\n"));
        format!("{}\n{}", self.message, warnings.collect::<String>())
    }
}

/// The changes of a task.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Diff {
    pub(crate) task_id: TaskId,
    /// As git writes it.
    pub(crate) diff: String,
}
