//! What can be asked about a file, and the answer.

use std::io;

use crate::inspect::{ContentType, Cursor, JsonPath, Pattern, Summary};

/// One query.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) mode: Mode,
    /// Where an earlier answer to the same query stopped.
    pub(crate) cursor: Option<Cursor>,
    /// The maximum number of characters of content in the answer.
    pub(crate) room: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Mode {
    /// The first lines. A cursor continues with as many again.
    Head { lines: u64 },
    /// The last lines. A cursor goes back by as many again.
    Tail { lines: u64 },
    /// Lines by number from 1, both ends inclusive.
    Range { start: u64, end: u64 },
    /// The matching lines, in blocks. A cursor continues with as many again.
    Grep { pattern: Pattern, context: usize, max_matches: usize },
    /// The values that a path leads to, in the document, or in each line if each is a document. A cursor
    /// continues with as many again.
    Select { path: JsonPath, max_values: usize },
    /// A summary of the whole file, without content.
    Summary,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// Whole lines with single breaks between them and none at the end. If one line alone is too long, a part
    /// of that line, with `…` where it is cut. For `Select`, one value per line as compact JSON, cut in the
    /// same way. Empty for `Grep` and `Summary`.
    pub(crate) content: String,
    /// The line range of `content` or of the matches; absent if there are none, or if determining it would
    /// require reading the whole file.
    pub(crate) start_line: Option<u64>,
    pub(crate) end_line: Option<u64>,
    /// Present if known without reading the whole file, or if the whole file was read.
    pub(crate) total_lines: Option<u64>,
    /// The length of the content. Always known except for compressed files, which would have to be read
    /// completely.
    pub(crate) total_bytes: Option<u64>,
    /// The size of the file as stored.
    pub(crate) stored_bytes: u64,
    pub(crate) content_type: ContentType,
    pub(crate) matches: Vec<Block>,
    /// The number of matches or values.
    pub(crate) match_count: u64,
    /// For each selected value, the line of the file it begins in.
    pub(crate) value_lines: Vec<u64>,
    pub(crate) summary: Option<Box<Summary>>,
    /// Present if `content` is a part of one line, or begins or ends with a part of a value.
    pub(crate) partial_line: Option<PartialLine>,
    /// Whether the result did not fit completely.
    pub(crate) cut: bool,
    /// Where to continue; absent at the end.
    pub(crate) next: Option<Cursor>,
    /// What is wrong with the file, although part of it could be read.
    pub(crate) warning: Option<String>,
}

/// The part of a line that was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartialLine {
    /// It begins before the shown part: the part starts with `…`.
    pub(crate) begins_before: bool,
    /// It continues after the shown part: the part ends with `…`.
    pub(crate) goes_on: bool,
    /// The length of the whole line, unless it is too long to measure.
    pub(crate) bytes: Option<u64>,
}

/// A matching line with its context. Lines that are too long are cut, the matching one around its first
/// match; `Range` shows them in full.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Block {
    pub(crate) line_number: u64,
    pub(crate) match_line: String,
    /// The length of the matching line in bytes, if it was cut and the length is known.
    pub(crate) line_bytes: Option<u64>,
    pub(crate) context_before: Vec<String>,
    pub(crate) context_after: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum InspectError {
    #[error("failed to read the file")]
    Read(#[from] io::Error),
    /// In the words of the pattern's parser, on one line.
    #[error("invalid pattern: {0}")]
    Pattern(String),
    /// With what is supported instead.
    #[error("invalid path: {0}")]
    Path(String),
    #[error("invalid cursor `{0}`")]
    NoCursor(String),
    #[error("the cursor is from another mode")]
    WrongCursor,
    #[error("`{name}` does not apply to mode `{mode}`")]
    Idle { name: &'static str, mode: &'static str },
    #[error("`pattern` is missing")]
    NoPattern,
    #[error("`json_path` cannot be combined with other parameters")]
    PathAlone,
    #[error("`end_line` is before `start_line`")]
    Backwards,
}
