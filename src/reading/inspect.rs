//! Answers an inspection of a run's file.

use std::path::PathBuf;

use crate::context::{Context, TaskError};
use crate::inspect::{self, Ask, Found, Wanted};
use crate::model::TaskId;
use crate::reading::inspect_target::{self, InspectTarget, OpenTarget};
use crate::runs::ArtifactName;

/// An answer, and the file it is from.
#[derive(Debug)]
pub(crate) struct Inspected {
    pub(crate) path: PathBuf,
    /// The task, if the file belongs to a run.
    pub(crate) task: Option<TaskId>,
    pub(crate) artifact: Option<ArtifactName>,
    /// The run is still going, so the file may grow.
    pub(crate) live: bool,
    /// If no file was named: the run's other output files and their sizes.
    pub(crate) beside: Vec<(&'static str, u64)>,
    pub(crate) found: Found,
}

/// While the run is going, consecutive pages may not line up.
fn left_out(dropped: u64, live: bool) -> String {
    let moves_on = "; while the run continues, more may be left out, and line numbers and cursors after that line change";
    format!(
        "the output exceeded `max_stream_bytes`: {dropped} bytes were left out of its middle, where a line marks the gap{}",
        if live { moves_on } else { "" }
    )
}

pub(crate) fn inspect(
    context: &Context,
    of: &InspectTarget,
    ask: &Ask,
    wanted: Wanted,
) -> Result<Inspected, TaskError> {
    let OpenTarget { file, dropped, index, path, task, artifact, live, beside } =
        inspect_target::open(context, of)?;
    let mut found = inspect::inspect(file, index.as_ref(), ask, wanted)?;
    if dropped > 0 {
        let more = found.warning.take().map(|warning| format!("; {warning}")).unwrap_or_default();
        found.warning = Some(left_out(dropped, live) + &more);
    }
    Ok(Inspected { path, task, artifact, live, beside, found })
}
