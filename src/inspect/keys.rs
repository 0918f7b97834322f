//! Whether a line stands inside a private key, by what the file holds before
//! it: whoever begins to read there sees no more than who read from the start.

use std::io;
use std::ops::Range;

use super::view::View;
use crate::redact::{self, KeyMark};

/// A key is over after this many bytes, whether its end was seen or not.
const REACH: u64 = 64 << 10;
/// More than the longest marker, which may have been seen in half.
const MARKER: u64 = 128;
/// What follows a marker tells whether a key does.
const FOLLOWS: u64 = 256;

/// Remembers what was looked at, so that no byte is looked at twice by who
/// goes forward.
#[derive(Debug, Default)]
pub(super) struct Keys {
    looked: Range<u64>,
    /// Where the last key began that has not ended.
    begun: Option<u64>,
}

impl Keys {
    /// Whether what starts at `line` is inside of one.
    pub(super) fn inside(&mut self, view: &mut View, line: u64) -> io::Result<bool> {
        let reach = line.saturating_sub(REACH);
        if !(reach..=line).contains(&self.looked.end) || self.looked.start > reach {
            *self = Self { looked: reach..reach, begun: None };
        }
        let from = self.looked.end.saturating_sub(MARKER).max(self.looked.start);
        let bytes = view.read(from, line.saturating_add(FOLLOWS))?;
        let (before, after) = bytes.split_at(bytes.len().min((line - from) as usize));
        match redact::last_key_mark(before, after) {
            Some(KeyMark::Begins { at }) => self.begun = Some(from + at as u64),
            Some(KeyMark::Ends) => self.begun = None,
            None => {}
        }
        self.looked.end = line;
        Ok(self.begun.is_some_and(|begun| begun >= reach))
    }
}
