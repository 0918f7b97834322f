//! Asks for a task to be cancelled, without waiting until it has ended.

use crate::context::{Context, TaskError};
use crate::execution::{Message, control, recover};
use crate::host::Lock;
use crate::model::State;
use crate::registry::Row;

/// Takes a queued task out of the queue, or asks the supervisor of a working one to end it.
pub(crate) fn ask_to_cancel(context: &mut Context, row: &Row, reason: Option<&str>) -> Result<(), TaskError> {
    if row.state.is_final() || cancel_waiting(context, row, reason)? {
        return Ok(());
    }
    let dir = context.dir(&row.run_id);
    // The file is for a supervisor that does not listen yet.
    dir.write_cancel(reason).map_err(TaskError::write(dir.cancel()))?;
    control::send(&dir, &Message::Cancel { reason: reason.map(ToOwned::to_owned) });
    Ok(())
}

/// Cancels a queued task. Returns `false` if it is not queued, or is just being started.
fn cancel_waiting(context: &mut Context, row: &Row, reason: Option<&str>) -> Result<bool, TaskError> {
    let dir = context.dir(&row.run_id);
    if row.state != State::Pending {
        return Ok(false);
    }
    // Nobody can claim it while we hold its lock.
    let Some(_lock) = Lock::take(&dir.lock()).map_err(TaskError::write(dir.path()))? else {
        return Ok(false);
    };
    let Some(now) = context.registry.task(&row.id)?.filter(|now| now.state == State::Pending) else {
        return Ok(false);
    };
    recover::cancel_waiting(context, &now, reason.map(ToOwned::to_owned))?;
    Ok(true)
}
