//! Worktrees of their own for runs: made when a run starts, committed when it ends, and brought back by `apply` alone.

mod apply;
mod commit;
mod create;
mod exchange;
mod merge_branches;
mod owner;
mod parent_dirs;
mod setup;

pub(crate) use apply::{Applied, ChangeSource, Mode, apply, is_unfinished, lock, undo, wait_for_lock};
pub(crate) use commit::{commit, finish};
pub(crate) use create::{Ground, create, discard_unused, some};
pub(crate) use merge_branches::{Conflict, MergedBranches, merge_branches};
pub(crate) use owner::{BranchPoint, head, patch, plan, remove_directory};
