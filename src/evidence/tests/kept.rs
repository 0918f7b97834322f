//! A run of tests that was seen, with the command that made it, and whether files changed since.

use super::relation::Relation;
use super::{RunResults, TestRun};
use crate::model::Timestamp;

/// Files carry the time of the clock's last tick, 10 ms ago at most, and the end of a
/// command is known from when it was read.
pub(super) const CLOCKS_APART_MS: i64 = 20;

/// What begins so soon after a command may have been read together with its end,
/// however long ago that was.
const SOON_MS: u64 = 100;

/// How things stood when a command began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Began {
    pub(super) edits: u64,
    pub(super) at: Option<Timestamp>,
}

#[derive(Debug)]
pub(super) struct Kept {
    pub(super) run: TestRun,
    pub(super) began: Began,
    pub(super) ended_at: Timestamp,
    /// When the next command began.
    pub(super) next_at: Option<Timestamp>,
    /// Which command of the run it was, and its words.
    pub(super) command: u64,
    pub(super) line: String,
    /// Which tree it ran on.
    pub(super) tree: u64,
    /// Whether files were written after it, by the same command.
    pub(super) written: bool,
}

/// When files last changed in the run, as far as that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    /// Nobody looked.
    Unknown,
    /// `at` is when one that is there changed, `by` the latest time at which one
    /// can have gone.
    Known { at: Option<Timestamp>, by: Option<Timestamp> },
}

impl Kept {
    pub(super) fn replaces(&self, old: &Kept) -> bool {
        match self.run.scope.relation(&old.run.scope) {
            _ if self.run.may_miss(&old.run) => false,
            Relation::Same | Relation::Covers => true,
            Relation::Unclear if self.run.ran_as_many(&old.run) => true,
            // What the same command did before is done anew, whatever its parts were.
            Relation::Unclear if self.command != old.command => {
                self.run.scope.relation_of_commands(&old.run.scope) == Relation::Same
            }
            Relation::Within | Relation::Apart | Relation::Unclear => false,
        }
    }

    /// Whether files changed since. `others` is whether another command ended later, or never did.
    pub(super) fn stale(&self, edits: u64, others: bool, changed: Changed) -> Option<bool> {
        if self.began.edits < edits {
            return Some(true);
        }
        let within = |last: Option<Timestamp>| {
            last.is_some_and(|last| self.began.at.is_none_or(|began| last >= began))
        };
        match changed {
            Changed::Known { at, by } if self.written && within(at.max(by)) => Some(true),
            Changed::Unknown if self.written => Some(true),
            Changed::Known { at, .. } if at > Some(self.ended_at) => Some(true),
            Changed::Known { by, .. } if by > Some(self.ended_at) => None,
            // Its time is that of the tests' end, as far as clocks agree.
            Changed::Known { at, by } if others && at.max(by) >= Some(self.may_have_ended()) => None,
            // It may have been before the tests or after them.
            Changed::Known { at, by } if self.run.goes_on => {
                if within(at.max(by)) {
                    None
                } else {
                    Some(false)
                }
            }
            Changed::Known { .. } => Some(false),
            Changed::Unknown if self.run.goes_on || others => None,
            Changed::Unknown => Some(false),
        }
    }

    /// The earliest time that a file can carry which changed after the tests.
    fn may_have_ended(&self) -> Timestamp {
        let end = Timestamp::from_millis(self.ended_at.as_millis().saturating_sub(CLOCKS_APART_MS));
        let soon = self.next_at.is_some_and(|next| next.millis_since(self.ended_at) <= SOON_MS);
        self.began.at.filter(|began| soon && *began < end).unwrap_or(end)
    }

    pub(super) fn told(&self, stale: Option<bool>) -> RunResults {
        let run = &self.run;
        RunResults {
            framework: run.framework,
            unit: run.unit,
            passed: run.counts.map(|counts| counts.passed),
            failed: run.all_failures(),
            skipped: run.counts.map(|counts| counts.skipped),
            total: run.counts.map(|counts| counts.total),
            duration_ms: run.duration_ms,
            stale,
            complete: run.complete,
            elsewhere: run.scope.elsewhere().map(str::to_owned),
        }
    }
}
