//! Delegates coding work to isolated agent runs and reports what they did.
//!
//! The modules below are in reading order: data types, the operating system, agents, use cases, interfaces.
//! `tests/it/tidy.rs` checks which module may use which.

mod model;
mod redact;
mod text;

mod config;
mod environments;
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
mod router;
mod skills;
mod storage;

mod context;
mod execution;
mod reading;
mod submit;
mod tasks;
mod worktrees;

mod autopilot;
mod requests;

mod cli;
mod failure;
mod mcp;
mod reply;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program. The first argument is its own name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    host::signal::reset_sigchld();
    host::signal::ignore_file_size_signal();
    cli::run(args.into_iter().collect())
}

/// Entry point of the fuzz target `edge`. Only in fuzzing builds.
#[cfg(fuzzing)]
pub fn fuzz_edge(bytes: &[u8]) {
    mcp::protocol::fuzz_edge::check(bytes);
}

/// Entry point of the fuzz target `inspect`. Only in fuzzing builds.
#[cfg(fuzzing)]
pub fn fuzz_inspect(bytes: &[u8]) {
    inspect::fuzz_input::check(bytes);
}
