//! What is known about tasks right now. Reading writes nothing: no row, no queue, no file.

mod agent_commands;
mod artifact;
pub(crate) mod enclosing_runs;
mod excerpt;
mod failed_output;
mod inspect;
mod last_lines;
mod results;
mod snapshot;
mod source;
pub(crate) mod stopped_supervisor;
mod task_names;
mod terminal_output;
mod unread;
pub(crate) mod view;

pub(crate) use agent_commands::{AgentCommand, CommandLife};
pub(crate) use artifact::{Ends, artifact};
pub(crate) use excerpt::Excerpt;
pub(crate) use failed_output::LAST_FAILED;
pub(crate) use inspect::{Inspected, inspect};
pub(crate) use results::{Artifact, Output, Partial, ResultAsk, Results, gather};
pub(crate) use snapshot::{MANY_MORE, Snapshot, snapshot};
pub(crate) use source::Of;
pub(crate) use task_names::names;
pub(crate) use terminal_output::{Screen, Screens, terminal, terminals, terminals_of};
pub(crate) use unread::{MANY, mark_read, unread};
pub(crate) use view::{HISTORY, View, find, is_alive, look_up, reaches_into, view};
