//! The tasks extension: the client polls a wait, so that its model is free until the result arrives.
//!
//! A wait has an id of its own. Cancelling it ends the wait, never the run.

use std::time::Duration;

use rmcp::model::{CreateTaskResult, DetailedTask, Task, TaskPayload, TaskStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::TaskError;
use crate::failure::Failure;
use crate::host::clock;
use crate::mcp::protocol::progress_notices;
use crate::mcp::protocol::tool_call::{Call, Reply, arguments, failure};
use crate::mcp::tools::{Format, Tool, Wait, find};
use crate::reading::View;
use crate::registry;
use crate::tasks;

const POLL: Duration = Duration::from_secs(2);

/// How a wait starts.
pub(crate) enum Begun {
    /// The answer is already available.
    Answered(Reply),
    Parked(CreateTaskResult),
}

/// Starts a wait for the tasks that `given` names.
pub(crate) fn begin(call: &mut Call, given: Map<String, Value>) -> Result<Begun, Failure> {
    let wait = arguments::<Wait>(call.tool, given)?.resolved(call)?;
    match wait.look(call, Duration::ZERO)? {
        Ok(reply) => Ok(Begun::Answered(reply)),
        Err(views) => {
            let request = serde_json::to_string(&wait).unwrap_or_default();
            let kept = tasks::store_wait(&mut call.context, request).map_err(|error| failure(&error))?;
            Ok(Begun::Parked(CreateTaskResult::new(task(&kept, TaskStatus::Working, Some(&views)))))
        }
    }
}

/// The state of the wait `id`; `None` if there is no such wait.
///
/// `finish` turns the reply into the result of the original call.
pub(crate) fn look(
    call: &mut Call,
    id: &str,
    finish: impl FnOnce(&Tool, Format, Result<Reply, Failure>) -> Map<String, Value>,
) -> Result<Option<DetailedTask>, Failure> {
    let Some(kept) = tasks::stored_wait(&call.context, id).map_err(|error| failure(&error))? else {
        return Ok(None);
    };
    if let Some(over) = over(&kept) {
        return Ok(Some(over));
    }
    let Ok(wait) = serde_json::from_str::<Wait>(&kept.request) else { return Ok(None) };
    call.tool = find(&wait.tool).unwrap_or(call.tool);
    let replied = match wait.look(call, waiting(&kept)) {
        Ok(Err(views)) => {
            let task = task(&kept, TaskStatus::Working, Some(&views));
            return Ok(Some(DetailedTask::new(task, TaskPayload::Working)));
        }
        Ok(Ok(reply)) => Ok(reply),
        // The task no longer exists: the original call would have reported that too.
        Err(failure) => Err(failure),
    };
    // Stored, because a run that goes on after the wait timed out would give another answer next time.
    let ended = Ended { ended_at: clock::now().to_string(), result: finish(call.tool, wait.format, replied) };
    let ended = serde_json::to_string(&ended).unwrap_or_default();
    let settled = tasks::answer_wait(&mut call.context, &kept, &ended).map_err(|error| failure(&error))?;
    Ok(settled.and_then(|settled| over(&settled)))
}

/// The stored answer of a wait.
#[derive(Serialize, Deserialize)]
struct Ended {
    ended_at: String,
    result: Map<String, Value>,
}

/// The state of a wait that has ended.
fn over(kept: &registry::Wait) -> Option<DetailedTask> {
    if kept.cancelled {
        return Some(DetailedTask::new(task(kept, TaskStatus::Cancelled, None), TaskPayload::Cancelled));
    }
    let Ended { ended_at, result } = serde_json::from_str(&kept.request).ok()?;
    let mut task = task(kept, TaskStatus::Completed, None);
    task.last_updated_at = ended_at;
    Some(DetailedTask::new(task, TaskPayload::Completed { result }))
}

/// Cancels the wait `id` unless it is already answered. `false` if there is no such wait.
pub(crate) fn give_up(call: &mut Call, id: &str) -> Result<bool, Failure> {
    let told = |error: TaskError| failure(&error);
    let Some(kept) = tasks::stored_wait(&call.context, id).map_err(told)? else { return Ok(false) };
    if over(&kept).is_some() {
        return Ok(true);
    }
    let over = serde_json::from_str::<Wait>(&kept.request).ok().map(|wait| wait.stands(call, waiting(&kept)));
    match over {
        Some(Ok((_, false))) => tasks::drop_wait(&mut call.context, id).map_err(told),
        Some(Ok((_, true)) | Err(_)) | None => Ok(true),
    }
}

/// How long the client has been waiting.
fn waiting(kept: &registry::Wait) -> Duration {
    Duration::from_millis(clock::now().millis_since(kept.created_at))
}

fn task(kept: &registry::Wait, status: TaskStatus, views: Option<&[View]>) -> Task {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let task = Task::new(&kept.id, status, kept.created_at.to_string(), clock::now().to_string())
        .with_ttl_ms(millis(tasks::WAITS_KEPT_FOR))
        .with_poll_interval_ms(millis(POLL));
    match views {
        Some(views) => task.with_status_message(progress_notices::line(views).1),
        None => task,
    }
}
