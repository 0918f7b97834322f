//! Marks results as read, once they were handed out.

use crate::context::{Context, TaskError};
use crate::model::TaskId;

/// Marks the results of these tasks as read.
pub(crate) fn mark_read(context: &mut Context, ids: &[TaskId]) -> Result<(), TaskError> {
    Ok(context.registry.mark_read(ids)?)
}
