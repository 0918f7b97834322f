//! A task as a reader sees it: its row, and what its directory says now.

use crate::host::lock;
use crate::model::{Progress, Request, RunResult, State};
use crate::registry::{Found, Reference, Row};
use crate::runs::RunDir;
use crate::tasks::{Context, TaskError, recover};

#[derive(Debug)]
pub(crate) struct View {
    pub(crate) row: Row,
    pub(crate) dir: RunDir,
    pub(crate) request: Option<Request>,
    /// Present once the run is sealed.
    pub(crate) result: Option<RunResult>,
    pub(crate) progress: Option<Progress>,
}

impl View {
    pub(crate) fn state(&self) -> State {
        self.row.state
    }
}

/// The task that `reference` means.
pub(crate) fn find(context: &Context, reference: &str) -> Result<Row, TaskError> {
    match context.registry.find(&Reference(reference.to_owned()))? {
        Found::One(row) => Ok(*row),
        Found::None => Err(TaskError::NotFound(reference.to_owned())),
        Found::Several(rows) => Err(TaskError::Ambiguous {
            reference: reference.to_owned(),
            candidates: rows.into_iter().map(|row| row.id.to_string()).collect(),
        }),
    }
}

/// Everything there is to say of a task now.
///
/// The directory is the truth: a sealed run is finished here even if the one
/// who sealed it has not come to its row yet.
pub(crate) fn view(context: &mut Context, row: Row) -> Result<View, TaskError> {
    let dir = context.dir(&row.run_id);
    let result = dir.read_result()?;
    let row = match &result {
        Some(result) if !row.state.is_final() => {
            recover::finish(context, result)?;
            context.registry.task(&row.id)?.unwrap_or(row)
        }
        _ => row,
    };
    let request = dir.read_request()?;
    let progress = result.as_ref().and_then(|result| result.progress.clone()).or_else(|| dir.read_progress());
    Ok(View { row, dir, request, result, progress })
}

/// Whether the run of a working task is still held by its supervisor.
pub(super) fn is_alive(dir: &RunDir) -> bool {
    lock::is_held(&dir.lock()).unwrap_or(true)
}
