//! Drives one run from claim to end: what `delegator supervise` does.
//!
//! The order at the end is sweep, seal, release the lock, row, pump. SQLite is not opened before the run is
//! sealed, except by a coordinator, and to move the queue for a run inside this one.

use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use crate::context::{Context, TaskError};
use crate::execution::control::{self, Listener, Message};
use crate::execution::inner_runs::InnerRuns;
use crate::execution::work::{Coordinate, Work};
use crate::execution::{attached, child, hosted, pump, recover, run_durations};
use crate::host::Env;
use crate::host::{clock, spawn};
use crate::model::{FailureCode, Fault, Outcome, Request, RunResult};
use crate::runs::RunDir;

/// A `result.json` that an agent or someone else wrote in place of ours.
const PLANTED: &str =
    "a `result.json` existed before the run ended; it was moved to `result.json.foreign` and ignored";

/// Supervises the run in `dir`, whose lock was inherited as `descriptor`. Returns what it opened for the end
/// of the run.
pub(crate) fn supervise(
    env: Env,
    dir: PathBuf,
    descriptor: RawFd,
    attempt: u32,
    coordinate: Coordinate,
) -> Result<Option<Context>, TaskError> {
    spawn::set_process_name();
    spawn::ignore_termination_signals();
    let lock = spawn::inherited_lock(descriptor).map_err(TaskError::write(&dir))?;
    let dir = RunDir::at(dir);
    let Some(request) = dir.read_request()? else { return Ok(None) };
    let is_taken_over = request.work.can_reattach() && dir.started().exists();
    let mut result = run(&env, &dir, &request, attempt, coordinate);
    if let (true, None, Outcome::Failed { fault }) = (is_taken_over, result.started_at, &result.outcome) {
        // We could not begin, but the work goes on without us. It stays open for another supervisor.
        dir.log_problem(&fault.message);
        return Ok(None);
    }
    // Nobody else seals while we hold the lock, so a record that exists is not genuine.
    if dir.reject_result().map_err(TaskError::write(dir.result()))? {
        result.warnings.push(PLANTED.to_owned());
    }
    dir.seal(&result).map_err(TaskError::write(dir.result()))?;
    // From now on everybody may believe the record, even if the registry is locked and the row has to wait.
    drop(lock);
    let mut context = Context::open(env)?;
    // Whoever sees this run's end in the registry sees theirs, too.
    let inside = InnerRuns::of(&dir, &request.run_id, request.within.len()).finish(&mut context);
    recover::finish(&mut context, &result)?;
    inside?;
    if let Some(parent) =
        request.job_of.as_ref().map(|parent| context.registry.task(parent)).transpose()?.flatten()
    {
        // The coordinator also polls; this is faster.
        control::send(&context.dir(&parent.run_id), &Message::Pump);
    }
    pump(&mut context)?;
    if result.outcome == Outcome::Completed {
        run_durations::write(&context, &dir, &request);
    }
    Ok(Some(context))
}

/// Logs an error that the supervisor of the run in `dir` has, or dies of.
pub(crate) fn log_problem(dir: &Path, text: &str) {
    RunDir::at(dir.to_owned()).log_problem(text);
}

/// Does the run's work. Always returns a record.
fn run(env: &Env, dir: &RunDir, request: &Request, attempt: u32, coordinate: Coordinate) -> RunResult {
    let mut listener = Listener::open(dir, &request.within);
    match Work::of(request, coordinate) {
        Work::Child(agent) => child::run(env, dir, request, attempt, agent, &mut listener),
        Work::Hosted(agent) => hosted::run(env, dir, request, attempt, agent, &mut listener),
        Work::Coordinator(coordinate) => attached::begin(dir, attempt, None)
            .map_err(|error| storage(&error))
            .and_then(|started| coordinate(env, dir, request, &started, &mut listener))
            .unwrap_or_else(|fault| bare(request, attempt, Outcome::Failed { fault })),
    }
}

pub(super) fn storage(error: &io::Error) -> Fault {
    Fault::new(FailureCode::Storage, format!("failed to write the run directory: {error}"))
        .hint("free some space, then start the task again; `delegator cleanup` removes old runs")
}

pub(super) fn not_started(program: &Path, error: &io::Error) -> Fault {
    Fault::new(FailureCode::Spawn, format!("failed to start `{}`: {error}", program.display()))
        .hint("`delegator doctor` shows which agents can run")
}

pub(super) fn bare(request: &Request, attempt: u32, outcome: Outcome) -> RunResult {
    RunResult::bare(request.task_id.clone(), request.run_id.clone(), attempt, outcome, clock::now())
}
