//! Looks into what a run left, piece by piece.

use std::path::PathBuf;

use crate::context::{Context, TaskError};
use crate::inspect::{self, Ask, Found, Wanted};
use crate::model::TaskId;
use crate::reading::source::{self, Of, Source};
use crate::runs::ArtifactName;

/// What was found, and where.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) path: PathBuf,
    /// Whose file it is, where it is a run's.
    pub(crate) task: Option<TaskId>,
    pub(crate) artifact: Option<ArtifactName>,
    /// The run goes on, and there may be more in a moment.
    pub(crate) live: bool,
    /// Where no file was named: what else the run printed, and how many bytes of it.
    pub(crate) beside: Vec<(&'static str, u64)>,
    pub(crate) found: Found,
}

/// While it goes on, pages that were read one after the other need not meet.
fn left_out(dropped: u64, live: bool) -> String {
    let moves_on =
        "; while the run goes on, more may be, and line numbers and cursors after that line change";
    format!(
        "the output passed `max_stream_bytes`: {dropped} bytes in its middle are left out, where a line says so{}",
        if live { moves_on } else { "" }
    )
}

pub(crate) fn inspect(context: &Context, of: &Of, ask: &Ask, wanted: Wanted) -> Result<Inspected, TaskError> {
    let Source { file, dropped, index, path, task, artifact, live, beside } = source::open(context, of)?;
    let mut found = inspect::inspect(file, index.as_ref(), ask, wanted)?;
    if dropped > 0 {
        let more = found.warning.take().map(|warning| format!("; {warning}")).unwrap_or_default();
        found.warning = Some(left_out(dropped, live) + &more);
    }
    Ok(Inspected { path, task, artifact, live, beside, found })
}
