//! Runs one child process to its end.
//!
//! The supervisor knows about processes, time, and bytes. It does not know
//! about agents, tasks, SQLite, or MCP.

mod cgroup;
mod lifecycle;
mod line_splitter;
mod process;
mod process_mark;
mod process_tree;
mod stream_capture;

pub(crate) use cgroup::leave as leave_groups;
pub(crate) use lifecycle::Input;
pub(crate) use line_splitter::Lines;
pub(crate) use process::{Control, Ended, Inner, Launched, Observed, Observer, Order, run};
pub(crate) use process_mark::Mark;
pub(crate) use process_tree::{Scope, Tree, Whose, best_level, sweep_marked};
pub(crate) use stream_capture::{Apart, Capture, Stream, after, apart, ends_line, join_segments};
