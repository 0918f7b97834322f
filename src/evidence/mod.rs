//! What happened in a run, from what can be observed, never from an agent's prose.
//!
//! Pure data processing: nothing here knows who collects outputs or who shows the findings.

mod command_line;
mod commands;
mod errors;
mod files;
mod line_scanner;
mod screen_lines;
mod tests;

// Next to the recordings, histories and projects that they read.
#[cfg(test)]
#[path = "../../tests/corpus/recorded.rs"]
mod corpus;
#[cfg(test)]
#[path = "../../tests/histories/rule.rs"]
mod histories;
#[cfg(test)]
#[path = "../../tests/runners/real.rs"]
mod runners;

pub(crate) use commands::{
    Account, CommandCounts, CommandEnd, CommandOutcome, EarlierError, EarlierErrors, ErrorEvidence,
    LedgerEntry, Printed, Refusals, Span, judge, settle,
};
pub(crate) use errors::Location;
pub(crate) use files::{
    ChangeOf, Edits, Evidence, FileRecord, Files, IgnoredRecord, Observed, Overlap, Position, Source,
};
#[cfg(test)]
pub(crate) use tests::RunResults;
pub(crate) use tests::{Changed, Framework, LiveCount, RedTests, TestResults, Unit};
