//! What the tasks of a project are called, for somebody who types the
//! beginning of a name.

use crate::context::{Context, TaskError};

/// The ids and aliases of the caller's project that begin like `beginning`,
/// newest first, `most` at most, and how many there are.
pub(crate) fn names(context: &Context, beginning: &str, most: u32) -> Result<(Vec<String>, u32), TaskError> {
    let project = context.project();
    Ok(context.registry.names(&project.to_string_lossy(), beginning, most)?)
}
