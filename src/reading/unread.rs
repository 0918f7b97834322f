//! Lists results that nobody has fetched, so that a client that lost its context finds its work again.

use crate::context::{Context, TaskError};
use crate::model::TaskId;
use crate::registry::Row;

/// Unread results are counted up to this number.
pub(crate) const MAX_UNREAD_COUNTED: u32 = 100;

/// The finished tasks of the caller's project that are still unread, newest first, at most `most`, and how
/// many there are, counted up to [`MAX_UNREAD_COUNTED`]. Leaves out the tasks in `but`, whose results are about to be
/// handed out.
pub(crate) fn unread(context: &Context, but: &[TaskId], most: u32) -> Result<(Vec<Row>, u32), TaskError> {
    let (root, registry) = (context.project(), &context.registry);
    let project = root.to_string_lossy();
    let mut left_out = 0;
    for id in but {
        let is_one = |row: &Row| row.unread && row.project == root;
        left_out += u32::from(registry.task(id)?.as_ref().is_some_and(is_one));
    }
    let mut rows = registry.unread(&project, most + left_out)?;
    rows.retain(|row| !but.contains(&row.id));
    rows.truncate(most as usize);
    Ok((rows, registry.count_unread(&project, MAX_UNREAD_COUNTED + left_out)?.saturating_sub(left_out)))
}
