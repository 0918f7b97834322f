//! Lists the tasks that are running, queued and recently finished.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::host::clock;
use crate::model::{State, TaskId, Timestamp};
use crate::reading::queue_forecast::{forecast, slot_of};
use crate::reading::{View, view};
use crate::registry::Row;

/// Finished tasks are counted up to this number.
pub(crate) const MAX_FINISHED_COUNTED: u32 = 1000;

#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) at: Timestamp,
    pub(crate) running: Vec<View>,
    /// In the order in which they will start.
    pub(crate) queued: Vec<QueuedTask>,
    pub(crate) finished: Vec<Row>,
    /// How many other tasks have finished, up to [`MAX_FINISHED_COUNTED`].
    pub(crate) more_finished: usize,
    /// Whether it covers all projects.
    pub(crate) everywhere: bool,
    /// The finished task that was asked for, with what its directory says.
    pub(crate) only: Option<Box<View>>,
    /// What could not be read of that task's directory.
    pub(crate) damaged: Vec<String>,
    /// The last lines of each run, if they were asked for.
    pub(crate) last_lines: Option<Vec<(TaskId, Vec<String>)>>,
}

/// Whether tasks run in the cloud or on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InCloud {
    Yes,
    No,
}

impl Snapshot {
    /// Only the tasks of one kind.
    pub(crate) fn of_kind(mut self, kind: InCloud) -> Self {
        let is_of = |row: &Row| row.id.is_hosted() == (kind == InCloud::Yes);
        self.running.retain(|view| is_of(&view.row));
        self.queued.retain(|task| is_of(&task.row));
        self.finished.retain(is_of);
        self
    }
}

#[derive(Debug)]
pub(crate) struct QueuedTask {
    /// From 1, which starts next. Counts the tasks of all projects that wait for the same: a slot on this machine, or one
    /// in the cloud. `None` for one that waits for another task.
    pub(crate) position: Option<usize>,
    /// The time until it starts, if earlier runs tell.
    pub(crate) starts_in: Option<Duration>,
    pub(crate) row: Row,
}

/// All queued tasks of all projects, in the order in which they will start.
pub(crate) fn queued(context: &Context, now: Timestamp) -> Result<Vec<QueuedTask>, TaskError> {
    let pending = context.registry.pending(u32::MAX)?;
    let ready: Vec<Row> = pending.iter().filter(|row| row.waits_for.is_none()).cloned().collect();
    let starts = match ready.is_empty() {
        true => Vec::new(),
        false => forecast(context, &context.registry.working()?, &ready, now),
    };
    let mut starts = starts.into_iter();
    let mut lines = HashMap::new();
    let numbered = |row: Row| {
        if row.waits_for.is_some() {
            return QueuedTask { position: None, starts_in: None, row };
        }
        let position = lines.entry(slot_of(&row)).or_insert(0);
        *position += 1;
        QueuedTask { position: Some(*position), starts_in: starts.next().flatten(), row }
    };
    Ok(pending.into_iter().map(numbered).collect())
}

/// The tasks of `project`, or of all projects, with the `recent` last finished.
pub(crate) fn snapshot(
    context: &Context,
    project: Option<&Path>,
    recent: u32,
) -> Result<Snapshot, TaskError> {
    let belongs = |row: &Row| project.is_none_or(|project| row.project == project);
    let working = context.registry.working()?.into_iter().filter(belongs).map(|row| view(context, row));
    let (running, sealed): (Vec<View>, Vec<View>) = working
        .partition(|view| matches!(view.state(), State::Working | State::InputRequired | State::Unconfirmed));
    let at = clock::now();
    let queued = queued(context, at)?.into_iter().filter(|task| belongs(&task.row)).collect();
    let name = project.map(|project| project.to_string_lossy().into_owned());
    let mut finished = context.registry.finished(name.as_deref(), recent)?;
    let counted =
        context.registry.count_finished(name.as_deref(), recent.saturating_add(MAX_FINISHED_COUNTED))?;
    let more_finished = (counted as usize).saturating_sub(finished.len());
    // Sealed, but its row is not updated yet.
    let sealed =
        sealed.into_iter().map(|view| view.row).filter(|row| finished.iter().all(|one| one.id != row.id));
    let sealed: Vec<Row> = sealed.collect();
    finished.splice(0..0, sealed);
    finished.truncate(recent as usize);
    let everywhere = project.is_none();
    let (only, damaged) = (None, Vec::new());
    Ok(Snapshot { at, running, queued, finished, more_finished, everywhere, only, damaged, last_lines: None })
}
