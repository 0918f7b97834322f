//! Recorded terminals: one directory each, with every byte sent to the screen.
//!
//! An error in recording never affects the session. Readers work on whatever is there.

mod compressed_reader;
mod error;
mod file_names;
mod find;
mod meta;
mod output_times;
mod part_request;
mod read;
mod read_all;
mod record;
mod redact_escapes;
mod redact_text;
mod segments;
mod time_index;
mod writer;

pub(crate) use error::TerminalError;
pub(crate) use file_names::{OUTPUT, PACKED, PIN, is_live};
pub(crate) use find::{Liveness, Terminal, active, find, list};
pub(crate) use output_times::OutputTimes;
pub(crate) use part_request::PartSelector;
pub(crate) use read::{PartRequest, Reader, RecordingPart};
pub(crate) use record::{Program, record, surrounding};
pub(crate) use segments::TextForm;
