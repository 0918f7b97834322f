//! Supervisors that somebody stopped (SIGSTOP): their lock says that they are alive, and they do nothing.
//!
//! An agent that may signal the processes of its user can do that to its own, and no limit holds any more. Whoever
//! looks is told, and `cancel` has them go on, or ends them.

use crate::host::Home;
use crate::host::signal;
use crate::host::{Process, processes};
use crate::model::{Signal, TaskId};
use crate::reading::enclosing_runs;
use crate::registry::{Registry, RegistryError};
use crate::runs::RunDir;

/// A supervisor that stands still.
#[derive(Debug)]
pub(crate) struct Stopped(Process);

/// The supervisor of the run in `dir`, if it is stopped.
pub(crate) fn supervisor(dir: &RunDir) -> Option<Stopped> {
    let started = dir.read_started().ok().flatten()?;
    let process =
        processes::read(started.supervisor_pid).filter(|process| processes::is_stopped(process.pid))?;
    // Its number may be another one's by now.
    let (run, _) = enclosing_runs::supervised(&processes::arguments(process))?;
    dir.path().ends_with(run.as_str()).then_some(Stopped(process))
}

/// What to say of each run whose supervisor is stopped.
pub(crate) fn all(registry: &Registry, home: &Home) -> Result<Vec<String>, RegistryError> {
    let rows = registry.working()?.into_iter();
    Ok(rows
        .filter_map(|row| Some(supervisor(&RunDir::at(home.run(&row.run_id)))?.warning(&row.id)))
        .collect())
}

impl Stopped {
    pub(crate) fn warning(&self, task: &TaskId) -> String {
        let pid = self.0.pid;
        format!(
            "the supervisor of {task} (process {pid}) is stopped: it keeps neither limits nor output; \
             `kill -CONT {pid}` lets it go on, and cancelling the task ends it"
        )
    }

    pub(crate) fn go_on(&self) {
        signal::thaw(self.0);
    }

    /// Ends it; whoever looks next recovers the run.
    pub(crate) fn end(&self) {
        signal::send(self.0, Signal::Kill);
    }
}
