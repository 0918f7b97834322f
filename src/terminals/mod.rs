//! Terminals that the person has recorded: a directory for each, with every
//! byte that went to the screen.
//!
//! The recorder owns its session and nothing else: trouble with the record
//! never becomes trouble of the session. Readers work on whatever is there.

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
pub(crate) use find::{Life, Terminal, active, find, list};
pub(crate) use output_times::Times;
pub(crate) use part_request::Part;
pub(crate) use read::{Ask, Piece, Reader};
pub(crate) use record::{Program, record, surrounding};
pub(crate) use segments::Form;
