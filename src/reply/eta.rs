//! When a run may be over, for a reply.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Timestamp;
use crate::progress::eta;
use crate::reading::View;
use crate::reply::report_text::duration;

/// What is left in whole seconds, as a range, from how long runs of this agent in this project took.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Eta {
    low_s: u64,
    high_s: u64,
    /// How many runs it is from.
    samples: usize,
}

impl Eta {
    #[cfg(test)]
    pub(crate) fn new(low_s: u64, high_s: u64, samples: usize) -> Self {
        Self { low_s, high_s, samples }
    }

    /// `None` of a run that does not work, and where too few have taken longer.
    pub(crate) fn of(view: &View, now: Timestamp) -> Option<Self> {
        let elapsed = Duration::from_millis(now.millis_since(view.row.started_at?));
        let found = eta(&view.took, elapsed)?;
        let (low_s, high_s) = found.in_seconds();
        Some(Self { low_s, high_s, samples: found.samples })
    }

    /// `20 s to 1m05s left, by 5 earlier runs`.
    pub(crate) fn line(&self) -> String {
        format!("{}, by {} earlier runs", self.short(), self.samples)
    }

    /// `20 s to 1m05s left`, where there is no room to say how that is known.
    pub(crate) fn short(&self) -> String {
        let (low, high) = (duration(self.low_s * 1000), duration(self.high_s * 1000));
        format!("{low} to {high} left")
    }
}
