//! Reads what is known about tasks right now. It writes nothing: no row, no queue, no file.

mod agent_commands;
mod answer;
mod artifact;
pub(crate) mod enclosing_runs;
mod excerpt;
mod failed_output;
mod inspect;
mod inspect_target;
mod last_lines;
mod queue_forecast;
mod results;
mod snapshot;
pub(crate) mod stopped_supervisor;
mod subruns;
mod task_names;
mod terminal_output;
mod unread;
pub(crate) mod view;

pub(crate) use agent_commands::{AgentCommand, CommandLife};
pub(crate) use answer::AgentAnswer;
pub(crate) use artifact::{HeadAndTail, read_artifact};
pub(crate) use excerpt::Excerpt;
pub(crate) use failed_output::LAST_FAILED;
pub(crate) use inspect::{Inspected, inspect};
pub(crate) use inspect_target::InspectTarget;
pub(crate) use results::{Artifact, Output, Partial, Results, ResultsRequest, gather};
pub(crate) use snapshot::{InCloud, MAX_FINISHED_COUNTED, QueuedTask, Snapshot, queued, snapshot};
pub(crate) use subruns::{Subrun, SubrunState, Tree, activity, subruns};
pub(crate) use task_names::names;
pub(crate) use terminal_output::{OpenOutput, OutputSource, list_commands_of, list_terminals, open_terminal};
pub(crate) use unread::{MAX_UNREAD_COUNTED, unread};
pub(crate) use view::{DURATION_SAMPLES, View, find, is_alive, look_up, reaches_into, same_line, view};
