//! `delegator supervise` (hidden): the supervisor process, one per run. It has no standard error; its messages
//! go to the run's `supervisor.log`.
//!
//! Its arguments are parsed by hand: many supervisors may run at once, and the full parser costs memory.

use crate::autopilot;
use crate::execution;
use crate::tasks;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::{print, usage_errors};
use crate::failure::{Exit, Failure};
use crate::host::Env;

pub(super) fn run(args: &[OsString]) -> ExitCode {
    let dir = args.last().map(PathBuf::from).unwrap_or_default();
    let lasting = dir.clone();
    std::panic::set_hook(Box::new(move |panic| execution::log_problem(&lasting, &panic.to_string())));
    let exit = match supervise(args) {
        Ok(()) => Exit::Done,
        Err(failure) => {
            // For a person who typed the command; a real supervisor writes only to its file.
            print::note(&format!("delegator: {}", failure.message));
            execution::log_problem(&dir, &failure.message);
            failure.exit
        }
    };
    ExitCode::from(exit as u8)
}

/// Parses exactly the arguments that `host::spawn` writes, because nothing else starts it.
fn supervise(args: &[OsString]) -> Result<(), Failure> {
    let unknown =
        || usage_errors::bad("only delegator itself starts `supervise`", "`delegator run` starts a task");
    let [_, _, lock, descriptor, attempts, attempt, run_dir] = args else { return Err(unknown()) };
    let number = |text: &OsStr| text.to_str().and_then(|text| text.parse::<u32>().ok());
    match (lock == "--lock-fd", number(descriptor), attempts == "--attempt", number(attempt)) {
        (true, Some(descriptor), true, Some(attempt)) => {
            let descriptor = i32::try_from(descriptor).map_err(|_| unknown())?;
            Ok(tasks::supervise(Env::read(), run_dir.into(), descriptor, attempt, autopilot::coordinate)?)
        }
        _ => Err(unknown()),
    }
}
