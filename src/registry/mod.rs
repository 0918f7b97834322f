//! The index of all tasks: one SQLite file that every process shares.
//!
//! Touched at submit, at claim, and at the end of a run, in short IMMEDIATE
//! transactions. Everything it says of a started run can be read again from
//! the run's directory.

mod connection;
mod file_identity;
mod find;
mod finish;
mod lock_wait;
mod migrations;
mod polled_waits;
mod queue;
mod rebuild;
mod recreate;
mod submit;
mod tasks;
#[cfg(test)]
mod tests;

pub(crate) use connection::{Length, Registry, RegistryError};
pub(crate) use file_identity::Identity;
pub(crate) use find::{Found, Reference, Scope};
pub(crate) use lock_wait::Patience;
pub(crate) use polled_waits::Wait;
pub(crate) use queue::Claimed;
pub(crate) use submit::{Submission, Submitted};
pub(crate) use tasks::Row;
