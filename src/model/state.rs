//! The state of a task, and its spelling in SQL, JSON and text.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Pending,
    Working,
    InputRequired,
    /// A service may or may not have its job. Never in the registry.
    #[serde(rename = "unknown")]
    Unconfirmed,
    Completed,
    Failed,
    Cancelled,
    TimedOut,
}

impl State {
    pub(crate) const ALL: [State; 8] = [
        State::Pending,
        State::Working,
        State::InputRequired,
        State::Unconfirmed,
        State::Completed,
        State::Failed,
        State::Cancelled,
        State::TimedOut,
    ];

    /// As in the registry and the run directory.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::Working => "working",
            State::InputRequired => "input_required",
            State::Unconfirmed => "unknown",
            State::Completed => "completed",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
            State::TimedOut => "timed_out",
        }
    }

    pub(crate) fn is_final(self) -> bool {
        match self {
            State::Pending | State::Working | State::InputRequired | State::Unconfirmed => false,
            State::Completed | State::Failed | State::Cancelled | State::TimedOut => true,
        }
    }

    /// As in S2 envelopes.
    pub(crate) fn in_envelope(self) -> &'static str {
        match self {
            State::InputRequired => "working",
            State::TimedOut => "timeout",
            State::Pending
            | State::Working
            | State::Unconfirmed
            | State::Completed
            | State::Failed
            | State::Cancelled => self.as_str(),
        }
    }

    /// As in S1 objects.
    pub(crate) fn in_report(self) -> &'static str {
        match self {
            State::Pending | State::Working | State::InputRequired | State::Unconfirmed => "working",
            State::TimedOut => "failed",
            State::Completed | State::Failed | State::Cancelled => self.as_str(),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a task state")]
pub(crate) struct BadState(String);

impl FromStr for State {
    type Err = BadState;

    /// Accepts our own spelling and those of all interfaces.
    fn from_str(text: &str) -> Result<Self, BadState> {
        let own = State::ALL.into_iter().find(|state| state.as_str() == text);
        let alias = match text {
            "queued" => Some(State::Pending),
            "running" => Some(State::Working),
            "succeeded" => Some(State::Completed),
            "canceled" => Some(State::Cancelled),
            "timeout" => Some(State::TimedOut),
            _ => None,
        };
        own.or(alias).ok_or_else(|| BadState(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_back_from_every_spelling() {
        for state in State::ALL {
            assert_eq!(state.as_str().parse::<State>().unwrap(), state);
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(state.in_envelope().parse::<State>().unwrap().is_final(), state.is_final());
        }
    }
}
