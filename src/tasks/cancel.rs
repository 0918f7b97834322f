//! Cancels a task and everything it started, and confirms only once that is done.

use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::execution::{ask_to_cancel, pump};
use crate::host::clock;
use crate::model::{Remote, State, TaskId};
use crate::reading::{View, find, reaches_into, stopped_supervisor};
use crate::tasks::{NextObservation, Until, view_task, wait};

/// How often to check a supervisor that does not end its run. A stopped one is continued each time.
const URGE: Duration = Duration::from_millis(100);
/// After this long, a supervisor that is stopped again and again is killed and its run recovered.
const GIVE_UP: Duration = Duration::from_secs(5);

/// How long to wait before answering "asked" instead of "done".
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct Cancelled {
    pub(crate) view: View,
    pub(crate) previous_state: State,
    /// The task was already final.
    pub(crate) was_final: bool,
    /// It was told to end but has not ended yet.
    pub(crate) still_ending: bool,
    /// Its work at a service, which nobody can end from here.
    pub(crate) goes_on: Option<Remote>,
}

/// Like [`cancel`], but refuses to stop following a job that a service goes on with. Only those who wait for it stop.
pub(crate) fn cancel_unless_submitted(
    context: &mut Context,
    reference: &str,
    reason: Option<&str>,
) -> Result<Cancelled, TaskError> {
    let row = find(context, reference)?;
    let dir = context.dir(&row.run_id);
    let remote = dir.read_remote().ok().flatten();
    match remote {
        Some(remote) if !view_task(context, row.clone())?.state().is_final() => {
            dir.write_detached(clock::now()).map_err(TaskError::write(dir.detached()))?;
            let page = match remote {
                Remote::Submitted { job } => Some(job.page().to_owned()),
                Remote::Submitting { .. } => None,
            };
            Err(TaskError::NoRemoteCancel { task: row.id, page })
        }
        Some(_) | None => cancel(context, reference, reason),
    }
}

/// Cancels the task that `reference` means. A finished task stays as it is.
pub(crate) fn cancel(
    context: &mut Context,
    reference: &str,
    reason: Option<&str>,
) -> Result<Cancelled, TaskError> {
    let row = find(context, reference)?;
    // An alias is easily used twice, and nothing undoes a cancellation.
    if let Some(project) = reaches_into(context, reference)? {
        return Err(TaskError::OtherProject { reference: reference.to_owned(), project, task: row.id });
    }
    let before = view_task(context, row)?;
    let previous_state = before.state();
    if previous_state.is_final() {
        let goes_on = None;
        return Ok(Cancelled { view: before, previous_state, was_final: true, still_ending: false, goes_on });
    }
    let id = before.row.id.clone();
    ask_to_cancel(context, &before.row, reason)?;
    pump(context)?;
    let give_up = clock::monotonic() + GIVE_UP;
    let mut urge = |views: &[View]| {
        match views.first().and_then(|view| stopped_supervisor::find(&view.dir)) {
            Some(stopped) if clock::monotonic() >= give_up => stopped.kill(),
            Some(stopped) => stopped.resume(),
            None => {}
        }
        NextObservation::Within(URGE)
    };
    let waited = wait(context, std::slice::from_ref(&id), Until::AllEnded, Some(PATIENCE), &mut urge)?;
    let view = one(waited.views, &id)?;
    let stopped = view.state() == State::Cancelled || waited.exceeded;
    let goes_on = view.dir.read_remote().ok().flatten().filter(|_| stopped);
    Ok(Cancelled { still_ending: waited.exceeded, view, previous_state, was_final: false, goes_on })
}

fn one(views: Vec<View>, id: &TaskId) -> Result<View, TaskError> {
    views.into_iter().next().ok_or_else(|| TaskError::NotFound(id.to_string()))
}
