//! Hands the arguments over.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcp_delegator::run(std::env::args_os())
}
