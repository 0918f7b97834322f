//! Results that nobody has fetched: how a client that lost its context finds
//! its work again.

use crate::model::TaskId;
use crate::registry::Row;
use crate::tasks::{Context, TaskError};

/// Nobody reads more than this one by one: counting goes no further.
pub(crate) const MANY: u32 = 100;

/// The finished tasks of the caller's project that are still unread, newest
/// first, `most` at most, and how many there are, up to [`MANY`].
pub(crate) fn unread(context: &Context, most: u32) -> Result<(Vec<Row>, u32), TaskError> {
    let project = context.project();
    let project = project.to_string_lossy();
    Ok((context.registry.unread(&project, most)?, context.registry.count_unread(&project, MANY)?))
}

/// The results of these tasks were handed out.
pub(crate) fn mark_read(context: &mut Context, ids: &[TaskId]) -> Result<(), TaskError> {
    Ok(context.registry.mark_read(ids)?)
}
