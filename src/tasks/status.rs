//! Says what is running, what waits, and what ended lately, once the queue has moved.

use std::path::PathBuf;

use crate::context::{Context, TaskError};
use crate::execution::pump;
use crate::reading::{Snapshot, find, snapshot};
use crate::tasks::look;

/// The tasks of `project`, or of all projects, with the `recent` last ended.
pub(crate) fn status(
    context: &mut Context,
    project: Option<PathBuf>,
    recent: u32,
) -> Result<Snapshot, TaskError> {
    pump(context)?;
    snapshot(context, project.as_deref(), recent)
}

/// The one task that `reference` means, wherever it is.
pub(crate) fn status_of(context: &mut Context, reference: &str) -> Result<Snapshot, TaskError> {
    let id = find(context, reference)?.id;
    let mut snapshot = status(context, None, 0)?;
    snapshot.everywhere = false;
    snapshot.running.retain(|view| view.row.id == id);
    snapshot.queued.retain(|(_, row)| row.id == id);
    if snapshot.running.is_empty() {
        let row = find(context, id.as_str())?;
        let view = look(context, row)?;
        snapshot.damaged.clone_from(&view.damaged);
        if snapshot.queued.is_empty() {
            snapshot.finished.push(view.row.clone());
            snapshot.only = Some(Box::new(view));
        }
    }
    Ok(snapshot)
}
