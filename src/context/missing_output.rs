//! Why a run has no output to show, when the reason is more than "it printed nothing".

use std::fmt;

use crate::model::State;
use crate::registry::Row;
use crate::runs::RunDir;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MissingOutput {
    Queued,
    NeverStarted,
    /// The run directory or its streams were deleted.
    Gone,
}

impl fmt::Display for MissingOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MissingOutput::Queued => "it is queued and has not started",
            MissingOutput::NeverStarted => "it ended before it started",
            MissingOutput::Gone => "its run directory was deleted, and its output with it",
        })
    }
}

/// A run that started has its streams, even if they are empty, until somebody deletes them. A coordinator has its plan
/// instead.
pub(crate) fn missing_output(row: &Row, dir: &RunDir) -> Option<MissingOutput> {
    if !dir.path().exists() {
        return Some(MissingOutput::Gone);
    }
    match row.state {
        State::Pending => Some(MissingOutput::Queued),
        State::Working | State::InputRequired | State::Unconfirmed => None,
        State::Completed | State::Failed | State::Cancelled | State::TimedOut => {
            if [dir.stdout(), dir.events(), dir.stderr(), dir.plan()].iter().any(|path| path.exists()) {
                return None;
            }
            // The row is marked started with the supervisor, the result with the agent.
            let started = match dir.read_result() {
                Ok(Some(result)) => result.started_at,
                Ok(None) | Err(_) => row.started_at,
            };
            Some(if started.is_some() { MissingOutput::Gone } else { MissingOutput::NeverStarted })
        }
    }
}
