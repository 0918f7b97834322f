//! Finds what died without saying so, and ends it honestly.
//!
//! Liveness is the run's lock and nothing else. Taking the free lock is what
//! lets exactly one process recover a run; the row is fenced by attempt.

use crate::host::clock;
use crate::host::lock::{self, Lock};
use crate::model::{FailureCode, Fault, Outcome, RunResult, State, Timestamp};
use crate::registry::Row;
use crate::runs::{RunDir, Started};
use crate::supervisor::sweep_marked;
use crate::tasks::{Context, TaskError};

/// A task that was claimed this often without its agent being started will not
/// fare better the next time.
const MOST_ATTEMPTS: u32 = 20;

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
            Ok(None) if !dir.path().exists() => {
                context.registry.finish_without_directory(&row, clock::now())?;
            }
            Ok(None) | Err(_) => {}
        }
    }
    Ok(())
}

fn recover_one(context: &mut Context, row: &Row, dir: &RunDir) -> Result<(), TaskError> {
    if !dir.path().exists() {
        context.registry.finish_without_directory(row, clock::now())?;
        return Ok(());
    }
    // Somebody else may be at it.
    let Some(held) = Lock::take(&dir.lock()).map_err(TaskError::write(dir.path()))? else { return Ok(()) };
    let still = context.registry.task(&row.id)?;
    if still
        .is_none_or(|now| now.attempt != row.attempt || now.state.is_final() || now.state == State::Pending)
    {
        return Ok(());
    }
    if let Some(result) = dir.read_result()? {
        finish(context, &result)?;
        return Ok(());
    }
    match dir.read_started()? {
        None if row.attempt < MOST_ATTEMPTS => {
            context.registry.put_back(row, clock::now())?;
        }
        None => {
            let message = format!(
                "it was claimed {MOST_ATTEMPTS} times, and whoever claimed it died before the agent was started"
            );
            seal(context, row, dir, None, Fault::new(FailureCode::Internal, message), 0)?;
        }
        Some(started) => {
            let ended = sweep_marked(row.run_id.as_str(), started.cgroup.as_ref());
            let fault = Fault::new(
                FailureCode::Lost,
                "the run's supervisor died; how far the agent came is not known",
            )
            .hint("what it wrote is kept; resume the thread or start the task again");
            seal(context, row, dir, Some(&started), fault, ended)?;
        }
    }
    drop(held);
    Ok(())
}

fn seal(
    context: &mut Context,
    row: &Row,
    dir: &RunDir,
    started: Option<&Started>,
    fault: Fault,
    processes_ended: u32,
) -> Result<(), TaskError> {
    let now = clock::now();
    let started_at = started.map(|started| started.started_at);
    let thread = std::fs::read(dir.file("thread.json")).ok();
    let thread = thread.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let length = |path| std::fs::metadata(path).map_or(0, |found| found.len());
    let stream = |bytes| crate::model::Streams { bytes, ..Default::default() };
    let result = RunResult {
        started_at,
        duration_ms: started_at.map_or(0, |at| now.millis_since(at)),
        thread_id: thread.and_then(|json| Some(json.get("thread_id")?.as_str()?.to_owned())),
        progress: dir.read_progress(),
        processes_ended,
        stdout: stream(length(dir.events()) + length(dir.stdout())),
        stderr: stream(length(dir.stderr())),
        ..bare(row, Outcome::Failed { fault }, now)
    };
    dir.seal(&result).map_err(TaskError::write(dir.result()))?;
    finish(context, &result)?;
    Ok(())
}

/// The record of a run whose agent is not known to have done anything.
pub(super) fn bare(row: &Row, outcome: Outcome, now: Timestamp) -> RunResult {
    RunResult::bare(row.id.clone(), row.run_id.clone(), row.attempt, outcome, now)
}

/// Finishes the row from a sealed record. Values that nobody will need any
/// more go first: whoever seals a run may die before it comes to that.
pub(super) fn finish(context: &mut Context, result: &RunResult) -> Result<bool, TaskError> {
    let dir = context.dir(&result.run_id);
    dir.forget_env().map_err(TaskError::write(dir.env()))?;
    let age = i64::try_from(context.config.retention_age().as_millis()).unwrap_or(i64::MAX);
    let keep_until = Timestamp::from_millis(result.finished_at.as_millis().saturating_add(age));
    Ok(context.registry.finish(result, keep_until)?)
}
