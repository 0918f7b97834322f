//! Estimates when a run will end, for a reply.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::Timestamp;
use crate::progress::eta;
use crate::reading::View;
use crate::reply::report_text::duration;

/// Remaining whole seconds as a range, estimated from earlier runs of this agent in this project; for a command, of
/// the same line.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(crate) struct Eta {
    low_s: u64,
    high_s: u64,
    /// The number of runs that the estimate is based on.
    samples: usize,
}

impl Eta {
    #[cfg(test)]
    pub(crate) fn new(low_s: u64, high_s: u64, samples: usize) -> Self {
        Self { low_s, high_s, samples }
    }

    /// `None` for a run that is not working, and if too few earlier runs took longer than this one has.
    pub(crate) fn of(view: &View, now: Timestamp) -> Option<Self> {
        let elapsed = Duration::from_millis(now.millis_since(view.row.started_at?));
        let found = eta(&view.took, elapsed)?;
        let (low_s, high_s) = found.in_seconds();
        Some(Self { low_s, high_s, samples: found.samples })
    }

    /// Of the whole run, for a task that has not ended.
    pub(crate) fn of_whole(view: &View) -> Option<Self> {
        let found = eta(&view.took, Duration::ZERO)?;
        let (low_s, high_s) = found.in_seconds();
        Some(Self { low_s, high_s, samples: found.samples })
    }

    /// `20 s to 1m05s, based on 5 earlier runs`.
    pub(crate) fn range(&self) -> String {
        let (low, high) = (duration(self.low_s * 1000), duration(self.high_s * 1000));
        format!("{low} to {high}, based on {} earlier runs", self.samples)
    }

    /// `20 s to 1m05s left, based on 5 earlier runs`.
    pub(crate) fn line(&self) -> String {
        format!("{}, based on {} earlier runs", self.short(), self.samples)
    }

    /// `20 s to 1m05s left`, where space is short.
    pub(crate) fn short(&self) -> String {
        let (low, high) = (duration(self.low_s * 1000), duration(self.high_s * 1000));
        format!("{low} to {high} left")
    }
}
