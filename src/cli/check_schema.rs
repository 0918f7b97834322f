//! `delegator check-schema`, hidden: holds one answer against one schema, within bounds of its own.

use std::io::{self, Write};
use std::process::ExitCode;

use crate::tasks;

pub(super) fn run() -> ExitCode {
    let found = tasks::answer_question(&mut io::stdin().lock());
    match found.and_then(|found| io::stdout().write_all(&found)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("delegator: {error}");
            ExitCode::FAILURE
        }
    }
}
