//! `delegator check-schema` (hidden): validates one answer against one schema, with limits on time and memory.

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
