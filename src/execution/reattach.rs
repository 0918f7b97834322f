//! Gives work that outlives its supervisor a new one.
//!
//! Hosted work and coordinators keep what a new supervisor needs in their run directory. The task
//! stays `working`: nothing of it is repeated and nothing is lost.

use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::execution::ask_to_cancel;
use crate::execution::pump::{self, Launched};
use crate::execution::recover;
use crate::host::{Attachment, Lock, clock};
use crate::model::{FailureCode, Fault, Request, WorkKind};
use crate::registry::Row;
use crate::runs::RunDir;
use crate::supervisor::sweep_dead_run;

/// A run is given up after this many supervisors.
const MOST_SUPERVISORS: u32 = 200;

/// The longest time from one supervisor to the next.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// The same for a run that is being cancelled.
const LONGEST_DELAY_OF_CANCEL: Duration = Duration::from_secs(1);

/// Reattaches to all work whose supervisor died. Returns the started supervisors.
pub(super) fn reattach(context: &mut Context, ties: Attachment) -> Result<Vec<Launched>, TaskError> {
    let mut launched = Vec::new();
    for row in context.registry.working()? {
        let dir = context.dir(&row.run_id);
        if crate::reading::is_alive(&dir) {
            continue;
        }
        let Some(request) = orphaned(context, &dir) else { continue };
        if !is_due(context, &row, &dir)? {
            continue;
        }
        // Another process may be reattaching to it.
        let Some(lock) = Lock::take(&dir.lock()).map_err(TaskError::write(dir.path()))? else { continue };
        if orphaned(context, &dir).is_none() {
            continue;
        }
        if row.attempt >= MOST_SUPERVISORS {
            give_up(context, &row, &dir, &request)?;
            continue;
        }
        launched.extend(relaunch(context, &row, &dir, &request, lock, ties)?);
    }
    Ok(launched)
}

/// The request of a run of this home that has started, is not sealed, and can be taken over. Recovery ends a copy of
/// another home's run.
fn orphaned(context: &Context, dir: &RunDir) -> Option<Request> {
    let request = dir.read_request().ok().flatten().filter(|request| request.work.can_reattach())?;
    let is_open = dir.started().exists() && !dir.result().exists();
    (is_open && recover::original(context, Some(&request)).is_none()).then_some(request)
}

/// Whether the last supervisor was started long enough ago.
fn is_due(context: &Context, row: &Row, dir: &RunDir) -> Result<bool, TaskError> {
    let longest = if dir.cancel().exists() { LONGEST_DELAY_OF_CANCEL } else { LONGEST_DELAY };
    let (last, now) = (context.registry.last_claim(row)?, clock::now());
    let passed = Duration::from_millis(now.millis_since(last));
    // A clock that was set back says nothing.
    Ok(now < last || passed >= delay(row.attempt).min(longest))
}

/// The time from the start of supervisor number `nth` to that of the next. The first one is replaced at once.
fn delay(nth: u32) -> Duration {
    match nth.checked_sub(2) {
        None => Duration::ZERO,
        Some(doublings) => Duration::from_secs(1 << doublings.min(6)).min(LONGEST_DELAY),
    }
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
    match pump::launch(context, &row.run_id, &request.within, lock, attempt, ties) {
        Ok(pid) => Ok(pid.map(|pid| Launched { pid, within: request.within.clone() })),
        // The next look tries again.
        Err(_) => {
            context.registry.undo_reclaim(row)?;
            Ok(None)
        }
    }
}

/// Seals a run whose supervisors keep dying. The caller holds its lock.
fn give_up(context: &mut Context, row: &Row, dir: &RunDir, request: &Request) -> Result<(), TaskError> {
    let died = format!("{} supervisors of the run died", row.attempt);
    let lost = |message| Fault::new(FailureCode::Lost, message);
    let fault = if request.work == WorkKind::Coordinator {
        cancel_jobs(context, request)?;
        lost(format!("{died}; its jobs were cancelled")).hint("start the task again")
    } else {
        match address(dir) {
            Some(job) => lost(format!("{died}; the service still has the job: {job}"))
                .hint("look at the job there before you start the task again"),
            None => lost(format!("{died}; whether the service has the job is not known"))
                .hint("look at the service's own list before you start the task again"),
        }
    };
    recover::seal_as_lost(context, row, dir, dir.read_started().ok().flatten().as_ref(), fault)
}

/// Where the service has the job, or its id, if it was submitted.
fn address(dir: &RunDir) -> Option<String> {
    let remote: serde_json::Value = dir.read_state(&dir.remote()).ok().flatten()?;
    let job = remote.get("job")?;
    let known = job.get("url").filter(|url| url.is_string()).or_else(|| job.get("id"))?;
    known.as_str().map(ToOwned::to_owned)
}

fn cancel_jobs(context: &mut Context, request: &Request) -> Result<(), TaskError> {
    let reason = request.job_cancel_reason();
    for row in context.registry.jobs_of(&request.task_id)? {
        // One that cannot be asked must not keep the others from it.
        let _ = ask_to_cancel(context, &row, Some(&reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_supervisor_waits_longer_each_time_up_to_a_minute() {
        let seconds = [1, 2, 3, 4, 7, 8, 9, 199].map(|nth| delay(nth).as_secs());
        assert_eq!(seconds, [0, 1, 2, 4, 32, 60, 60, 60]);
    }
}
