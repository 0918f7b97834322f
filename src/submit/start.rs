//! Starts a task: first makes it durable, then runs it, then answers.

use std::fs;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::execution::{Note, pending_dirs};
use crate::execution::{inner_runs, pump};
use crate::host::Attachment;
use crate::host::Lock;
use crate::host::disk;
use crate::model::{Request, Slot, Slots, State, TaskId};
use crate::reading::look_up;
use crate::registry::{SearchScope, Submission, Submitted, TaskMatch};
use crate::runs::RunDir;
use crate::submit::caller::Caller;
use crate::submit::resolve::resolve;
use crate::submit::start_request::StartRequest;

/// With less free space, not even the record of a failure is sure to fit.
const LEAST_FREE: u64 = 2 << 20;

/// A client that repeats a request within this time has lost the answer.
const SAME: Duration = Duration::from_secs(60);

/// What is certain once a task is accepted.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) task_id: TaskId,
    pub(crate) state: State,
    /// For a queued task: the task that has to end before it starts.
    pub(crate) waits_for: Option<TaskId>,
    /// The same request was accepted before.
    pub(crate) deduplicated: bool,
    /// The task is accepted, but something else went wrong.
    pub(crate) warnings: Vec<String>,
}

impl Accepted {
    pub(super) fn new(task_id: TaskId, state: State) -> Self {
        Self { task_id, state, waits_for: None, deduplicated: false, warnings: Vec::new() }
    }

    fn warned(mut self, warnings: impl Iterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

/// Accepts the task. When this returns, it survives any crash.
pub(crate) fn start(context: &mut Context, ask: StartRequest) -> Result<Accepted, TaskError> {
    let by_default = matches!(ask.caller, Caller::Client(_)) && ask.idempotency_key.is_none();
    let same_within = ask.dedupe.unwrap_or(by_default).then_some(SAME);
    let (request, environment) = resolve(context, ask)?;
    // A command may well be meant to run twice.
    let same_within = same_within.filter(|_| !request.agent.abilities().is_command_line());
    let taken = request.alias.as_deref().and_then(|alias| taken(context, alias));
    let free = disk::free_bytes(context.home.root()).unwrap_or(u64::MAX);
    if free < LEAST_FREE {
        return Err(TaskError::DiskFull { path: context.home.root().to_owned(), free });
    }
    let dir = context.dir(&request.run_id);
    let note =
        pending_dirs::note(context, &request.run_id).map_err(TaskError::write(context.home.unsettled()))?;
    let taken_in = prepare(&dir, &note, &request, &environment).and_then(|lock| {
        // Inside a run we start no supervisor: it would end with the agent.
        let slots = if request.within.is_empty() { context.config.slots() } else { Slots::NONE };
        Ok(context.registry.submit(Submission { request: &request, lock, slots, same_within })?)
    });
    let submitted = match taken_in {
        Ok(submitted) => submitted,
        Err(error) => {
            // A failed commit may have left its row in the log, where the next reader finds it. If that
            // cannot be ruled out, the note stays and whoever finds it clears this up.
            let is_settled = !matches!(error, TaskError::Registry(_))
                || context.registry.is_unknown_for_good(&request.run_id).is_ok_and(|unknown| unknown);
            let _ = fs::remove_dir_all(dir.path());
            if is_settled {
                note.settle();
            }
            return Err(error);
        }
    };
    if !matches!(submitted, Submitted::Claimed { .. } | Submitted::Queued) {
        let _ = fs::remove_dir_all(dir.path());
    }
    note.settle();
    let replaced = match &submitted {
        Submitted::Claimed { .. } | Submitted::Queued | Submitted::Existing(_) => {
            context.registry.take_replaced_notice()
        }
        // An error has no warnings: the notice waits for the next answer.
        Submitted::Conflict(_) | Submitted::Busy(_) => None,
    };
    let replaced = replaced.map(str::to_owned);
    let warnings = taken.into_iter().chain(elsewhere(context, &request)).chain(replaced.clone());
    match submitted {
        Submitted::Claimed { lock, attempt } => {
            let started =
                pump::launch(context, &request.run_id, &request.within, lock, attempt, Attachment::Detached);
            match started {
                Ok(_) => Ok(Accepted::new(request.task_id, State::Working).warned(warnings)),
                Err(_) => Ok(queued(context, &request).warned(warnings)),
            }
        }
        Submitted::Queued => Ok(queued(context, &request).warned(warnings)),
        Submitted::Existing(row) => {
            // The first submitter may have died before it forgot the note; the caller knows of the task now.
            pending_dirs::forget(context, &row.run_id);
            let accepted = Accepted { deduplicated: true, ..Accepted::new(row.id, row.state) };
            Ok(accepted.warned(replaced.into_iter()))
        }
        Submitted::Conflict(row) => {
            Err(TaskError::KeyConflict { key: request.idempotency_key.unwrap_or_default(), task: row.id })
        }
        Submitted::Busy(row) => {
            let thread = request.resume.map(|resume| resume.thread_id.to_string()).unwrap_or_default();
            Err(TaskError::ThreadBusy { thread, task: row.id })
        }
    }
}

/// A warning that the caller finds this task only by its id.
fn elsewhere(context: &Context, request: &Request) -> Option<String> {
    let is_hidden = context.scope == SearchScope::Project && request.project() != context.project();
    is_hidden.then(|| {
        let project = request.project().display();
        format!("this task belongs to the project `{project}`: from here, only its whole task_id finds it")
    })
}

/// A warning that an alias moves from an unfinished task to this one.
fn taken(context: &Context, alias: &str) -> Option<String> {
    let Ok(TaskMatch::One(row)) = look_up(context, alias) else { return None };
    let meant = row.alias.as_deref() == Some(alias) && !row.state.is_final();
    meant.then(|| {
        format!("alias `{alias}` was taken from {}, which is still running: use its id instead", row.id)
    })
}

/// The row is durable: if anything fails now, the next process starts it.
fn queued(context: &mut Context, request: &Request) -> Accepted {
    let id = request.task_id.clone();
    let pumped = move_queue(context, request).err();
    let pumped = pumped.map(|error| format!("it stays queued: {error}"));
    let row = context.registry.task(&id).ok().flatten();
    let state = row.as_ref().map_or(State::Pending, |row| row.state);
    let Slots { local, cloud } = context.config.slots();
    let never = match request.work.slot() {
        Some(Slot::Cloud) => {
            (cloud == 0).then_some("no cloud task starts while `max_cloud` is 0 in the configuration")
        }
        Some(Slot::Local) | None => {
            (local == 0).then_some("no task starts while `max_concurrent` is 0 in the configuration")
        }
    };
    Accepted {
        waits_for: row.and_then(|row| row.waits_for),
        warnings: pumped.into_iter().chain(never.map(str::to_owned)).collect(),
        ..Accepted::new(id, state)
    }
}

/// Skips the queue if no supervisor died and no slot is free, because moving it costs time in proportion to
/// its length. Inside a run, others start queued tasks.
fn move_queue(context: &mut Context, request: &Request) -> Result<(), TaskError> {
    let working = pump::working(context)?;
    if !request.within.is_empty() || pump::is_due(context, &working)? { pump(context) } else { Ok(()) }
}

/// Creates the directory and everything a later starter needs, under our lock.
fn prepare(
    dir: &RunDir,
    note: &Note,
    request: &Request,
    environment: &[(String, String)],
) -> Result<Lock, TaskError> {
    let failed = || TaskError::write(dir.path());
    dir.create().map_err(failed())?;
    let lock = note.also_at(&dir.lock()).map_err(failed())?;
    inner_runs::note(dir, request).map_err(failed())?;
    dir.write_env(environment).map_err(failed())?;
    dir.write_request(request).map_err(failed())?;
    lock.ok_or_else(|| failed()(std::io::ErrorKind::WouldBlock.into()))
}
