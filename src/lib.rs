//! Hands coding work to an isolated agent run and gives an honest account of it.
//!
//! In reading order: the nouns, the machine, what we know about agents, the
//! use cases, and the surfaces. Each layer uses only those above it.

mod model;

mod redact;

mod host;

mod git;

mod config;

mod supervisor;

mod runs;

mod terminals;

mod setup;

mod registry;

mod agents;

mod prompts;

mod progress;

mod captures;
mod inspect;

mod outputs;

mod evidence;

mod tasks;

mod failure;

mod reply;

mod tools;

mod cli;

use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program with its arguments, its own name first.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    host::signal::hear_of_children();
    host::signal::outlive_file_limits();
    cli::run(args.into_iter().collect())
}

/// One input of a fuzz target in `fuzz/`. No other build has it.
#[cfg(fuzzing)]
pub fn fuzz_edge(bytes: &[u8]) {
    tools::edge::check(bytes);
}

/// The same of the other one.
#[cfg(fuzzing)]
pub fn fuzz_inspect(bytes: &[u8]) {
    inspect::drawn::check(bytes);
}
