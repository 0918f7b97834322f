//! `delegator check-schema`, hidden: holds one answer against one schema, within bounds of its own.

use crate::execution;
use std::io;
use std::io::Write;
use std::process::ExitCode;

pub(super) fn run() -> ExitCode {
    let found = execution::answer_question(&mut io::stdin().lock());
    match found.and_then(|found| io::stdout().write_all(&found)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("delegator: {error}");
            ExitCode::FAILURE
        }
    }
}
