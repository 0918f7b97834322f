//! The ledger: one entry for each command that a run ran, and what all of them come to.

mod entry;
pub(crate) mod judge;
mod refusals;
pub(crate) mod settle;

pub(crate) use entry::{CommandCounts, CommandOutcome, LedgerEntry, Span};
pub(crate) use judge::{CommandEnd, Printed, judge};
pub(crate) use refusals::Refusals;
pub(in crate::evidence) use settle::Ledger;
pub(crate) use settle::{Account, EarlierError, EarlierErrors, ErrorEvidence, settle};
