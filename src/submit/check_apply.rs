//! Whether a caller may have a task's changes written into a checkout.

use std::path::Path;

use crate::context::{Context, TaskError};
use crate::model::Sandbox;
use crate::submit::caller::Caller;
use crate::submit::write_bounds::{WriteBounds, real};

/// A client may have written what a run of its own could write.
pub(crate) fn check_apply(context: &Context, caller: &Caller, root: &Path) -> Result<(), TaskError> {
    if let Caller::Client(_) = caller {
        caller.check_sandbox(&context.config, Sandbox::WorkspaceWrite)?;
    }
    caller.check_write(&context.config, &WriteBounds::of(&context.env, &context.home), &real(root))
}
