//! The command line: parses, calls a use case, renders. One file per command.
//!
//! The only layer that prints. It knows terminals and exit codes. `tasks` decides what a command does, and
//! `failure` words errors.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is the one place")]

mod apply;
mod autopilot;
mod cancel;
mod check_schema;
mod cleanup;
mod confined;
mod demo;
mod do_request;
mod doctor;
mod environments;
mod growing_file;
mod inspect;
mod interrupt;
mod invocation;
mod job_tree;
mod logs;
mod pin;
mod play;
mod print;
mod progress_line;
mod results;
mod resume;
mod run;
mod schema;
mod serve;
mod setup;
mod setup_clients;
mod skill_args;
mod skills;
mod status;
mod supervise;
mod table;
mod task_args;
mod terminal;
mod usage_errors;
mod wait;

use crate::execution;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;
use crate::host::Env;
use invocation::Call;

/// Runs the program. The first argument is the program's name.
pub(crate) fn run(args: Vec<OsString>) -> ExitCode {
    // Delegator starts these itself, often: they skip building the whole argument parser.
    match args.get(1).and_then(|verb| verb.to_str()) {
        Some("supervise") => return supervise::run(&args),
        Some("play") => return play::run(&args),
        Some("confined") => return confined::run(&args),
        Some(execution::CHECK_SCHEMA) => return check_schema::run(),
        _ => {}
    }
    let args = usage_errors::asks_for_help(args);
    let (tool, category) = usage_errors::tool(&args);
    let json = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let call = Call { env: Env::read(), json, tool, category };
    match Cli::try_parse_from(&args) {
        Ok(cli) => finish(&Call { json: cli.json, ..call }, cli.verb),
        Err(error) if usage_errors::is_answer(&error) => usage_errors::answer(&error),
        Err(error) => {
            let failure = usage_errors::failure(&error, usage_errors::verb(&args));
            call.log_problem(&failure);
            ExitCode::from(failure.exit as u8)
        }
    }
}

fn finish(call: &Call, verb: Verb) -> ExitCode {
    verb.run(call).unwrap_or_else(|failure| {
        call.log_problem(&failure);
        ExitCode::from(failure.exit as u8)
    })
}

const AFTER: &str = "\
A task can be named by its id, the beginning of its id, its alias, its run id, or its thread id.
Exit codes: 0 done, 1 the run failed or timed out, 2 bad input, 3 not found, 4 still working, 5 cancelled,
6 a problem with this machine, 130 interrupted.";

/// Run coding agents in the background and see what they really did
#[derive(Debug, Parser)]
#[command(name = "delegator", version, disable_help_subcommand = true, after_help = AFTER)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
    /// Print one JSON document instead of text
    #[arg(long, global = true, display_order = 1000)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Start a task and print its id; it keeps running even if this terminal closes
    Run(run::Run),
    /// Plan a larger task as several jobs, run them, and wait for the result
    Autopilot(autopilot::Autopilot),
    /// Say in plain words what you want: run, check, wait, cancel, show results
    Do(do_request::Do),
    /// Continue the thread of an earlier task
    Resume(resume::Resume),
    /// Show running, queued and recently finished tasks
    Status(status::Status),
    /// Wait until tasks are done
    Wait(wait::Wait),
    /// Show a task's result
    Results(results::Results),
    /// Show what a task printed or did
    Logs(logs::Logs),
    /// Read part of a task's files: the first or last lines, a range, or matching lines
    Inspect(inspect::Inspect),
    /// End a task and everything it started
    Cancel(cancel::Cancel),
    /// Show the changes that a task made in its worktree or in Codex Cloud
    Diff(apply::ShowDiff),
    /// Bring the changes of a task's worktree, or of a cloud task, into your checkout
    Apply(apply::Apply),
    /// Remove a task's worktree and its branch
    Discard(apply::Discard),
    /// Record a shell or a command in a terminal, or read a recording
    Terminal(terminal::Terminal),
    /// Register the server with your MCP clients, record new terminals, or show how to connect Codex Cloud to GitHub
    Setup(setup::Setup),
    /// List the known environments of Codex Cloud, or add and remove one
    Environments(environments::Environments),
    /// List the skills that agents can use, or show which ones a task would get
    Skills(skills::Skills),
    /// Remove old runs and files, end runs whose supervisor died, and show what is kept
    Cleanup(cleanup::Cleanup),
    /// Keep a run, a capture or a terminal regardless of age
    Pin(pin::Pin),
    /// Check this machine: home, database, agents, limits
    Doctor(doctor::Doctor),
    /// Play a recorded task from start to end, without an agent
    Demo(demo::Demo),
    /// Serve MCP clients over standard input and output or over HTTP
    Serve(serve::Serve),
    /// Print the JSON Schemas of all replies
    Schema(schema::Schema),
}

impl Verb {
    fn run(self, call: &Call) -> Result<ExitCode, Failure> {
        let exit = match self {
            Verb::Run(verb) => verb.run(call),
            Verb::Autopilot(verb) => verb.run(call),
            Verb::Do(verb) => verb.run(call),
            Verb::Resume(verb) => verb.run(call),
            Verb::Status(verb) => verb.run(call),
            Verb::Wait(verb) => verb.run(call),
            Verb::Results(verb) => verb.run(call),
            Verb::Logs(verb) => verb.run(call),
            Verb::Inspect(verb) => verb.run(call),
            Verb::Cancel(verb) => verb.run(call),
            Verb::Diff(verb) => verb.run(call),
            Verb::Apply(verb) => verb.run(call),
            Verb::Discard(verb) => verb.run(call),
            // Exits with the status of what ran in it.
            Verb::Terminal(verb) => return verb.run(call),
            Verb::Setup(verb) => verb.run(call),
            Verb::Environments(verb) => verb.run(call),
            Verb::Skills(verb) => verb.run(call),
            Verb::Cleanup(verb) => verb.run(call),
            Verb::Pin(verb) => verb.run(call),
            Verb::Doctor(verb) => verb.run(call),
            Verb::Demo(verb) => verb.run(call),
            Verb::Serve(verb) => verb.run(call),
            Verb::Schema(verb) => verb.run(),
        };
        exit.map(|exit| ExitCode::from(exit as u8))
    }
}
