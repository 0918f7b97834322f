//! Strings for every surface: shortening, plain text, escape sequences, invisible characters.

pub(crate) mod cut;
mod invisible_chars;
pub(crate) mod plain;
mod strip_escapes;
mod truncation_marker;

pub(crate) use cut::cut;
pub(crate) use invisible_chars::is_unseen;
pub(crate) use plain::line;
pub(crate) use strip_escapes::{End, Strip};
pub(crate) use truncation_marker::{Mark, mark, marks, without_marks};
