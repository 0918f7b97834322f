//! Counts line breaks, and finds lines by their numbers.

use std::io;

use memchr::memchr_iter;

use super::view::View;
use crate::host::line_index::{Checkpoint, LineIndex};

/// The lines of a file that is no longer than this are simply counted.
const EASILY_COUNTED: u64 = 4 << 20;
const CHUNK: u64 = 256 << 10;

/// The number of lines, where it does not take the whole of a long file.
pub(super) fn total(view: &mut View, index: Option<&LineIndex>) -> io::Result<Option<u64>> {
    let count = match (view.known_end(), view.all_breaks(), index) {
        (None, ..) => return Ok(None),
        (Some(_), Some(count), _) => count,
        (Some(end), None, Some(index)) if !view.is_compressed() => {
            let point = index.last(end);
            point.breaks + breaks(view, point.offset, end)?
        }
        (Some(end), None, _) if end <= EASILY_COUNTED => breaks(view, 0, end)?,
        (Some(_), None, _) => return Ok(None),
    };
    Ok(Some(lines(count, view.last_byte()?.is_some_and(|last| last != b'\n'))))
}

/// The number of lines that so many breaks make.
pub(super) fn lines(breaks: u64, goes_on: bool) -> u64 {
    breaks.saturating_add(u64::from(goes_on))
}

pub(super) fn breaks(view: &mut View, from: u64, upto: u64) -> io::Result<u64> {
    let (mut at, mut count) = (from, 0);
    while at < upto {
        let bytes = view.read(at, upto.min(at.saturating_add(CHUNK)))?;
        if bytes.is_empty() {
            break;
        }
        count += memchr_iter(b'\n', bytes).count() as u64;
        at += bytes.len() as u64;
    }
    Ok(count)
}

/// Where the line of this number starts; where there is none, the end of the
/// content and the number of its breaks.
pub(super) fn find(
    view: &mut View,
    index: Option<&LineIndex>,
    line: u64,
) -> io::Result<Result<u64, Checkpoint>> {
    let end = view.known_end().unwrap_or(u64::MAX);
    let index = index.filter(|_| !view.is_compressed());
    let mut here = index.map_or(Checkpoint::default(), |index| index.before_line(line, end));
    while here.breaks + 1 < line {
        let missing = line - 1 - here.breaks;
        let bytes = view.read(here.offset, here.offset + CHUNK)?;
        if bytes.is_empty() {
            return Ok(Err(here));
        }
        let length = bytes.len() as u64;
        let count = memchr_iter(b'\n', bytes).count() as u64;
        if count >= missing {
            let last = memchr_iter(b'\n', bytes).nth(missing as usize - 1).unwrap_or(0);
            return Ok(Ok(here.offset + last as u64 + 1));
        }
        here = Checkpoint { offset: here.offset + length, breaks: here.breaks + count };
    }
    Ok(Ok(here.offset))
}
