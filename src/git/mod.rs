//! Reads git repositories without trusting them: a hardened runner, and snapshots of a working tree
//! before and after a run.
//!
//! Nothing here writes to the user's repository, and our git never loads its configuration.

mod all_added;
mod changed_content;
mod commits;
mod config_file;
mod conversion;
mod diff;
mod differences;
mod file_state;
mod file_times;
mod filters;
mod home_in_checkout;
mod ignored;
mod ignored_changes;
mod included_files;
mod includes;
mod index;
mod index_changes;
mod index_copy;
mod index_file;
mod line_ends;
mod linked_worktree;
mod merge;
mod nested_repositories;
mod not_checked_out;
mod object;
mod other_worktrees;
mod pack;
mod reftable;
mod remotes;
mod rename_candidates;
mod repository;
mod reverted_paths;
mod runner;
mod settings;
mod side_git;
mod snapshot;
mod snapshot_on_disk;
mod sparse;
mod stall_guards;
#[cfg(test)]
mod testing;
mod touched_below;
mod tree_after;
mod tree_walk;

pub(crate) use all_added::{AllAddedError, Unkept};
pub(crate) use commits::{Commit, History};
pub(crate) use diff::{ChangeKind, FileChange, LineCounts, without_content};
pub(crate) use differences::Differences;
pub(crate) use file_state::State;
pub(crate) use ignored::IgnoredChange;
pub(crate) use linked_worktree::WorktreeOwner;
pub(crate) use merge::{Merged, NewCommit, TreeChange};
pub(crate) use object::{Format, Oid};
pub(crate) use remotes::{current_branch, remotes};
pub(crate) use repository::{Head, Left, Repository};
pub(crate) use runner::Git;
pub(crate) use side_git::Installed;
pub(crate) use snapshot::{SnapshotError, TreeBefore};
pub(crate) use touched_below::{MOST as MOST_TOUCHED, Touched, touched};
pub(crate) use tree_walk::{PathEntry, Stat, Time, WorkTree};
