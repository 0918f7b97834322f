//! What became of the files, for a reply: names, counts, and where they come
//! from. Everything else is in `evidence.json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{ChangeOf, FileRecord, Files, Source};
use crate::model::TaskId;
use crate::progress::plain;

/// Of each list; the counts are of all.
const MOST_NAMED: usize = 100;
const MOST_COMMITS: usize = 20;
const LONGEST_SUBJECT: usize = 100;
const LONGEST_PATH: usize = 400;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileOperations {
    modified_files: Vec<String>,
    added_files: Vec<String>,
    deleted_files: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    renamed_files: Vec<Renamed>,
    /// How many files changed, whether they are named here or not.
    files_changed: usize,
    /// Added and removed together; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_changed: Option<u64>,
    /// `git`: the tree before and after. `agent_events`: what the agent reported
    /// it had changed.
    #[schemars(extend("enum" = ["git", "agent_events"]))]
    source: &'static str,
    /// What was committed during the run, the youngest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commits: Vec<Made>,
    /// Tasks that worked in the same checkout at the same time: their changes
    /// are among these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlapped_with: Vec<TaskId>,
    /// What could not be found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Renamed {
    from: String,
    to: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Made {
    hash: String,
    subject: String,
}

impl FileOperations {
    /// `None` where nothing is known of any file.
    pub(super) fn of(files: &Files) -> Option<Self> {
        let source = match files.source {
            Source::Git | Source::AgentEvents => files.source.as_str(),
            Source::None => return None,
        };
        let named = |wanted: &[List]| {
            let of_kind = files.changes.iter().filter(|change| wanted.contains(&list(change)));
            of_kind.take(MOST_NAMED).map(|change| path(&change.path)).collect()
        };
        let renamed = files.changes.iter().filter_map(|change| {
            Some(Renamed { from: path(change.old_path.as_ref()?), to: path(&change.path) })
        });
        let lines = files.totals.lines_added.zip(files.totals.lines_removed);
        Some(Self {
            modified_files: named(&[List::Modified]),
            added_files: named(&[List::Added]),
            deleted_files: named(&[List::Deleted]),
            renamed_files: renamed.take(MOST_NAMED).collect(),
            files_changed: files.totals.files,
            lines_changed: lines.map(|(added, removed)| added + removed),
            source,
            commits: files
                .commits
                .iter()
                .take(MOST_COMMITS)
                .map(|commit| Made {
                    hash: commit.hash.clone(),
                    subject: plain::line(&commit.subject, LONGEST_SUBJECT),
                })
                .collect(),
            overlapped_with: files.overlapped_with.iter().map(|one| one.task_id.clone()).collect(),
            incomplete: files.incomplete.iter().map(|what| plain::line(what, LONGEST_PATH)).collect(),
        })
    }
}

impl FileOperations {
    /// `3 changed, 12 lines (git)`.
    pub(super) fn line(&self) -> String {
        let lines = self.lines_changed.map_or(String::new(), |lines| format!(", {lines} lines"));
        let others: Vec<&str> = self.overlapped_with.iter().map(TaskId::as_str).collect();
        let shared =
            if others.is_empty() { String::new() } else { format!("; shared with {}", others.join(", ")) };
        let unknown = if self.incomplete.is_empty() { "" } else { "; incomplete" };
        format!("{} changed{lines} ({}{shared}{unknown})", self.files_changed, self.source)
    }

    /// What became of each file that is named here.
    pub(super) fn names(&self) -> Vec<String> {
        let kinds = [
            ("modified", &self.modified_files),
            ("added", &self.added_files),
            ("deleted", &self.deleted_files),
        ];
        let plain = kinds
            .into_iter()
            .flat_map(|(what, files)| files.iter().map(move |file| format!("{what} {file}")));
        let renamed = self.renamed_files.iter().map(|one| format!("renamed {} -> {}", one.from, one.to));
        plain.chain(renamed).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Modified,
    Added,
    Deleted,
    Renamed,
}

fn list(change: &FileRecord) -> List {
    match change.kind {
        ChangeOf::Added => List::Added,
        ChangeOf::Deleted => List::Deleted,
        ChangeOf::Renamed => List::Renamed,
        ChangeOf::Submodule if change.old_mode.is_none() => List::Added,
        ChangeOf::Submodule if change.new_mode.is_none() => List::Deleted,
        ChangeOf::Modified | ChangeOf::ModeChanged | ChangeOf::TypeChanged | ChangeOf::Submodule => {
            List::Modified
        }
    }
}

fn path(path: &str) -> String {
    plain::line(path, LONGEST_PATH)
}
