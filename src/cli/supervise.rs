//! `delegator supervise`, hidden: what this program starts itself as, one per
//! run. Its standard error is the run's `supervisor.log`.
//!
//! Read by hand: a supervisor's memory is what it touches, and there may be
//! many of them.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use super::{print, usage};
use crate::failure::{Exit, Failure};
use crate::host::env::Env;
use crate::tasks;

pub(super) fn run(args: &[OsString]) -> ExitCode {
    let exit = match supervise(args) {
        Ok(()) => Exit::Done,
        Err(failure) => {
            print::note(&format!("delegator: {}", failure.message));
            failure.exit
        }
    };
    ExitCode::from(exit as u8)
}

/// Takes exactly what `host::spawn` writes: nobody else calls it.
fn supervise(args: &[OsString]) -> Result<(), Failure> {
    let unknown =
        || usage::bad("`supervise` is started by delegator itself", "`delegator run` starts a task");
    let [_, _, lock, descriptor, attempts, attempt, run_dir] = args else { return Err(unknown()) };
    let number = |text: &OsStr| text.to_str().and_then(|text| text.parse::<u32>().ok());
    match (lock == "--lock-fd", number(descriptor), attempts == "--attempt", number(attempt)) {
        (true, Some(descriptor), true, Some(attempt)) => {
            let descriptor = i32::try_from(descriptor).map_err(|_| unknown())?;
            Ok(tasks::supervise(Env::read(), run_dir.into(), descriptor, attempt)?)
        }
        _ => Err(unknown()),
    }
}
