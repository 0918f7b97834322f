//! The index of all tasks: one SQLite file that every process shares.
//!
//! It is written at submit, at claim and at the end of a run, in short IMMEDIATE transactions.
//! Everything about a started run can be rebuilt from its directory.

mod connection;
mod file_identity;
mod find;
mod finish;
mod lock_wait;
mod migrations;
mod polled_waits;
mod progress_steps;
mod queue;
mod rebuild;
mod recreate;
mod submit;
mod tasks;
#[cfg(test)]
#[path = "../../tests/registry/real_file.rs"]
mod tests;

pub(crate) use connection::{LogSize, Registry, RegistryError};
pub(crate) use file_identity::RegistryFiles;
pub(crate) use find::{SearchScope, TaskMatch, TaskReference};
pub(crate) use lock_wait::LockPatience;
pub(crate) use polled_waits::Wait;
pub(crate) use queue::ClaimedTask;
pub(crate) use submit::{Submission, Submitted};
pub(crate) use tasks::Row;
