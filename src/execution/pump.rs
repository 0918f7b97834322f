//! Moves the queue. Anybody may do it at any time, and everybody does: there
//! is no leader whose death could stall it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;

use crate::context::{Context, TaskError, one_line};
use crate::execution::{control, pending_dirs, reattach, recover};
use crate::host::Lock;
use crate::host::clock;
use crate::host::{Attachment, spawn};
use crate::model::{FailureCode, Fault, Outcome, RunId};
use crate::reading::enclosing_runs;
use crate::reading::is_alive;
use crate::registry::{ClaimedTask, Row};
use crate::runs::{ReadError, RunDir};
use crate::supervisor::leave_groups;

/// Recovers what died, then starts what waits while there is room.
pub(crate) fn pump(context: &mut Context) -> Result<(), TaskError> {
    if let Some(starter) = enclosing_runs::queue_starter(context) {
        recover::recover(context)?;
        control::send(&context.dir(&starter), &control::Message::Pump);
        return Ok(());
    }
    // We may be left over from a run that was killed and is about to be swept.
    leave_groups();
    run(context, Attachment::Detached).map(|_| ())
}

/// Whether somebody has to [`pump`]: a run among `working`, which is all that
/// work, has died, or there is room for one that waits.
pub(crate) fn is_due(context: &mut Context, working: &[RunDir]) -> Result<bool, TaskError> {
    let dead = working.iter().any(|dir| !is_alive(dir));
    let waits = !context.registry.pending(1)?.is_empty();
    if dead || waits {
        // It may be a long time since we looked.
        context.refresh();
    }
    Ok(dead || (waits && context.registry.can_claim(context.config.max_concurrent)?))
}

/// The directories of all runs that work.
pub(crate) fn working(context: &Context) -> Result<Vec<RunDir>, TaskError> {
    Ok(context.registry.working()?.iter().map(|row| context.dir(&row.run_id)).collect())
}

/// A supervisor that was started.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) pid: i32,
    /// The runs around the one it supervises.
    pub(crate) within: Vec<RunId>,
}

/// As [`pump`], for the supervisor of `own` while its run goes on: what it
/// starts stays its child.
pub(crate) fn pump_in(context: &mut Context, own: &RunId) -> Result<Vec<Launched>, TaskError> {
    // One above us, which started us for the queue, goes on: what we leave
    // behind would come to it and end with its run.
    match enclosing_runs::queue_starter(context).filter(|starter| starter != own) {
        Some(starter) => {
            control::send(&context.dir(&starter), &control::Message::Pump);
            Ok(Vec::new())
        }
        None => run(context, Attachment::Child),
    }
}

/// Recovers, claims, launches.
fn run(context: &mut Context, ties: Attachment) -> Result<Vec<Launched>, TaskError> {
    let mut started = Vec::new();
    let mut refused = HashSet::new();
    recover::recover(context)?;
    pending_dirs::sweep(context)?;
    started.extend(reattach::reattach(context, ties)?);
    loop {
        let home = context.home.clone();
        let limit = context.config.max_concurrent;
        let claimed = context.registry.claim(limit, clock::now(), |row| {
            let dir = RunDir::at(home.run(&row.run_id));
            // A lock that is held is one being cancelled; a sealed run waits
            // for its row to be finished; neither may start.
            let lock = Lock::take(&dir.lock()).ok().flatten()?;
            let unsealed = matches!(dir.read_result(), Ok(None) | Err(ReadError::Damaged { .. }));
            (unsealed && !refused.contains(&row.id)).then_some(lock)
        })?;
        let Some(ClaimedTask { row, lock }) = claimed else { return Ok(started) };
        let dir = context.dir(&row.run_id);
        if row.attempt > recover::MOST_ATTEMPTS {
            recover::give_up(context, &row, &dir)?;
            continue;
        }
        let request = match dir.read_result().and_then(|_| dir.read_request()) {
            Err(error @ ReadError::Damaged { .. }) => {
                fail(context, &row, &dir, &error)?;
                continue;
            }
            read => read.ok().flatten(),
        };
        if let Some(original) = recover::original(context, request.as_ref()) {
            recover::leave_to(context, &row, &dir, None, &original)?;
            continue;
        }
        let within = request.map(|request| request.within).unwrap_or_default();
        if let Some(outer) = enclosing_runs::ended(&dir, &within) {
            recover::cancel_waiting(context, &row, Some(enclosing_runs::reason(outer)))?;
            continue;
        }
        match launch(context, &row.run_id, &within, lock, row.attempt, ties) {
            Ok(pid) => started.extend(pid.map(|pid| Launched { pid, within })),
            // One that cannot be started now must not hold up the others, nor
            // whoever only wanted to look.
            Err(_) => {
                context.registry.return_to_queue(&row, clock::now())?;
                refused.insert(row.id);
            }
        }
    }
}

/// Ends a claimed task whose files somebody has spoiled. Its lock is ours.
fn fail(context: &mut Context, row: &Row, dir: &RunDir, error: &ReadError) -> Result<(), TaskError> {
    let fault = Fault::new(FailureCode::Storage, one_line(error)).hint("start the task again");
    let result = recover::bare(row, Outcome::Failed { fault }, clock::now());
    dir.seal(&result).map_err(TaskError::write(dir.result()))?;
    recover::finish(context, &result)?;
    Ok(())
}

/// Starts the supervisor of a claimed run and hands it the lock.
pub(crate) fn launch(
    context: &Context,
    run: &RunId,
    within: &[RunId],
    lock: Lock,
    attempt: u32,
    ties: Attachment,
) -> io::Result<Option<i32>> {
    let mut environment = context.env.scrubbed();
    if !within.is_empty() {
        // With its own name at the end, which tells it from what the agent of
        // the run around it has started.
        let marks = enclosing_runs::run_markers(&context.dir(run), within, run);
        environment.extend(marks.map(|(name, value)| (OsString::from(name), value.into())));
    }
    spawn::spawn_supervisor(&context.home.run(run), &lock, attempt, environment, ties)
}
