//! Why something could not be done with the worktree of a run.

use std::io;
use std::path::PathBuf;

use crate::git::{AllAddedError, SnapshotError};
use crate::host::{BoundedRunError, files};
use crate::model::TaskId;

/// Why something could not be done with a worktree.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorktreeError {
    #[error("`{}` is not inside a git repository with a working tree", .0.display())]
    NoRepository(PathBuf),
    #[error("the repository `{}` has no commit yet", .0.display())]
    NoCommit(PathBuf),
    #[error("`{0}` is not a commit or a branch of the repository")]
    NoBase(String),
    #[error("git no longer knows the worktree `{}`; its files are still there", .0.display())]
    Forgotten(PathBuf),
    #[error("the branch `{0}` no longer exists")]
    NoBranch(String),
    #[error("the task did not work in a worktree and has no diff, so there is nothing to apply")]
    NoChanges,
    #[error("the task has not ended yet")]
    Running,
    #[error("the task {0}, which works in the same worktree, has not ended yet")]
    InUse(TaskId),
    #[error("an earlier `apply` of this task was interrupted; run `delegator apply --undo {0}` first")]
    Unfinished(TaskId),
    #[error(
        "the worktree `{}` contains other repositories, which would be lost: {named}; move them elsewhere or delete them \
         there, then discard again",
        path.display()
    )]
    Nested { path: PathBuf, named: String },
    #[error("nothing of this task was applied that could be undone")]
    NothingToUndo,
    #[error("the files in `{}` are being changed by another program", .0.display())]
    Moving(PathBuf),
    #[error("another `apply` is running")]
    Busy,
    #[error("`worktree_setup` of the configuration {0}")]
    Setup(String),
    #[error(transparent)]
    Git(#[from] SnapshotError),
    #[error(transparent)]
    AllAdded(#[from] AllAddedError),
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl WorktreeError {
    /// Whether the same may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Moving(_) | Self::Busy => true,
            Self::Io(error) | Self::Git(SnapshotError::Io(error)) => files::is_full(error),
            Self::Git(SnapshotError::Git(BoundedRunError::Failed { complaint, .. })) => {
                complaint.contains("No space left on device")
            }
            Self::NoRepository(_)
            | Self::NoCommit(_)
            | Self::NoBase(_)
            | Self::Forgotten(_)
            | Self::NoBranch(_)
            | Self::NoChanges
            | Self::Running
            | Self::InUse(_)
            | Self::Unfinished(_)
            | Self::Nested { .. }
            | Self::NothingToUndo
            | Self::Setup(_)
            | Self::Git(_)
            | Self::AllAdded(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_and_a_busy_repository_pass() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let passing = [
            WorktreeError::Busy,
            WorktreeError::Moving("/srv/shop".into()),
            WorktreeError::Io(full()),
            WorktreeError::Git(SnapshotError::Io(full())),
        ];
        passing.iter().for_each(|error| assert!(error.is_temporary(), "{error}"));
        let lasting = [
            WorktreeError::NoBranch("a".into()),
            WorktreeError::Io(io::ErrorKind::NotFound.into()),
            WorktreeError::Git(SnapshotError::NoGit),
        ];
        lasting.iter().for_each(|error| assert!(!error.is_temporary(), "{error}"));
    }
}
