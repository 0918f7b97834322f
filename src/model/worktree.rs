//! A git worktree of its own for a run.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The worktree that a run works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Worktree {
    /// The work of the run is committed to this branch.
    pub(crate) branch: String,
    /// The commit that the branch starts from.
    pub(crate) base: String,
    /// The directory of the worktree, below our home.
    pub(crate) path: PathBuf,
    /// The user's checkout that it was made from.
    pub(crate) repository: PathBuf,
}

/// The worktree when the run had ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WorktreeEnd {
    #[serde(flatten)]
    pub(crate) worktree: Worktree,
    /// The last commit of the branch. The base if the run changed nothing; then the branch and the directory are gone.
    pub(crate) head: String,
}

impl WorktreeEnd {
    pub(crate) fn is_changed(&self) -> bool {
        self.head != self.worktree.base
    }
}
