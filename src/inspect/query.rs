//! What can be asked of a file, and what comes back.

use std::io;

use crate::inspect::{ContentType, Cursor, JsonPath, Pattern, Summary};

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) mode: Mode,
    /// Where an earlier answer to the same question left off.
    pub(crate) cursor: Option<Cursor>,
    /// How many characters of content the answer may have.
    pub(crate) room: usize,
}

#[derive(Debug, Clone)]
pub(crate) enum Mode {
    /// The first lines. A cursor goes on with as many again.
    Head { lines: u64 },
    /// The last lines. A cursor goes back by as many again.
    Tail { lines: u64 },
    /// Lines by number, the first being 1, both ends included.
    Range { start: u64, end: u64 },
    /// The lines that match, in blocks. A cursor goes on with as many again.
    Grep { pattern: Pattern, context: usize, max_matches: usize },
    /// The values that a path leads to, in the document, or in each line where
    /// the lines are documents. A cursor goes on with as many again.
    Select { path: JsonPath, max_values: usize },
    /// The file as a whole, without content.
    Summary,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Found {
    /// Whole lines with single breaks between them and none at the end. Where
    /// one line alone is longer than the room it is a part of that line, with
    /// `…` at the ends that are cut. For `Select` one value in each line, as
    /// compact JSON; one that is too long is cut in the same way. Nothing for
    /// `Grep` and `Summary`.
    pub(crate) content: String,
    /// The lines of which `content` or the matches are; absent where there are
    /// none, or where it would take the whole file to know.
    pub(crate) start_line: Option<u64>,
    pub(crate) end_line: Option<u64>,
    /// Where it is known without reading the whole, or the whole was read.
    pub(crate) total_lines: Option<u64>,
    /// Of the content. Always known but for compressed files, which would have
    /// to be read to their ends.
    pub(crate) total_bytes: Option<u64>,
    /// Of the file as it is stored.
    pub(crate) stored_bytes: u64,
    pub(crate) content_type: ContentType,
    pub(crate) matches: Vec<Block>,
    /// How many matches, or values.
    pub(crate) match_count: u64,
    /// For each value that was selected, the line of the file it begins in.
    pub(crate) value_lines: Vec<u64>,
    pub(crate) summary: Option<Box<Summary>>,
    /// Present where `content` is a part of one line, or begins or ends with a
    /// part of a value.
    pub(crate) partial_line: Option<PartialLine>,
    /// Whether what was asked for did not fit into the room.
    pub(crate) cut: bool,
    /// Where to go on from; absent where there is no more.
    pub(crate) next: Option<Cursor>,
    /// What is wrong with the file, though part of it could be read.
    pub(crate) warning: Option<String>,
}

/// Which part of a line was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartialLine {
    /// It begins before what is shown: there is a `…` at the beginning.
    pub(crate) begins_before: bool,
    /// It goes on after what is shown: there is a `…` at the end.
    pub(crate) goes_on: bool,
    /// The length of the whole line, unless it is too long to be measured.
    pub(crate) bytes: Option<u64>,
}

/// A line that matches, and those around it. Lines that are too long are cut,
/// the matching one around its first match; `Range` shows them whole.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Block {
    pub(crate) line_number: u64,
    pub(crate) match_line: String,
    /// The length of the matching line in bytes, where it was cut and the
    /// length is known.
    pub(crate) line_bytes: Option<u64>,
    pub(crate) context_before: Vec<String>,
    pub(crate) context_after: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum InspectError {
    #[error("failed to read the file")]
    Read(#[from] io::Error),
    /// In the words of the pattern's own parser, on one line.
    #[error("the pattern cannot be used: {0}")]
    Pattern(String),
    /// With what could be used instead.
    #[error("the path cannot be used: {0}")]
    Path(String),
    #[error("`{0}` is not a cursor")]
    NoCursor(String),
    #[error("the cursor belongs to another mode")]
    WrongCursor,
    #[error("`{name}` means nothing to `{mode}`")]
    Idle { name: &'static str, mode: &'static str },
    #[error("`pattern` is missing")]
    NoPattern,
    #[error("`json_path` stands alone")]
    PathAlone,
    #[error("`end_line` is before `start_line`")]
    Backwards,
}
