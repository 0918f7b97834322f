//! Lists what is running, queued and recently finished, after moving the queue.

use std::path::PathBuf;

use crate::context::{Context, TaskError};
use crate::execution::pump;
use crate::reading::{Snapshot, find, snapshot};
use crate::tasks::view_task;

/// The tasks of `project`, or of all projects, with the `recent` last finished.
pub(crate) fn status(
    context: &mut Context,
    project: Option<PathBuf>,
    recent: u32,
) -> Result<Snapshot, TaskError> {
    pump(context)?;
    snapshot(context, project.as_deref(), recent)
}

/// The one task that `reference` means, in any state.
pub(crate) fn status_of(context: &mut Context, reference: &str) -> Result<Snapshot, TaskError> {
    let id = find(context, reference)?.id;
    let mut snapshot = status(context, None, 0)?;
    snapshot.everywhere = false;
    snapshot.running.retain(|view| view.row.id == id);
    snapshot.queued.retain(|task| task.row.id == id);
    if snapshot.running.is_empty() {
        let row = find(context, id.as_str())?;
        let view = view_task(context, row)?;
        snapshot.damaged.clone_from(&view.damaged);
        if snapshot.queued.is_empty() {
            snapshot.finished.push(view.row.clone());
            snapshot.only = Some(Box::new(view));
        }
    }
    Ok(snapshot)
}
