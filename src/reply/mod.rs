//! What replies look like: plain types made from what the use cases return,
//! the same for every surface, and the text that goes with them.
//!
//! Nothing here reads a file, a clock, or the environment, and nothing prints.

mod ack;
mod budget;
mod caps;
mod capture;
mod cause;
mod commands_seen;
mod diagnosis;
mod earlier;
mod ends;
mod envelope;
mod eta;
mod facts;
mod file_operations;
mod file_summary;
mod funnel;
mod inspection;
mod lists;
mod log;
mod metadata;
mod next;
mod page;
mod pinning;
mod registry_info;
mod report;
mod result_set;
mod schema;
mod setup;
mod shorter;
mod snapshot;
mod so_far;
mod storage;
mod terminal;
mod tests_seen;
mod text;
mod tokens;
mod wait_result;
mod wire;

pub(crate) use ack::{Ack, AckMeta};
pub(crate) use budget::Budget;
pub(crate) use diagnosis::{Diagnosis, Keys, Rebuilt};
pub(crate) use envelope::{Category, Envelope, Stamp};
pub(crate) use eta::Eta;
pub(crate) use funnel::{Funnel, line, words};
pub(crate) use inspection::Inspection;
pub(crate) use lists::{events, reports, snapshot};
pub(crate) use log::{Log, Stream};
pub(crate) use next::Next;
pub(crate) use page::Page;
pub(crate) use pinning::Pinning;
pub(crate) use registry_info::{Cancellation, Cleanup, RegistryMeta};
pub(crate) use report::Report;
pub(crate) use result_set::{ResultMeta, TaskResult};
pub(crate) use schema::{SCHEMAS, advertised, advertised_report, schema};
pub(crate) use setup::SetupReply;
pub(crate) use snapshot::{SnapshotMeta, StatusSnapshot};
pub(crate) use so_far::brief;
pub(crate) use terminal::{TerminalList, TerminalOutput, TerminalRow};
pub(crate) use text::{duration, fence, page, report, title};
pub(crate) use wait_result::{WaitData, WaitMeta};
