//! Text utilities: shortening, plain text, escape sequences, invisible characters.

pub(crate) mod cut;
mod fence;
mod invisible_chars;
pub(crate) mod plain;
mod strip_escapes;
#[cfg(test)]
mod test_rows;
mod truncation_marker;

pub(crate) use cut::cut;
pub(crate) use fence::fence;
pub(crate) use invisible_chars::is_invisible;
pub(crate) use plain::line;
pub(crate) use strip_escapes::{EscapeStripper, PieceEnd};
#[cfg(test)]
pub(crate) use test_rows::test_rows;
pub(crate) use truncation_marker::{TruncationMark, mark, marks, without_marks};
