//! Terminals that the person has recorded: a directory for each, with every
//! byte that went to the screen.
//!
//! The recorder owns its session and nothing else: trouble with the record
//! never becomes trouble of the session. Readers work on whatever is there.

mod drawn;
mod error;
mod find;
mod index;
mod meta;
mod names;
mod packed;
mod pages;
mod part;
mod read;
mod record;
mod segments;
mod shown;
mod strip;
mod times;
mod unseen;
mod writer;

pub(crate) use error::TerminalError;
pub(crate) use find::{Life, Terminal, active, find, list};
pub(crate) use names::{OUTPUT, PACKED, PIN, is_live};
pub(crate) use part::Part;
pub(crate) use read::{Ask, Piece, Reader};
pub(crate) use record::{Program, record, surrounding};
pub(crate) use segments::Form;
pub(crate) use times::Times;
pub(crate) use unseen::is_unseen;
