//! Reads a long file in pieces: its beginning, its end, a range of lines, the lines that match a pattern,
//! values by a path, or a summary.
//!
//! It is given an open file and opens none. Memory does not grow with the file or with its longest line,
//! files are never mapped, and nothing beyond the file's size at the start is read. Everything returned is
//! redacted and safe to show, and was redacted before it was cut or matched.

mod aligned_buffer;
mod candidate_lines;
mod content_type;
mod control_bytes;
mod count;
mod cursor;
mod file_view;
mod grep;
mod json_path;
mod json_scanner;
mod json_select;
mod json_shape;
mod json_value;
mod line_fingerprint;
mod line_pieces;
mod match_context;
mod opened_file;
mod ordered_workers;
mod page;
mod parallel_prefilter;
mod parallel_tally;
mod pattern;
mod pattern_overlap;
mod pattern_visibility;
mod private_keys;
mod query;
mod query_defaults;
mod repeated_lines;
mod simd;
mod still_wanted;
mod summary;
mod tally;
mod timestamp;
mod word_search;

// What only tests and fuzzing use.
#[cfg(any(test, fuzzing))]
#[path = "../../tests/inspect/fuzz_input.rs"]
pub(crate) mod fuzz_input;
#[cfg(any(test, fuzzing))]
#[path = "../../tests/inspect/invariants.rs"]
mod invariants;
#[cfg(test)]
#[path = "../../tests/inspect/line_in_file.rs"]
mod line_in_file;
#[cfg(test)]
#[path = "../../tests/inspect/property_tests.rs"]
mod property_tests;
#[cfg(any(test, fuzzing))]
#[path = "../../tests/inspect/reference_answers.rs"]
mod reference_answers;
#[cfg(test)]
#[path = "../../tests/inspect/secret_tests.rs"]
mod secret_tests;

pub(crate) use content_type::ContentType;
pub(crate) use cursor::Cursor;
pub(crate) use json_path::JsonPath;
pub(crate) use pattern::{Case, Pattern};
pub(crate) use query::{Ask, Block, Found, InspectError, Mode, PartialLine};
pub(crate) use query_defaults::{MOST_CONTEXT, MOST_MATCHES, ModeName, Question};
pub(crate) use still_wanted::Wanted;
pub(crate) use summary::{JsonSummary, RepeatedLine, Summary};
pub(crate) use tally::Longest;

use crate::host::LineIndex;
use crate::host::MultiFileReader;

/// Answers `ask` about `file`, as long as that is wanted. `index` is its
/// sidecar, where it has one.
pub(crate) fn inspect(
    file: MultiFileReader,
    index: Option<&LineIndex>,
    ask: &Ask,
    wanted: Wanted,
) -> Result<Found, InspectError> {
    opened_file::Source::new(file, index, wanted)?.answer(ask)
}
