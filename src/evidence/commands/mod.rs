//! The ledger: one entry per command of a run, and the result of all of them.

mod entry;
pub(crate) mod judge;
mod refusals;
pub(crate) mod settle;

pub(crate) use entry::{CommandCounts, CommandOutcome, LedgerEntry, Span};
pub(crate) use judge::{CommandEnd, Printed, judge};
pub(crate) use refusals::Refusals;
pub(in crate::evidence) use settle::Ledger;
pub(crate) use settle::{Account, EarlierError, EarlierErrors, ErrorEvidence, settle};
