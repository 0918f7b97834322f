//! Reads everything known about one task, after moving the queue.

use crate::context::{Context, TaskError};
use crate::execution::pump;
use crate::reading::{Results, ResultsRequest, find, gather};
use crate::tasks::view_task;

/// The task that `reference` means, as it is now.
pub(crate) fn results(
    context: &mut Context,
    reference: &str,
    ask: ResultsRequest,
) -> Result<Results, TaskError> {
    pump(context)?;
    let row = find(context, reference)?;
    Ok(gather(view_task(context, row)?, ask))
}
