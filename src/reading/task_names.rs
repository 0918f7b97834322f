//! Completes the beginning of a task's name.

use crate::context::{Context, TaskError};

/// The ids and aliases in the caller's project that start with `beginning`, newest first, at most `most`, and
/// how many there are in all.
pub(crate) fn names(context: &Context, beginning: &str, most: u32) -> Result<(Vec<String>, u32), TaskError> {
    let project = context.project();
    Ok(context.registry.names(&project.to_string_lossy(), beginning, most)?)
}
