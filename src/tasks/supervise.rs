//! Supervises one run to its end, then does the housekeeping that is due.

use std::os::fd::RawFd;
use std::path::PathBuf;

use crate::context::TaskError;
use crate::execution::{self, Coordinate};
use crate::host::Env;
use crate::registry::LogSize;
use crate::tasks::cleanup;

/// Supervises the run in `dir`, whose lock came with `descriptor`.
pub(crate) fn supervise(
    env: Env,
    dir: PathBuf,
    descriptor: RawFd,
    attempt: u32,
    coordinate: Coordinate,
) -> Result<(), TaskError> {
    if let Some(mut context) = execution::supervise(env, dir, descriptor, attempt, coordinate)? {
        // Without a server nobody else cleans up. An error there does not concern the run.
        let _ = cleanup::cleanup_if_due(&mut context);
        context.registry.checkpoint_log(LogSize::Short);
    }
    Ok(())
}
