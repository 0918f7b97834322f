//! The tasks that run, wait and ended lately, at one moment.

use std::path::Path;

use crate::context::{Context, TaskError};
use crate::host::clock;
use crate::model::{State, TaskId, Timestamp};
use crate::reading::{View, view};
use crate::registry::Row;

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
    pub(crate) last_lines: Option<Vec<(TaskId, Vec<String>)>>,
}

/// The tasks of `project`, or of all projects, with the `recent` last ended.
pub(crate) fn snapshot(
    context: &Context,
    project: Option<&Path>,
    recent: u32,
) -> Result<Snapshot, TaskError> {
    let belongs = |row: &Row| project.is_none_or(|project| row.project == project);
    let working = context.registry.working()?.into_iter().filter(belongs).map(|row| view(context, row));
    let (running, sealed): (Vec<View>, Vec<View>) =
        working.partition(|view| matches!(view.state(), State::Working | State::InputRequired));
    let queued =
        context.registry.pending(u32::MAX)?.into_iter().enumerate().filter(|(_, row)| belongs(row)).collect();
    let name = project.map(|project| project.to_string_lossy().into_owned());
    let mut finished = context.registry.finished(name.as_deref(), recent)?;
    let counted = context.registry.count_finished(name.as_deref(), recent.saturating_add(MANY_MORE))?;
    let more_finished = (counted as usize).saturating_sub(finished.len());
    // Sealed, and its row is about to say so.
    let sealed =
        sealed.into_iter().map(|view| view.row).filter(|row| finished.iter().all(|one| one.id != row.id));
    let sealed: Vec<Row> = sealed.collect();
    finished.splice(0..0, sealed);
    finished.truncate(recent as usize);
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
