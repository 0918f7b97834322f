//! Reads a long file in pieces: its beginning, its end, a range of its lines,
//! the lines that match a pattern, values by a path, or what it is as a whole.
//!
//! Data in, data out: it is given an open file and opens none. Memory does not
//! grow with the file or with its longest line, files are never mapped, and
//! nothing past the size that the file had at first is read. Everything that
//! comes out is redacted and safe to show, and was so before it was cut or
//! matched.

mod ahead;
mod aligned;
mod alike;
mod ask;
mod block;
mod candidates;
mod content_type;
mod count;
mod cursor;
mod grep;
mod in_order;
mod json_path;
mod keys;
mod page;
mod pattern;
mod piece;
mod question;
mod repeats;
mod scan;
mod select;
mod shape;
mod shared_tally;
mod sight;
mod source;
mod summary;
mod tally;
mod timestamp;
mod touch;
mod unlike;
mod value;
mod view;
mod wanted;
mod wide;
mod word;

#[cfg(test)]
mod by_whole;
#[cfg(any(test, fuzzing))]
mod checks;
#[cfg(any(test, fuzzing))]
pub(crate) mod drawn;
#[cfg(test)]
mod properties;
#[cfg(any(test, fuzzing))]
mod reference;
#[cfg(test)]
mod secrets;

pub(crate) use ask::{Ask, Block, Found, InspectError, Mode, PartialLine};
pub(crate) use content_type::ContentType;
pub(crate) use cursor::Cursor;
pub(crate) use json_path::JsonPath;
pub(crate) use pattern::{Case, Pattern};
pub(crate) use question::{MOST_CONTEXT, MOST_MATCHES, ModeName, Question};
pub(crate) use summary::{JsonSummary, RepeatedLine, Summary};
pub(crate) use tally::Longest;
pub(crate) use wanted::Wanted;

use crate::host::joined::Joined;
use crate::host::line_index::LineIndex;

/// Answers `ask` about `file`, as long as that is wanted. `index` is its
/// sidecar, where it has one.
pub(crate) fn inspect(
    file: Joined,
    index: Option<&LineIndex>,
    ask: &Ask,
    wanted: Wanted,
) -> Result<Found, InspectError> {
    source::Source::new(file, index, wanted)?.answer(ask)
}
