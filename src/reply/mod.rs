//! What replies look like: plain types made from what the use cases return,
//! the same for every surface, and the text that goes with them.
//!
//! Nothing here reads a file, a clock, or the environment, and nothing prints.

mod diagnosis;
mod envelope;
mod facts;
mod log;
mod metadata;
mod next;
mod registry_info;
mod report;
mod result_set;
mod schema;
mod snapshot;
mod text;
mod wait_result;
mod wire;

pub(crate) use diagnosis::{Diagnosis, Keys, Rebuilt};
pub(crate) use envelope::{Category, Envelope, Stamp};
pub(crate) use log::{Log, Stream};
pub(crate) use next::Next;
pub(crate) use registry_info::{Cancellation, Cleanup, RegistryMeta};
pub(crate) use report::Report;
pub(crate) use result_set::{ResultMeta, TaskResult};
pub(crate) use schema::{SCHEMAS, schema};
pub(crate) use snapshot::StatusSnapshot;
pub(crate) use text::{Section, duration, report, title};
pub(crate) use wait_result::WaitData;
