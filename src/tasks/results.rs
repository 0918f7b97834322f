//! Reads everything there is to know about one task, once the queue has moved.

use crate::context::{Context, TaskError};
use crate::execution::pump;
use crate::reading::{ResultAsk, Results, find, gather};
use crate::tasks::look;

/// The task that `reference` means, as it is now.
pub(crate) fn results(context: &mut Context, reference: &str, ask: ResultAsk) -> Result<Results, TaskError> {
    pump(context)?;
    let row = find(context, reference)?;
    Ok(gather(look(context, row)?, ask))
}
