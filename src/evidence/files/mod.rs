//! File changes of a run: the tree before and after if there is git, otherwise what the agent reported; and
//! which of the two it is.

mod edits;
mod from_events;
mod record;

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::git::{ChangeKind, Commit, FileChange, Head, History, IgnoredChange, LineCounts, State};
use crate::model::{RunId, TaskId};
use crate::text::plain;

pub(crate) use edits::Edits;
pub(crate) use record::Evidence;

/// Further changes are counted but not listed.
const MOST_LISTED: usize = 10_000;
const MOST_IGNORED: usize = 200;
const MOST_NESTED: usize = 200;
const LONGEST_LIST: usize = 400;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Files {
    pub(crate) source: Source,
    /// Why the source is not git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The directory that paths are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<PathBuf>,
    /// What could not be determined, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) incomplete: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Position>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Position>,
    /// The commits made during the run, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) commits: Vec<CommitMade>,
    pub(crate) totals: Totals,
    pub(crate) changes: Vec<FileRecord>,
    /// How many changes are counted but not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) left_out: usize,
    /// How many tracked files are no longer checked out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) no_longer_checked_out: usize,
    /// Ignored files that were changed; their content was not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ignored: Vec<IgnoredRecord>,
    /// How many of them are counted but not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) ignored_left_out: usize,
    /// Submodules and other nested repositories: only their commits are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) not_looked_into: Vec<String>,
    /// Runs that worked in the same checkout at the same time. Their changes are included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) overlapped_with: Vec<Overlap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Source {
    Git,
    AgentEvents,
    /// The run could change nothing, so nothing was compared.
    ReadOnly,
    /// The diff of a task in the cloud. Nothing was changed here.
    Cloud,
    #[default]
    None,
}

impl Source {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Source::Git => "git",
            Source::AgentEvents => "agent_events",
            Source::ReadOnly => "read_only",
            Source::Cloud => "cloud",
            Source::None => "none",
        }
    }
}

/// The checkout's position.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Absent before the first commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    /// Absent without a branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) branch: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitMade {
    pub(crate) hash: String,
    pub(crate) subject: String,
}

/// Of all changes, listed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    pub(crate) files: usize,
    /// Absent if they are unknown for any file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines_added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines_removed: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FileRecord {
    pub(crate) path: String,
    /// The bytes of the path in hexadecimal, if they are not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path_hex: Option<String>,
    pub(crate) kind: ChangeOf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_path_hex: Option<String>,
    /// Absent for files without lines, and if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines_added: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines_removed: Option<u64>,
    /// Of the new content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sha256: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_mode: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_mode: Option<String>,
    /// For a nested repository: the commit before and after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) old_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) new_commit: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeOf {
    Added,
    Modified,
    Deleted,
    Renamed,
    ModeChanged,
    TypeChanged,
    Submodule,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IgnoredRecord {
    /// A path that ends in a slash is a whole directory.
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path_hex: Option<String>,
    pub(crate) change: IgnoredKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IgnoredKind {
    Added,
    /// Something in it was created, changed, removed or only touched.
    Modified,
    Deleted,
    /// It has too many files to tell.
    Unknown,
}

impl IgnoredKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            IgnoredKind::Added => "added",
            IgnoredKind::Modified => "modified",
            IgnoredKind::Deleted => "deleted",
            IgnoredKind::Unknown => "unknown",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Overlap {
    pub(crate) task_id: TaskId,
    pub(crate) run_id: RunId,
}

/// Everything that git and the disk reported.
#[derive(Debug)]
pub(crate) struct Observed {
    pub(crate) root: PathBuf,
    pub(crate) before: Head,
    pub(crate) history: History,
    pub(crate) changes: Vec<FileChange>,
    pub(crate) ignored: Vec<(Vec<u8>, IgnoredChange)>,
    pub(crate) nested: Vec<Vec<u8>>,
    pub(crate) hidden: usize,
    pub(crate) incomplete: Vec<String>,
}

impl FileRecord {
    pub(crate) fn path_bytes(&self) -> Vec<u8> {
        path_bytes(&self.path, self.path_hex.as_deref())
    }

    pub(crate) fn old_path_bytes(&self) -> Option<Vec<u8>> {
        Some(path_bytes(self.old_path.as_ref()?, self.old_path_hex.as_deref()))
    }
}

impl IgnoredRecord {
    pub(crate) fn path_bytes(&self) -> Vec<u8> {
        path_bytes(&self.path, self.path_hex.as_deref())
    }
}

impl Files {
    /// Nothing is known, for this reason.
    pub(crate) fn unknown(reason: String) -> Self {
        Self { reason: Some(reason), ..Self::default() }
    }

    /// For a run that could only read: any changes are not its own.
    pub(crate) fn of_a_reader() -> Self {
        let totals = Totals { files: 0, lines_added: Some(0), lines_removed: Some(0) };
        let reason = Some("it could only read".to_owned());
        Self { source: Source::ReadOnly, reason, totals, ..Self::default() }
    }

    pub(crate) fn from_git(observed: Observed) -> Self {
        let Observed { root, before, history, changes, ignored, nested, hidden, mut incomplete } = observed;
        let unknown = changes.iter().filter(|one| one.lines == LineCounts::Unknown).count();
        let lines = changes.iter().filter_map(|one| one.lines.known());
        let (added, removed) = lines.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        let totals = Totals {
            files: changes.len(),
            lines_added: (unknown == 0).then_some(added),
            lines_removed: (unknown == 0).then_some(removed),
        };
        if unknown > 0 {
            let of = if unknown == 1 { "1 file".to_owned() } else { format!("{unknown} files") };
            let any_known = changes.iter().any(|one| one.lines.known().is_some());
            let rest = format!("; in the others, {added} were added and {removed} removed");
            let rest = if any_known { rest } else { String::new() };
            incomplete.push(format!("lines unknown for {of}{rest}"));
        }
        if nested.len() > MOST_NESTED {
            incomplete.push(format!("{} nested repositories are not listed", nested.len() - MOST_NESTED));
        }
        incomplete.extend(of_history(&history));
        Self {
            source: Source::Git,
            reason: None,
            root: Some(root),
            incomplete,
            before: Some(position(&before)),
            after: Some(position(&history.head)),
            commits: history.commits.into_iter().map(made).collect(),
            totals,
            left_out: changes.len().saturating_sub(MOST_LISTED),
            changes: changes.into_iter().take(MOST_LISTED).map(record).collect(),
            no_longer_checked_out: hidden,
            ignored_left_out: ignored.len().saturating_sub(MOST_IGNORED),
            ignored: ignored.into_iter().take(MOST_IGNORED).map(untold).collect(),
            not_looked_into: nested.iter().take(MOST_NESTED).map(|path| shown(path)).collect(),
            overlapped_with: Vec::new(),
        }
    }
}

/// What is not listed about commits.
fn of_history(history: &History) -> Vec<String> {
    let mut gaps = Vec::new();
    let at_least = if history.uncounted { "at least " } else { "" };
    match history.older {
        0 => {}
        1 => gaps.push(format!(
            "{at_least}1 new commit is older than the run and not listed: it came from elsewhere, or \
             was given an earlier date"
        )),
        older => gaps.push(format!(
            "{at_least}{older} new commits are older than the run and not listed: they came from \
             elsewhere, or were given an earlier date"
        )),
    }
    if history.unread {
        gaps.push("commits are unknown: the commit of the checkout cannot be read".into());
    }
    if history.left_out > 0 {
        let all = history.commits.len() + history.left_out;
        gaps.push(format!("only the last {} of {at_least}{all} commits are listed", history.commits.len()));
    }
    if !history.made.is_empty() {
        let trees: Vec<String> = history.made.iter().map(|root| shown(root.as_os_str().as_bytes())).collect();
        gaps.push(format!(
            "in working trees created during the run only commits were looked at, not files: {}",
            plain::line(&trees.join(", "), LONGEST_LIST)
        ));
    }
    gaps
}

fn position(head: &Head) -> Position {
    Position { commit: head.commit.map(|commit| commit.to_string()), branch: head.branch.clone() }
}

fn made(commit: Commit) -> CommitMade {
    CommitMade { hash: commit.id, subject: commit.subject }
}

fn untold((path, change): (Vec<u8>, IgnoredChange)) -> IgnoredRecord {
    let change = match change {
        IgnoredChange::Added => IgnoredKind::Added,
        IgnoredChange::Modified => IgnoredKind::Modified,
        IgnoredChange::Deleted => IgnoredKind::Deleted,
        IgnoredChange::Unknown => IgnoredKind::Unknown,
    };
    IgnoredRecord { path_hex: odd(&path), path: shown(&path), change }
}

fn record(change: FileChange) -> FileRecord {
    let FileChange { path, old_path, kind, lines, old, new } = change;
    let mode = |state: &Option<State>| state.as_ref().map(|state| format!("{:06o}", state.mode));
    let commit = |state: &Option<State>| {
        state.as_ref().filter(|state| state.is_nested())?.oid.map(|commit| commit.to_string())
    };
    FileRecord {
        path_hex: odd(&path),
        path: shown(&path),
        kind: match kind {
            ChangeKind::Added => ChangeOf::Added,
            ChangeKind::Modified => ChangeOf::Modified,
            ChangeKind::Deleted => ChangeOf::Deleted,
            ChangeKind::Renamed => ChangeOf::Renamed,
            ChangeKind::ModeChanged => ChangeOf::ModeChanged,
            ChangeKind::TypeChanged => ChangeOf::TypeChanged,
            ChangeKind::Nested => ChangeOf::Submodule,
        },
        old_path_hex: old_path.as_deref().and_then(odd),
        old_path: old_path.as_deref().map(shown),
        lines_added: lines.known().map(|(added, _)| added),
        lines_removed: lines.known().map(|(_, removed)| removed),
        size: new.as_ref().and_then(|state| state.stat).map(|stat| stat.size),
        sha256: new.as_ref().and_then(|state| state.sha256.clone()),
        old_mode: mode(&old),
        new_mode: mode(&new),
        old_commit: commit(&old),
        new_commit: commit(&new),
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// The bytes of a path that is not UTF-8.
fn odd(path: &[u8]) -> Option<String> {
    std::str::from_utf8(path).is_err().then(|| hex(path))
}

/// The path from the bytes that [`odd`] returned, or else the text.
fn path_bytes(path: &str, hex: Option<&str>) -> Vec<u8> {
    let digits = hex.unwrap_or_default().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    match digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>() {
        Some(bytes) if !bytes.is_empty() => bytes,
        Some(_) | None => path.as_bytes().to_vec(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
