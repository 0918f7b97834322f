//! Carries out requests in plain words: routes them, finds the tasks they mean, and calls the use case.
//!
//! The router decides what a request asks for; this layer knows the registry, the time, and what was asked before.

mod answers;
mod carry_out;
mod choose;
mod confirm;
mod memory;
mod outcome;

pub(crate) use carry_out::{Ask, carry_out};
pub(crate) use choose::status;
pub(crate) use outcome::{Choice, Done, Outcome, Then};
