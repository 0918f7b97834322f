//! Supervisors that somebody stopped (SIGSTOP): their lock says that they are alive, and they do nothing.
//!
//! An agent that may signal the processes of its user can do that to its own, and no limit holds any more. Whoever
//! looks is told, and `cancel` has them go on, or ends them.

use crate::host::paths::Home;
use crate::host::proc::{self, Process};
use crate::host::signal;
use crate::model::{Signal, TaskId};
use crate::registry::{Registry, RegistryError};
use crate::runs::RunDir;
use crate::tasks::nested;

/// A supervisor that stands still.
#[derive(Debug)]
pub(super) struct Stopped(Process);

/// The supervisor of the run in `dir`, if it is stopped.
pub(super) fn supervisor(dir: &RunDir) -> Option<Stopped> {
    let started = dir.read_started().ok().flatten()?;
    let process = proc::read(started.supervisor_pid).filter(|process| proc::is_stopped(process.pid))?;
    // Its number may be another one's by now.
    let (run, _) = nested::supervised(&proc::arguments(process))?;
    dir.path().ends_with(run.as_str()).then_some(Stopped(process))
}

/// What to say of each run whose supervisor is stopped.
pub(super) fn all(registry: &Registry, home: &Home) -> Result<Vec<String>, RegistryError> {
    let rows = registry.working()?.into_iter();
    Ok(rows
        .filter_map(|row| Some(supervisor(&RunDir::at(home.run(&row.run_id)))?.warning(&row.id)))
        .collect())
}

impl Stopped {
    pub(super) fn warning(&self, task: &TaskId) -> String {
        let pid = self.0.pid;
        format!(
            "the supervisor of {task} (process {pid}) is stopped: it keeps neither limits nor output; \
             `kill -CONT {pid}` lets it go on, and cancelling the task ends it"
        )
    }

    pub(super) fn go_on(&self) {
        signal::thaw(self.0);
    }

    /// Ends it; whoever looks next recovers the run.
    pub(super) fn end(&self) {
        signal::send(self.0, Signal::Kill);
    }
}
