//! Why there is nothing to show of what a run printed, where more is known than
//! that it printed nothing.

use std::fmt;

use crate::model::State;
use crate::registry::Row;
use crate::runs::RunDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unprinted {
    Queued,
    NeverStarted,
    /// Its directory was deleted, or its streams were.
    Gone,
}

impl fmt::Display for Unprinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unprinted::Queued => "it waits in the queue and has not started",
            Unprinted::NeverStarted => "it ended before it was started",
            Unprinted::Gone => "the run directory is gone, and its output with it",
        })
    }
}

/// A run that started has its streams, be they empty, until somebody deletes them.
pub(crate) fn unprinted(row: &Row, dir: &RunDir) -> Option<Unprinted> {
    if !dir.path().exists() {
        return Some(Unprinted::Gone);
    }
    match row.state {
        State::Pending => Some(Unprinted::Queued),
        State::Working | State::InputRequired => None,
        State::Completed | State::Failed | State::Cancelled | State::TimedOut => {
            if [dir.stdout(), dir.events(), dir.stderr()].iter().any(|path| path.exists()) {
                return None;
            }
            // A row starts with its supervisor, a record with the agent.
            let started = match dir.read_result() {
                Ok(Some(result)) => result.started_at,
                Ok(None) | Err(_) => row.started_at,
            };
            Some(if started.is_some() { Unprinted::Gone } else { Unprinted::NeverStarted })
        }
    }
}
