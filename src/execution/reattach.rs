//! Gives work that outlives its supervisor a new one.
//!
//! Hosted work and coordinators keep what a new supervisor needs in their run directory. The task
//! stays `working`: nothing of it is repeated and nothing is lost.

use crate::context::{Context, TaskError};
use crate::execution::pump::{self, Launched};
use crate::execution::recover;
use crate::host::{Attachment, Lock, clock};
use crate::model::Request;
use crate::registry::Row;
use crate::runs::RunDir;
use crate::supervisor::sweep_dead_run;

/// Work whose supervisors die this often is lost.
const MOST_ATTEMPTS: u32 = 200;

/// Reattaches to all work whose supervisor died. Returns the started supervisors.
pub(super) fn reattach(context: &mut Context, ties: Attachment) -> Result<Vec<Launched>, TaskError> {
    let mut launched = Vec::new();
    for row in context.registry.working()? {
        let dir = context.dir(&row.run_id);
        if crate::reading::is_alive(&dir) {
            continue;
        }
        let Some(request) = orphaned(&dir) else { continue };
        // Somebody else may be at it.
        let Some(lock) = Lock::take(&dir.lock()).map_err(TaskError::write(dir.path()))? else { continue };
        if orphaned(&dir).is_none() {
            continue;
        }
        if row.attempt >= MOST_ATTEMPTS {
            recover::seal_as_lost(context, &row, &dir, dir.read_started().ok().flatten().as_ref())?;
            continue;
        }
        launched.extend(relaunch(context, &row, &dir, &request, lock, ties)?);
    }
    Ok(launched)
}

/// The request of a run that has started, is not sealed, and can be taken over.
fn orphaned(dir: &RunDir) -> Option<Request> {
    let request = dir.read_request().ok().flatten().filter(|request| request.work.can_reattach())?;
    let is_open = dir.started().exists() && !dir.result().exists();
    is_open.then_some(request)
}

fn relaunch(
    context: &mut Context,
    row: &Row,
    dir: &RunDir,
    request: &Request,
    lock: Lock,
    ties: Attachment,
) -> Result<Option<Launched>, TaskError> {
    // A call of the local program may have outlived the supervisor.
    sweep_dead_run(
        &recover::mark(context, row),
        dir.read_started().ok().flatten().and_then(|s| s.cgroup).as_deref(),
    );
    let Some(attempt) = context.registry.reclaim(row, clock::now())? else { return Ok(None) };
    // If it cannot be started now, the next look tries again.
    let pid = pump::launch(context, &row.run_id, &request.within, lock, attempt, ties).unwrap_or(None);
    Ok(pid.map(|pid| Launched { pid, within: request.within.clone() }))
}
