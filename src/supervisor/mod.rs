//! Runs one child process to its end.
//!
//! The supervisor knows about processes, time, and bytes. It does not know
//! about agents, tasks, SQLite, or MCP.

mod capture;
mod cgroup;
mod lifecycle;
mod lines;
mod mark;
mod process;
mod tree;

pub(crate) use capture::{Apart, Capture, Stream, after, apart, ends_line, join_segments};
pub(crate) use cgroup::leave as leave_groups;
pub(crate) use lifecycle::Input;
pub(crate) use lines::Lines;
pub(crate) use mark::Mark;
pub(crate) use process::{Control, Ended, Inner, Launched, Observed, Observer, Order, run};
pub(crate) use tree::{Scope, Tree, Whose, best_level, sweep_marked};
