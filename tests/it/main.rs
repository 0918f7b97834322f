//! The built binary, in worlds of its own, and the house it lives in.

#![allow(clippy::disallowed_methods, reason = "tests start programs and read clocks of their own")]
#![allow(clippy::unwrap_used, reason = "a surprise should panic")]

mod asks;
mod bad_input;
mod cleaning;
mod cloud;
mod commands;
mod compat;
mod damaged;
mod documents;
mod inspecting;
mod long_output;
mod messages;
mod no_output;
mod normalized_output;
mod questions;
mod streams;
mod terminal;
mod tidy;
mod waiting;
mod wall_clock;

#[allow(dead_code, reason = "shared with other test targets, which use other parts")]
#[path = "../support"]
mod support {
    pub mod agent;
    pub mod checker;
    pub mod env;
    pub mod journal;
    pub mod kept;
    pub mod kill;
    pub mod strace;
}
