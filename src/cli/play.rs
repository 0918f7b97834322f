//! `delegator play` (hidden): the program of the `replay` agent.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use crate::agents;

pub(super) fn run(args: &[OsString]) -> ExitCode {
    let args: Vec<String> = args.iter().skip(2).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let status = agents::play(
        &args,
        &mut io::stdin().lock(),
        &mut io::stdout().lock(),
        &mut io::stderr().lock(),
        &mut std::thread::sleep,
    );
    ExitCode::from(u8::try_from(status).unwrap_or(1))
}
