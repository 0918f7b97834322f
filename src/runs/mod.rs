//! Run directories, the authoritative record of every run.

mod artifact_names;
mod layout;
mod reader;
mod retention;
mod seal;
mod writer;

pub(crate) use artifact_names::ArtifactName;
pub(crate) use layout::{RunDir, SKILLS_CACHE};
pub(crate) use reader::{ReadError, StartRecord, read};
pub(crate) use retention::{Expired, RetainedRun, RetentionPolicy, expired};
pub(crate) use writer::CommandRecord;
