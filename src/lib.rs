//! Hands coding work to an isolated agent run and gives an honest account of it.
//!
//! In reading order: the nouns, the machine, what we know about agents, the
//! use cases, and the surfaces. Each layer uses only those above it.

mod model;
mod redact;
mod text;

mod config;
mod git;
mod host;
mod registry;
mod runs;
mod setup;
mod supervisor;
mod terminals;

mod agents;
mod evidence;
mod inspect;
mod ledger;
mod progress;
mod prompts;
mod storage;

mod context;
mod execution;
mod reading;
mod submit;
mod tasks;

mod cli;
mod failure;
mod mcp;
mod reply;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with its arguments, its own name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    host::signal::reset_sigchld();
    host::signal::ignore_file_size_signal();
    cli::run(args.into_iter().collect())
}

/// One input of a fuzz target in `fuzz/`. No other build has it.
#[cfg(fuzzing)]
pub fn fuzz_edge(bytes: &[u8]) {
    mcp::protocol::fuzz_edge::check(bytes);
}

/// The same of the other one.
#[cfg(fuzzing)]
pub fn fuzz_inspect(bytes: &[u8]) {
    inspect::fuzz_input::check(bytes);
}
