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

pub(crate) use cgroup::leave_run_groups as leave_groups;
pub(crate) use lifecycle::Input;
pub(crate) use line_splitter::LineSplitter;
pub(crate) use process::{
    ChildEnded, Control, ControlOrder, LaunchedSupervisor, Observed, Observer, SubrunControl, run,
};
pub(crate) use process_mark::RunMark;
pub(crate) use process_tree::{ProcessTree, RunRelation, Scope, best_level, sweep_dead_run};
pub(crate) use stream_capture::{
    SplitStream, Stream, StreamCapture, after, ends_line, join_segments, split_stream,
};
