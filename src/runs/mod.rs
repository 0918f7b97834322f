//! Run directories: where the truth about a run is kept.

mod artifact_names;
mod layout;
mod reader;
mod retention;
mod seal;
mod writer;

pub(crate) use artifact_names::ArtifactName;
pub(crate) use layout::RunDir;
pub(crate) use reader::{ReadError, Started, read};
pub(crate) use retention::{Kept, Policy, expired};
pub(crate) use writer::CommandRecord;
