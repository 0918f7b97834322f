//! Looks into what a run left, piece by piece.

use std::path::{Path, PathBuf};

use crate::inspect::{self, Ask, Found, Wanted};
use crate::model::TaskId;
use crate::runs::ArtifactName;
use crate::supervisor;
use crate::tasks::source::{self, Of};
use crate::tasks::{Context, TaskError};

/// A stream beyond its limit keeps its end apart until the run is over.
const IN_PARTS: &str = "this is the beginning only: the output passed `max_stream_bytes`, and its end is added when the run is over; \
     meanwhile get_terminal_output (`delegator terminal read`) with the task reads the end";

/// What was found, and where.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) path: PathBuf,
    /// Whose file it is, where it is a run's.
    pub(crate) task: Option<TaskId>,
    pub(crate) artifact: Option<ArtifactName>,
    /// The run goes on, and there may be more in a moment.
    pub(crate) live: bool,
    pub(crate) found: Found,
}

/// What whoever reads the file of a stream has to know, where it is not all of it.
pub(crate) fn in_parts(path: &Path) -> Option<&'static str> {
    supervisor::apart(path).map(|_| IN_PARTS)
}

pub(crate) fn inspect(context: &Context, of: &Of, ask: &Ask, wanted: Wanted) -> Result<Inspected, TaskError> {
    let source = source::open(context, of)?;
    // Looked for first: what is put together meanwhile is then in the file.
    let warning = in_parts(&source.path).filter(|_| source.live);
    let mut found = inspect::inspect(source.file, source.index.as_ref(), ask, wanted)?;
    if let Some(warning) = warning {
        found.warning = Some(warning.into());
    }
    let live = source.live;
    Ok(Inspected { path: source.path, task: source.task, artifact: source.artifact, live, found })
}
