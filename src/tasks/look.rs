//! Looks at one task, and first finishes the row of a run whose supervisor sealed it and died before it could.

use crate::context::{Context, TaskError};
use crate::execution::recover;
use crate::reading::{View, view};
use crate::registry::Row;

/// Where nobody can write the row at the moment, the task is shown as its directory says.
pub(crate) fn look(context: &mut Context, row: Row) -> Result<View, TaskError> {
    let row = recover::finish_sealed(context, row)?;
    Ok(view(context, row))
}
