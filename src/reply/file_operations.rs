//! File changes for a reply: names, counts and their source. `evidence.json` has the rest.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::evidence::{ChangeOf, FileRecord, Files, IgnoredRecord, Position, Source};
use crate::model::TaskId;
use crate::reading::View;
use crate::text::plain;

/// At most this many names per list; the counts include all.
const MOST_NAMED: usize = 100;
const MOST_COMMITS: usize = 20;
/// Runs in the same checkout that the text names.
const MOST_SHARED: usize = 3;
/// More than a text shows of one list.
const SHOWN: usize = 5;
const MOST_IGNORED: usize = 20;
const LONGEST_SUBJECT: usize = 100;
const LONGEST_PATH: usize = 400;
const LONGEST_REASON: usize = 140;
/// How much of a commit hash the text shows.
const SHORT: usize = 10;

/// Paths are relative to the top of the checkout. Paths with unprintable characters are quoted and escaped as
/// git does it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileOperations {
    modified_files: Vec<String>,
    added_files: Vec<String>,
    deleted_files: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    renamed_files: Vec<Renamed>,
    /// Files that only became executable, or stopped being executable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mode_changed_files: Vec<String>,
    /// Files that became links, and links that became files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    type_changed_files: Vec<String>,
    /// Nested repositories that were added, removed, or moved to another commit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    submodules: Vec<Moved>,
    /// How many files changed, listed or not; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    files_changed: Option<usize>,
    /// How many of them no list here names; `evidence.json` has them.
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Tracked files that are no longer checked out. They do not count as changed.
    #[serde(skip_serializing_if = "is_zero")]
    no_longer_checked_out: usize,
    /// Lines added and removed in all files; null if unknown for any of them.
    lines_changed: Option<u64>,
    /// Absent if no line changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_added: Option<u64>,
    /// Absent if no line changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_removed: Option<u64>,
    /// The directory that paths are relative to, if it is not the run's directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<String>,
    /// `git`: the tree before and after. `agent_events`: what the agent reported. `cloud`: the diff of a task in the
    /// cloud; nothing was changed here. `none`: nothing is known.
    #[schemars(extend("enum" = ["git", "agent_events", "read_only", "cloud", "none"]))]
    source: &'static str,
    /// Why the source is not git.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The checkout's branch and commit before and after; absent if unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<HeadMoved>,
    /// Commits made during the run, newest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    commits: Vec<Made>,
    /// How many more commits there are; `evidence.json` has them.
    #[serde(skip_serializing_if = "is_zero")]
    commits_left_out: usize,
    /// Ignored files that were changed. Their content is not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<Ignored>,
    /// How many more ignored files there are; `evidence.json` has them.
    #[serde(skip_serializing_if = "is_zero")]
    ignored_left_out: usize,
    /// Tasks that worked in the same checkout at the same time. Their changes are included here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    overlapped_with: Vec<TaskId>,
    /// What could not be determined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) incomplete: Vec<String>,
    /// Counts by kind, if a text does not name all files.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_kind: Option<BTreeMap<&'static str, usize>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Renamed {
    from: String,
    to: String,
}

/// A nested repository; a commit is null if there was none, or is none now.
#[derive(Debug, Serialize, JsonSchema)]
struct Moved {
    path: String,
    from: Option<String>,
    to: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HeadMoved {
    from: At,
    to: At,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct At {
    /// Null without a branch.
    branch: Option<String>,
    /// Null before the first commit.
    commit: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Made {
    hash: String,
    subject: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Ignored {
    /// A path that ends in a slash is a whole directory.
    path: String,
    /// `modified`: something in it was created, changed, removed or only touched.
    #[schemars(extend("enum" = ["added", "modified", "deleted", "unknown"]))]
    change: &'static str,
}

impl FileOperations {
    /// File changes of a finished run.
    pub(super) fn seen(view: &View) -> Option<Self> {
        let cwd = view.request.as_ref().map(|request| request.cwd.as_path());
        Some(Self::of(&view.evidence.as_ref()?.files, cwd))
    }

    fn of(files: &Files, cwd: Option<&Path>) -> Self {
        let of = |kinds: &[List]| {
            let wanted = |change: &&FileRecord| kinds.contains(&list(change));
            files.changes.iter().filter(wanted).take(MOST_NAMED).collect::<Vec<_>>()
        };
        let named = |kind: List| of(&[kind]).into_iter().map(|change| path(&change.path_bytes())).collect();
        let renamed = |change: &FileRecord| Renamed {
            from: path(&change.old_path_bytes().unwrap_or_default()),
            to: path(&change.path_bytes()),
        };
        let moved = |change: &FileRecord| Moved {
            path: path(&change.path_bytes()),
            from: change.old_commit.clone(),
            to: change.new_commit.clone(),
        };
        let is_some_line = |(added, removed): &(u64, u64)| added + removed > 0;
        let is_known = files.source != Source::None;
        let lines = files.totals.lines_added.zip(files.totals.lines_removed);
        let mut told = Self {
            modified_files: named(List::Modified),
            added_files: named(List::Added),
            deleted_files: named(List::Deleted),
            renamed_files: of(&[List::Renamed]).into_iter().map(renamed).collect(),
            mode_changed_files: named(List::ModeChanged),
            type_changed_files: named(List::TypeChanged),
            submodules: of(&[List::Submodule]).into_iter().map(moved).collect(),
            files_changed: is_known.then_some(files.totals.files),
            left_out: 0,
            no_longer_checked_out: files.no_longer_checked_out,
            lines_changed: lines.map(|(added, removed)| added + removed),
            lines_added: lines.filter(is_some_line).map(|(added, _)| added),
            lines_removed: lines.filter(is_some_line).map(|(_, removed)| removed),
            root: files
                .root
                .as_deref()
                .filter(|root| cwd.is_some_and(|cwd| cwd != *root))
                .map(|root| path(root.as_os_str().as_bytes())),
            source: files.source.as_str(),
            // That it could only read is its source.
            reason: files
                .reason
                .as_ref()
                .filter(|_| files.source != Source::ReadOnly)
                .map(|reason| plain::line(reason, LONGEST_REASON)),
            head: head(files),
            commits: files
                .commits
                .iter()
                .take(MOST_COMMITS)
                .map(|commit| Made {
                    hash: commit.hash.clone(),
                    subject: plain::line(&commit.subject, LONGEST_SUBJECT),
                })
                .collect(),
            commits_left_out: files.commits.len().saturating_sub(MOST_COMMITS),
            ignored: files.ignored.iter().take(MOST_IGNORED).map(ignored).collect(),
            ignored_left_out: files.ignored.len().saturating_sub(MOST_IGNORED) + files.ignored_left_out,
            overlapped_with: files.overlapped_with.iter().map(|one| one.task_id.clone()).collect(),
            incomplete: files.incomplete.iter().map(|what| plain::line(what, LONGEST_PATH)).collect(),
            by_kind: by_kind(&files.changes).filter(|_| files.totals.files == files.changes.len()),
        };
        told.left_out = files.totals.files.saturating_sub(told.names().len());
        told
    }

    /// `3 changed, +10 -2 lines (git)`.
    pub(super) fn line(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or_default();
        let Some(files) = self.files_changed else { return format!("unknown ({reason})") };
        let lines = match (self.lines_changed, self.lines_added.zip(self.lines_removed)) {
            (None, _) => "lines unknown".to_owned(),
            (Some(_), None) => "0 lines".to_owned(),
            (Some(_), Some((added, removed))) => format!("+{added} -{removed} lines"),
        };
        let root = match &self.root {
            Some(root) if files > 0 => format!("; paths relative to {root}"),
            Some(_) | None => String::new(),
        };
        let hidden = match self.no_longer_checked_out {
            0 => String::new(),
            files => format!(", {files} no longer checked out"),
        };
        let because = if reason.is_empty() { String::new() } else { format!("; {reason}") };
        let mut others: Vec<String> =
            self.overlapped_with.iter().take(MOST_SHARED).map(ToString::to_string).collect();
        let more = self.overlapped_with.len().saturating_sub(MOST_SHARED);
        if more > 0 {
            others.push(format!("{more} more"));
        }
        let shared = if others.is_empty() {
            String::new()
        } else {
            format!("; includes changes that {} made at the same time", others.join(", "))
        };
        let unknown = if self.incomplete.is_empty() { "" } else { "; incomplete" };
        let counted = |kinds: &BTreeMap<_, _>| {
            kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect::<Vec<_>>().join(", ")
        };
        let kinds = self.by_kind.as_ref().map(|kinds| format!(" ({})", counted(kinds))).unwrap_or_default();
        format!("{files} changed{kinds}, {lines}{hidden} ({}{root}{because}{shared}{unknown})", self.source)
    }

    /// The named files, each with its change.
    pub(super) fn names(&self) -> Vec<String> {
        let kinds = [
            ("modified", &self.modified_files),
            ("added", &self.added_files),
            ("deleted", &self.deleted_files),
            ("mode_changed", &self.mode_changed_files),
            ("type_changed", &self.type_changed_files),
        ];
        let plain = kinds
            .into_iter()
            .flat_map(|(what, files)| files.iter().map(move |file| format!("{what} {file}")));
        let renamed = self.renamed_files.iter().map(|one| format!("renamed {} -> {}", one.from, one.to));
        let nested = self.submodules.iter().map(|one| {
            format!("submodule {} {} -> {}", one.path, commit(one.from.as_ref()), commit(one.to.as_ref()))
        });
        plain.chain(renamed).chain(nested).collect()
    }

    pub(super) fn left_out(&self) -> usize {
        self.left_out
    }

    /// `main 0a1b2c3d4e -> other 5f6a7b8c9d`, if the checkout moved.
    pub(super) fn head_line(&self) -> Option<String> {
        let HeadMoved { from, to } = self.head.as_ref()?;
        let at = |at: &At| {
            let branch = at.branch.as_ref().map_or("(no branch)".to_owned(), |name| path(name.as_bytes()));
            format!("{branch} {}", commit(at.commit.as_ref()))
        };
        Some(format!("{} -> {}", at(from), at(to)))
    }

    /// The commits, and how many more there are.
    pub(super) fn commit_lines(&self) -> (Vec<String>, usize) {
        let line = |made: &Made| format!("{} {}", commit(Some(&made.hash)), made.subject);
        (self.commits.iter().map(line).collect(), self.commits_left_out)
    }

    /// The ignored files that were changed, and how many more there are.
    pub(super) fn ignored_lines(&self) -> (Vec<String>, usize) {
        let line = |one: &Ignored| format!("{} {}", one.change, one.path);
        (self.ignored.iter().map(line).collect(), self.ignored_left_out)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Modified,
    Added,
    Deleted,
    Renamed,
    ModeChanged,
    TypeChanged,
    Submodule,
}

fn list(change: &FileRecord) -> List {
    match change.kind {
        ChangeOf::Modified => List::Modified,
        ChangeOf::Added => List::Added,
        ChangeOf::Deleted => List::Deleted,
        ChangeOf::Renamed => List::Renamed,
        ChangeOf::ModeChanged => List::ModeChanged,
        ChangeOf::TypeChanged => List::TypeChanged,
        ChangeOf::Submodule => List::Submodule,
    }
}

/// Counts by kind, if there are more changes than a text names.
fn by_kind(changes: &[FileRecord]) -> Option<BTreeMap<&'static str, usize>> {
    let mut counts = BTreeMap::new();
    for change in changes {
        let kind = match list(change) {
            List::Modified => "modified",
            List::Added => "added",
            List::Deleted => "deleted",
            List::Renamed => "renamed",
            List::ModeChanged => "mode_changed",
            List::TypeChanged => "type_changed",
            List::Submodule => "submodule",
        };
        *counts.entry(kind).or_insert(0) += 1;
    }
    (changes.len() > SHOWN).then_some(counts)
}

fn head(files: &Files) -> Option<HeadMoved> {
    let at = |position: &Position| At { branch: position.branch.clone(), commit: position.commit.clone() };
    let (from, to) = (at(files.before.as_ref()?), at(files.after.as_ref()?));
    (from != to).then_some(HeadMoved { from, to })
}

fn ignored(record: &IgnoredRecord) -> Ignored {
    Ignored { path: path(&record.path_bytes()), change: record.change.as_str() }
}

fn commit(name: Option<&String>) -> &str {
    name.map_or("(none)", |name| name.get(..SHORT).unwrap_or(name))
}

pub(super) fn path(path: &[u8]) -> String {
    plain::name(path, LONGEST_PATH)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
