//! Reads one task, after updating the row of a run whose supervisor sealed it and then died.

use crate::context::{Context, TaskError};
use crate::execution::recover;
use crate::reading::{View, view};
use crate::registry::Row;

/// If the row cannot be written now, the task is shown as its directory says.
pub(crate) fn view_task(context: &mut Context, row: Row) -> Result<View, TaskError> {
    let row = recover::finish_sealed(context, row)?;
    Ok(view(context, row))
}
