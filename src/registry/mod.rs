//! The index of all tasks: one SQLite file that every process shares.
//!
//! Touched at submit, at claim, and at the end of a run, in short IMMEDIATE
//! transactions. Everything it says of a started run can be read again from
//! the run's directory.

mod connection;
mod find;
mod finish;
mod identity;
mod migrations;
mod patience;
mod queue;
mod rebuild;
mod remake;
mod submit;
mod tasks;
#[cfg(test)]
mod tests;
mod waits;

pub(crate) use connection::{Length, Registry, RegistryError};
pub(crate) use find::{Found, Reference, Scope};
pub(crate) use identity::Identity;
pub(crate) use patience::Patience;
pub(crate) use queue::Claimed;
pub(crate) use submit::{Submission, Submitted};
pub(crate) use tasks::Row;
pub(crate) use waits::Wait;
