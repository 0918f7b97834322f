//! Detects supervisors that somebody stopped (SIGSTOP): they hold their lock but do nothing.
//!
//! An agent that can signal its user's processes can stop its own supervisor, and then no limit is enforced.
//! Readers get a warning; `cancel` continues the supervisor or kills it.

use crate::host::Home;
use crate::host::signal;
use crate::host::{Process, processes};
use crate::model::{Signal, TaskId};
use crate::reading::enclosing_runs;
use crate::registry::{Registry, RegistryError};
use crate::runs::RunDir;

/// A stopped supervisor.
#[derive(Debug)]
pub(crate) struct StoppedSupervisor(Process);

/// The supervisor of the run in `dir`, if it is stopped.
pub(crate) fn find(dir: &RunDir) -> Option<StoppedSupervisor> {
    let started = dir.read_started().ok().flatten()?;
    let process =
        processes::read(started.supervisor_pid).filter(|process| processes::is_stopped(process.pid))?;
    // The process id may have been reused.
    let (run, _) = enclosing_runs::supervised(&processes::arguments(process))?;
    dir.path().ends_with(run.as_str()).then_some(StoppedSupervisor(process))
}

/// A warning for each run whose supervisor is stopped.
pub(crate) fn warnings(registry: &Registry, home: &Home) -> Result<Vec<String>, RegistryError> {
    let rows = registry.working()?.into_iter();
    Ok(rows.filter_map(|row| Some(find(&RunDir::at(home.run(&row.run_id)))?.warning(&row.id))).collect())
}

impl StoppedSupervisor {
    pub(crate) fn warning(&self, task: &TaskId) -> String {
        let pid = self.0.pid;
        format!(
            "the supervisor of {task} (process {pid}) is stopped: it enforces no limits and records no output; \
             `kill -CONT {pid}` continues it, and cancelling the task ends it"
        )
    }

    pub(crate) fn resume(&self) {
        signal::thaw(self.0);
    }

    /// Kills it; the next reader recovers the run.
    pub(crate) fn kill(&self) {
        signal::send(self.0, Signal::Kill);
    }
}
