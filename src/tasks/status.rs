//! What is running, what waits, and what ended lately.

use std::path::PathBuf;

use crate::host::clock;
use crate::model::{State, TaskId, Timestamp};
use crate::registry::Row;
use crate::tasks::{Context, TaskError, View, find, pump, view};

/// Nobody counts further than this.
pub(crate) const MANY_MORE: u32 = 1000;

#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) at: Timestamp,
    pub(crate) running: Vec<View>,
    /// In the order they will start; the position counts other projects' too.
    pub(crate) queued: Vec<(usize, Row)>,
    pub(crate) finished: Vec<Row>,
    /// How many others have finished, up to [`MANY_MORE`].
    pub(crate) more_finished: usize,
    /// It is of all projects.
    pub(crate) everywhere: bool,
    /// The one finished task that was asked for, with what its directory says.
    pub(crate) only: Option<Box<View>>,
    /// What could not be read of a task that is not running; lists do not look.
    pub(crate) damaged: Vec<String>,
    /// What the runs said last, where that was asked for.
    pub(super) last_lines: Option<Vec<(TaskId, Vec<String>)>>,
}

/// The tasks of `project`, or of all projects, with the `recent` last ended.
pub(crate) fn status(
    context: &mut Context,
    project: Option<PathBuf>,
    recent: u32,
) -> Result<Snapshot, TaskError> {
    pump(context)?;
    let belongs = |row: &Row| project.as_ref().is_none_or(|project| &row.project == project);
    let mut running = Vec::new();
    for row in context.registry.working()?.into_iter().filter(belongs) {
        let view = view(context, row)?;
        if matches!(view.state(), State::Working | State::InputRequired) {
            running.push(view);
        }
    }
    let queued =
        context.registry.pending(u32::MAX)?.into_iter().enumerate().filter(|(_, row)| belongs(row)).collect();
    let name = project.as_ref().map(|project| project.to_string_lossy().into_owned());
    let finished = context.registry.finished(name.as_deref(), recent)?;
    let counted = context.registry.count_finished(name.as_deref(), recent.saturating_add(MANY_MORE))?;
    let more_finished = (counted as usize).saturating_sub(finished.len());
    let everywhere = project.is_none();
    let (only, damaged) = (None, Vec::new());
    Ok(Snapshot {
        at: clock::now(),
        running,
        queued,
        finished,
        more_finished,
        everywhere,
        only,
        damaged,
        last_lines: None,
    })
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
        let view = view(context, row)?;
        snapshot.damaged.clone_from(&view.damaged);
        if snapshot.queued.is_empty() {
            snapshot.finished.push(view.row.clone());
            snapshot.only = Some(Box::new(view));
        }
    }
    Ok(snapshot)
}
