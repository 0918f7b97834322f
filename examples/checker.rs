//! Checks a home for lost tasks: `checker HOME JOURNAL`.
//!
//! Prints figures. If something is wrong, prints a line for each problem and ends with exit code 1.

#![allow(clippy::print_stdout, reason = "this is a program that prints")]
#![allow(
    clippy::disallowed_methods,
    reason = "it must not use what it checks, so it opens the registry itself"
)]
#![allow(clippy::unwrap_used, dead_code, reason = "shared with the tests")]

#[path = "../tests/support/checker.rs"]
mod checker;
#[path = "../tests/support/journal.rs"]
mod journal;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let [home, journal] = args.as_slice() else {
        println!("usage: checker HOME JOURNAL");
        return ExitCode::from(2);
    };
    let figures = checker::check(Path::new(home), Path::new(journal));
    println!("{figures}");
    figures.wrong.iter().for_each(|line| println!("{line}"));
    ExitCode::from(u8::from(!figures.nothing_wrong()))
}
