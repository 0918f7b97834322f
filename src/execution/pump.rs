//! Moves the queue. Any process may do it at any time, and all do: there is no leader whose death could stall
//! it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;

use crate::context::{Context, TaskError, one_line};
use crate::execution::{control, pending_dirs, reattach, recover};
use crate::host::Lock;
use crate::host::clock;
use crate::host::{Attachment, spawn};
use crate::model::{FailureCode, Fault, Outcome, RunId, State, TaskId};
use crate::reading::enclosing_runs;
use crate::reading::is_alive;
use crate::registry::{ClaimedTask, Row};
use crate::runs::{ReadError, RunDir};
use crate::supervisor::leave_groups;

/// Recovers runs whose supervisor died, then starts queued tasks while there are free slots.
pub(crate) fn pump(context: &mut Context) -> Result<(), TaskError> {
    if let Some(starter) = enclosing_runs::queue_starter(context) {
        recover::recover(context)?;
        control::send(&context.dir(&starter), &control::Message::Pump);
        return Ok(());
    }
    // We may be left over from a killed run and about to be swept.
    leave_groups();
    run(context, Attachment::Detached).map(|_| ())
}

/// Whether [`pump`] has work: one of the runs in `working`, which are all of them, has died, or there is a
/// free slot for a queued task.
pub(crate) fn is_due(context: &mut Context, working: &[RunDir]) -> Result<bool, TaskError> {
    let dead = working.iter().any(|dir| !is_alive(dir));
    let waits = !context.registry.pending(1)?.is_empty();
    if dead || waits {
        // Much time may have passed since the last check.
        context.refresh();
    }
    Ok(dead || (waits && context.registry.can_claim(context.config.slots())?))
}

/// The directories of all working runs.
pub(crate) fn working(context: &Context) -> Result<Vec<RunDir>, TaskError> {
    Ok(context.registry.working()?.iter().map(|row| context.dir(&row.run_id)).collect())
}

/// A supervisor that was started.
#[derive(Debug)]
pub(crate) struct Launched {
    pub(crate) pid: i32,
    /// The runs enclosing the one it supervises.
    pub(crate) within: Vec<RunId>,
}

/// Like [`pump`], for the supervisor of `own` during its run: supervisors that it starts stay its children.
pub(crate) fn pump_in(context: &mut Context, own: &RunId) -> Result<Vec<Launched>, TaskError> {
    // If an enclosing run started us for the queue, its supervisor must do it: our children would be
    // reparented to it and end with its run.
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
        let slots = context.config.slots();
        let claimed = context.registry.claim(slots, clock::now(), |row| {
            let dir = RunDir::at(home.run(&row.run_id));
            // A held lock means the task is being cancelled; a sealed run only needs its row finished.
            // Neither may start.
            let lock = Lock::take(&dir.lock()).ok().flatten()?;
            let unsealed = matches!(dir.read_result(), Ok(None) | Err(ReadError::Damaged { .. }));
            (unsealed && !refused.contains(&row.id)).then_some(lock)
        })?;
        let Some(ClaimedTask { row, lock }) = claimed else { return Ok(started) };
        let dir = context.dir(&row.run_id);
        if row.attempt > recover::MOST_STARTS {
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
            recover::cancel_copy(context, &row, &dir, None, &original)?;
            continue;
        }
        let after = request.as_ref().and_then(|request| request.after.clone());
        if let Some(reason) = after.map(|task| not_completed(context, &task)).transpose()?.flatten() {
            recover::cancel_waiting(context, &row, Some(reason))?;
            continue;
        }
        let within = request.map(|request| request.within).unwrap_or_default();
        if let Some(outer) = enclosing_runs::ended(&dir, &within) {
            recover::cancel_waiting(context, &row, Some(enclosing_runs::reason(outer)))?;
            continue;
        }
        match launch(context, &row.run_id, &within, lock, row.attempt, ties) {
            Ok(pid) => started.extend(pid.map(|pid| Launched { pid, within })),
            // A task that cannot start now must not block the others, or a process that only wants to read.
            Err(_) => {
                context.registry.return_to_queue(&row, clock::now())?;
                refused.insert(row.id);
            }
        }
    }
}

/// Why a task that was to start after `task` does not start.
fn not_completed(context: &Context, task: &TaskId) -> Result<Option<String>, TaskError> {
    Ok(match context.registry.task(task)?.map(|row| row.state) {
        Some(State::Completed) => None,
        Some(state) => Some(format!("{task}, which had to complete first, ended as {state}")),
        None => Some(format!("{task}, which had to complete first, is no longer known")),
    })
}

/// Fails a claimed task whose files are damaged. We hold its lock.
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
        // The run's name as last argument distinguishes it from processes that the enclosing run's agent
        // started.
        let marks = enclosing_runs::run_markers(&context.dir(run), within, run);
        environment.extend(marks.map(|(name, value)| (OsString::from(name), value.into())));
    }
    spawn::spawn_supervisor(&context.home.run(run), &lock, attempt, environment, ties)
}
