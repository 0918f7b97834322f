//! Git repositories, without trusting them: one hardened runner, and what a
//! working tree was like before and after.
//!
//! Nothing here writes to the user's repository, and no git of ours reads its
//! configuration as its own.

mod after;
mod commits;
mod config_file;
mod content;
mod conversion;
mod diff;
mod differences;
mod filters;
mod gone;
mod ignored;
mod ignored_changes;
mod includes;
mod index;
mod index_copy;
mod index_file;
mod index_now;
mod kept;
mod line_ends;
mod moment;
mod nested;
mod object;
mod outside;
mod own;
mod pack;
mod put_back;
mod reftable;
mod repository;
mod runner;
mod settings;
mod snapshot;
mod sparse;
mod stalls;
mod state;
#[cfg(test)]
mod testing;
mod touched;
mod worktree;
mod worktrees;

pub(crate) use commits::{Commit, History};
pub(crate) use diff::{FileChange, Kind, Lines, plainly};
pub(crate) use differences::Differences;
pub(crate) use ignored::IgnoredChange;
pub(crate) use object::Format;
pub(crate) use repository::{Head, Left};
pub(crate) use runner::Git;
pub(crate) use settings::{User, of_system};
pub(crate) use snapshot::{Before, Trouble};
pub(crate) use state::State;
pub(crate) use touched::{MOST as MOST_TOUCHED, Touched, touched};
pub(crate) use worktree::{Found, Stat, Time, WorkTree};
