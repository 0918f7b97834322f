//! Finds what died without saying so, and ends it honestly.
//!
//! Liveness is the run's lock and nothing else. Taking the free lock is what
//! lets exactly one process recover a run; the row is fenced by attempt.

use std::path::{Path, PathBuf};

use crate::agents::Verdict;
use crate::context::{Context, TaskError};
use crate::evidence::Evidence;
use crate::execution::inner_runs::InnerRuns;
use crate::execution::observe::Watch;
use crate::host::clock;
use crate::host::{Lock, lock};
use crate::ledger::{RecoveredRun, complete_ledger};
use crate::model::{FailureCode, Fault, Outcome, Progress, Request, RunResult, State, Stdout, Timestamp};
use crate::reading::is_alive;
use crate::registry::Row;
use crate::runs::{ReadError, RunDir, StartRecord};
use crate::supervisor::{RunMark, join_segments, sweep_dead_run};

/// How often a task is claimed before it is given up because its agent was never started.
pub(crate) const MOST_STARTS: u32 = 20;

/// Recovers every working task whose lock is free, and every waiting one that
/// is sealed already.
pub(crate) fn recover(context: &mut Context) -> Result<(), TaskError> {
    for row in context.registry.working()? {
        let dir = context.dir(&row.run_id);
        if !lock::is_held(&dir.lock()).unwrap_or(true) {
            // One that cannot be recovered now, on a full disk say, must not
            // keep the others from it; the next look tries again.
            if let Err(error @ TaskError::Registry(_)) = recover_one(context, &row, &dir) {
                return Err(error);
            }
        }
    }
    for row in context.registry.pending(64)? {
        let dir = context.dir(&row.run_id);
        match dir.read_result() {
            Ok(Some(result)) => drop(finish(context, &result)?),
            Ok(None) if is_gone(&dir) => drop(context.registry.finish_without_directory(&row, clock::now())?),
            Ok(None) | Err(_) => {}
        }
    }
    Ok(())
}

/// Whether the run directory, or the request in it, was deleted. Only "not found"
/// counts: a disk that does not answer for a moment has lost nothing.
fn is_gone(dir: &RunDir) -> bool {
    dir.request().try_exists().is_ok_and(|exists| !exists)
}

/// Recovers one open task whose lock is free, or whose directory is gone.
pub(crate) fn recover_one(context: &mut Context, row: &Row, dir: &RunDir) -> Result<(), TaskError> {
    if is_gone(dir) {
        // Its processes may still be there; its supervisor can have sealed it.
        sweep_dead_run(&mark(context, row), None);
        match dir.read_result() {
            Ok(Some(result)) => finish(context, &result)?,
            Ok(None) | Err(_) => context.registry.finish_without_directory(row, clock::now())?,
        };
        return Ok(());
    }
    // Another process may be recovering it.
    let Some(held) = Lock::take(&dir.lock()).map_err(TaskError::write(dir.path()))? else { return Ok(()) };
    let still = context.registry.task(&row.id)?;
    let moved_on =
        |now: Row| now.attempt != row.attempt || now.state.is_final() || now.state == State::Pending;
    if still.is_none_or(moved_on) {
        return Ok(());
    }
    match dir.read_result() {
        Ok(Some(result)) => {
            // Readers believe a sealed record only while nobody holds the run, and the registry may be locked for
            // long. The row needs no lock of the run.
            drop(held);
            finish(context, &result)?;
            return Ok(());
        }
        Ok(None) => {}
        Err(ReadError::Damaged { path, .. }) => {
            let aside = path.with_extension("json.damaged");
            std::fs::rename(&path, &aside).map_err(TaskError::write(&path))?;
        }
        Err(error) => return Err(error.into()),
    }
    let request = dir.read_request().ok().flatten();
    if let Some(original) = original(context, request.as_ref()) {
        return cancel_copy(context, row, dir, dir.read_started().ok().flatten().as_ref(), &original);
    }
    if dir.started().exists() && request.is_some_and(|request| request.work.can_reattach()) {
        // The next move of the queue gives it a new supervisor.
        return Ok(());
    }
    let started = match dir.read_started() {
        Ok(started) => started,
        // It had started; when and how is not known any more.
        Err(ReadError::Damaged { .. }) => {
            return seal_as_lost(context, row, dir, None, supervisor_died(row));
        }
        Err(error) => return Err(error.into()),
    };
    if started.is_some() {
        return seal_as_lost(context, row, dir, started.as_ref(), supervisor_died(row));
    }
    // A question that was put to the program may still be running.
    sweep_dead_run(&mark(context, row), None);
    if row.attempt < MOST_STARTS {
        context.registry.return_to_queue(row, clock::now())?;
    } else {
        give_up(context, row, dir)?;
    }
    drop(held);
    Ok(())
}

/// Finishes the row of a run that is sealed and held by nobody, unless the registry is locked. Returns the row as it
/// is now.
pub(crate) fn finish_sealed(context: &mut Context, row: Row) -> Result<Row, TaskError> {
    let dir = context.dir(&row.run_id);
    if row.state.is_final() || is_alive(&dir) {
        return Ok(row);
    }
    let Ok(Some(result)) = dir.read_result() else { return Ok(row) };
    let written = context.unless_busy(|context| finish(context, &result))?;
    let now = if written.is_some() { context.registry.task(&row.id)? } else { None };
    Ok(now.unwrap_or(row))
}

/// Cancels a task that was not started. The caller holds its lock.
pub(crate) fn cancel_waiting(
    context: &mut Context,
    row: &Row,
    reason: Option<String>,
) -> Result<(), TaskError> {
    let dir = context.dir(&row.run_id);
    seal_and_finish(context, &dir, &bare(row, Outcome::Cancelled { reason }, clock::now()))
}

/// The home that the task belongs to, where ours is a copy of that.
pub(crate) fn original(context: &Context, request: Option<&Request>) -> Option<PathBuf> {
    context.home.copied_from(request?.home.as_ref()?)
}

/// Ends our copy of a task of `original`. It may run there: nothing of it is
/// started, and nothing of it is ended. The caller holds its lock.
pub(crate) fn cancel_copy(
    context: &mut Context,
    row: &Row,
    dir: &RunDir,
    started: Option<&StartRecord>,
    original: &Path,
) -> Result<(), TaskError> {
    let reason = format!(
        "this home is a copy of `{0}`, and the task was left to that one: `DELEGATOR_HOME={0} delegator status {1}`",
        original.display(),
        row.id
    );
    let outcome = Outcome::Cancelled { reason: Some(reason) };
    seal(context, dir, started, bare(row, outcome, clock::now()))
}

/// What the processes of a run of ours carry.
pub(crate) fn mark(context: &Context, row: &Row) -> RunMark {
    RunMark::of(&row.run_id, Some(context.home.id()))
}

/// Ends a task that cannot be started. The caller holds its lock.
pub(crate) fn give_up(context: &mut Context, row: &Row, dir: &RunDir) -> Result<(), TaskError> {
    let message = format!("it was claimed {} times, and its agent was never started", row.attempt);
    let fault = Fault::new(FailureCode::Internal, message);
    seal(context, dir, None, bare(row, Outcome::Failed { fault }, clock::now()))
}

fn supervisor_died(row: &Row) -> Fault {
    let again = match row.agent.abilities().resumes {
        true => "resume the thread or start the task again",
        false => "start the task again",
    };
    Fault::new(FailureCode::Lost, "the run's supervisor died; how far the agent came is not known")
        .hint(format!("what it wrote is kept; {again}"))
}

/// Ends a run whose supervisor is gone. The caller holds its lock.
pub(crate) fn seal_as_lost(
    context: &mut Context,
    row: &Row,
    dir: &RunDir,
    started: Option<&StartRecord>,
    fault: Fault,
) -> Result<(), TaskError> {
    let request = dir.read_request().ok().flatten();
    let around = request.as_ref().map_or(0, |request| request.within.len());
    let mut inner = InnerRuns::of(dir, &row.run_id, around);
    inner.end();
    let ended = sweep_dead_run(&mark(context, row), started.and_then(|started| started.cgroup.as_deref()));
    for (path, kind) in
        [(dir.events(), Stdout::Events), (dir.stdout(), Stdout::Text), (dir.stderr(), Stdout::Text)]
    {
        // What cannot be put together stays in its pieces.
        let _ = join_segments(&path, |dropped| crate::ledger::cut_line(kind, dropped));
    }
    let lost = bare(row, Outcome::Failed { fault }, clock::now());
    let mut result = RunResult { processes_ended: ended, ..lost };
    if let Some(request) = request {
        account_for(context, dir, &request, &mut result);
    }
    seal(context, dir, started, result)?;
    inner.finish(context)
}

/// Makes the evidence that the supervisor did not come to, and notes what else
/// the agent had told.
fn account_for(context: &Context, dir: &RunDir, request: &Request, result: &mut RunResult) {
    let Some(RecoveredRun { told, progress, verdict }) = complete_ledger(dir, request) else { return };
    // What its supervisor saw with its own eyes is better than what we can.
    let there = matches!(Evidence::read(&dir.evidence()), Ok(Some(_)));
    // Trouble with it costs the evidence, never the end of the run.
    result.evidence =
        there || Watch::resume(&context.env, dir, request).end(request, told, &result.outcome).is_ok();
    result.progress = progress;
    let Verdict { thread_id, model, usage, usage_total, warnings, .. } = verdict;
    result.thread_id = thread_id;
    result.model = model;
    result.usage = usage;
    result.usage_total = usage_total;
    result.warnings = warnings;
}

fn seal(
    context: &mut Context,
    dir: &RunDir,
    started: Option<&StartRecord>,
    result: RunResult,
) -> Result<(), TaskError> {
    let started_at = started.map(|started| started.started_at);
    let length = |path| std::fs::metadata(path).map_or(0, |found| found.len());
    let stream = |bytes| crate::model::StreamTotals { bytes, ..Default::default() };
    let written = dir.read_progress();
    let events = |progress: &Option<Progress>| progress.as_ref().map(|progress| progress.counters.events);
    // Of a stream beyond its limit, the supervisor had counted what is no longer there.
    let progress = if events(&written) > events(&result.progress) { written } else { result.progress };
    let result = RunResult {
        started_at,
        duration_ms: started_at.map_or(0, |at| result.finished_at.millis_since(at)),
        thread_id: dir.read_thread().or(result.thread_id),
        // When it might have ended is of no interest any more.
        progress: progress.map(|progress| Progress { eta: None, question: None, ..progress }),
        stdout: stream(length(dir.events()) + length(dir.stdout())),
        stderr: stream(length(dir.stderr())),
        ..result
    };
    seal_and_finish(context, dir, &result)
}

/// Seals a run and finishes its row from the sealed record. A record that was
/// sealed before stays.
fn seal_and_finish(context: &mut Context, dir: &RunDir, result: &RunResult) -> Result<(), TaskError> {
    dir.seal(result).map_err(TaskError::write(dir.result()))?;
    if let Some(sealed) = dir.read_result()? {
        finish(context, &sealed)?;
    }
    Ok(())
}

/// The record of a run whose agent is not known to have done anything.
pub(crate) fn bare(row: &Row, outcome: Outcome, now: Timestamp) -> RunResult {
    RunResult::bare(row.id.clone(), row.run_id.clone(), row.attempt, outcome, now)
}

/// Finishes the row from a sealed record. Values that nobody will need any
/// more go first: whoever seals a run may die before it comes to that.
pub(crate) fn finish(context: &mut Context, result: &RunResult) -> Result<bool, TaskError> {
    let dir = context.dir(&result.run_id);
    dir.delete_env().map_err(TaskError::write(dir.env()))?;
    // A sealed run is claimed by nobody: the attempt that we read is the last.
    match context.registry.task(&result.task_id)? {
        Some(row) => Ok(context.registry.finish(result, row.attempt)?),
        None => Ok(false),
    }
}
