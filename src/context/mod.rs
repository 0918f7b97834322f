//! What every use case works with: the open home and registry, and the errors it can end with.

mod error;
mod missing_output;
mod open;
mod worktree_error;

pub(crate) use error::{TaskError, one_line, quoted};
pub(crate) use missing_output::{MissingOutput, missing_output};
pub(crate) use open::Context;
pub(crate) use worktree_error::WorktreeError;
