//! `delegator confined` (hidden): runs first inside the sandbox of a client's command, checks that the sandbox
//! holds, and then executes the command.
//!
//! Usage: `confined [--outside PATH]... [-- PROGRAM ARGUMENTS...]`. Without a program it prints whether the
//! sandbox holds.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::agents::{SANDBOX_LEAK_EXIT, SANDBOX_LEAK_PREFIX};
use crate::host::{ids, sandbox_lockdown, spawn};

pub(super) fn run(args: &[OsString]) -> ExitCode {
    let args = args.get(2..).unwrap_or_default();
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let outside: Vec<PathBuf> =
        args[..end].iter().filter(|arg| *arg != "--outside").map(PathBuf::from).collect();
    let open = open(&outside);
    match (args.get(end + 1..), open.is_empty()) {
        (Some([program, rest @ ..]), true) => {
            let error = spawn::exec_program(Path::new(program), rest, ("TMPDIR", sandbox_lockdown::SCRATCH));
            eprintln!("delegator: failed to start `{}`: {error}", program.display());
            ExitCode::from(127)
        }
        (Some([_, ..]), false) => {
            eprintln!("{SANDBOX_LEAK_PREFIX}{}", open.join(", "));
            ExitCode::from(SANDBOX_LEAK_EXIT)
        }
        (Some([]) | None, _) => {
            println!("{}", if open.is_empty() { "held".to_owned() } else { open.join(", ") });
            ExitCode::SUCCESS
        }
    }
}

fn open(outside: &[PathBuf]) -> Vec<String> {
    if let Err(error) = sandbox_lockdown::deny_sockets() {
        return vec![format!("sockets cannot be blocked ({error})")];
    }
    match ids::secret() {
        Ok(name) => sandbox_lockdown::find_escapes(outside, &format!(".delegator-{name}")),
        Err(error) => vec![format!("the sandbox cannot be tested ({error})")],
    }
}
