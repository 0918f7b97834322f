//! What happened in a run, from what can be observed, never from an agent's prose.
//!
//! Data in, data out: who collects outputs and who shows the findings is not known here.

mod calls;
#[cfg(test)]
mod collects;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod cuts;
mod edits;
mod errors;
mod files;
mod gather;
#[cfg(test)]
mod glimpses;
mod lines;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod masked;
mod project;
#[cfg(test)]
mod proofs;
mod record;
mod refused;
#[cfg(test)]
mod reruns;
#[cfg(test)]
mod runners;
#[cfg(test)]
mod same_work;
mod scan;
#[cfg(test)]
mod shapes;
mod shell;
#[cfg(test)]
mod shells;
#[cfg(test)]
mod stopped;
mod tests;
mod told;
mod trees;

pub(crate) use edits::Edits;
pub(crate) use errors::{EarlierError, EarlierErrors, ErrorEvidence, Errors, Location};
pub(crate) use files::{ChangeOf, FileRecord, Files, IgnoredRecord, Observed, Overlap, Position, Source};
pub(crate) use gather::{Gathered, Printed, Told};
pub(crate) use record::Evidence;
pub(crate) use tests::{
    Changed, Framework, Passing, RunResults, SoFar as TestsSoFar, TestResults, Tests, Unit, runs_tests,
};
