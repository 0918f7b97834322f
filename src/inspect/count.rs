//! Counts line breaks and finds lines by number.

use std::io;

use memchr::memchr_iter;

use crate::host::{Checkpoint, LineIndex};
use crate::inspect::file_view::View;
use crate::inspect::simd::wide;

/// The lines of a file up to this size are simply counted.
const EASILY_COUNTED: u64 = 4 << 20;
const CHUNK: u64 = 256 << 10;
/// Breaks are counted in bytes for this many blocks, the most that fit without overflow.
const BLOCK: usize = 128;

/// The number of lines, unless finding out requires reading a long file completely.
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

/// The number of lines for this number of breaks.
pub(super) fn lines(breaks: u64, goes_on: bool) -> u64 {
    breaks.saturating_add(u64::from(goes_on))
}

/// The number of breaks in bytes that were read.
pub(super) fn breaks_in(bytes: &[u8]) -> u64 {
    let in_block = |block: &[u8; BLOCK]| block.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    let (blocks, rest) = bytes.as_chunks();
    let in_blocks: u64 = wide(|| blocks.iter().map(|block| u64::from(in_block(block))).sum());
    in_blocks + rest.iter().filter(|byte| **byte == b'\n').count() as u64
}

pub(super) fn breaks(view: &mut View, from: u64, upto: u64) -> io::Result<u64> {
    let (mut at, mut count) = (from, 0);
    while at < upto {
        let bytes = view.read(at, upto.min(at.saturating_add(CHUNK)))?;
        if bytes.is_empty() {
            break;
        }
        count += breaks_in(bytes);
        at += bytes.len() as u64;
    }
    Ok(count)
}

/// Where the line with this number starts; if it does not exist, the end of the content and its number of
/// breaks.
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
        let count = breaks_in(bytes);
        if count >= missing {
            let last = memchr_iter(b'\n', bytes).nth(missing as usize - 1).unwrap_or(0);
            return Ok(Ok(here.offset + last as u64 + 1));
        }
        here = Checkpoint { offset: here.offset + length, breaks: here.breaks + count };
    }
    Ok(Ok(here.offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breaks_are_counted_wherever_they_are() {
        for length in [0, 1, BLOCK - 1, BLOCK, 3 * BLOCK, 4 * BLOCK + 7] {
            for every in [1, 2, 3, BLOCK, BLOCK + 1] {
                let bytes: Vec<u8> =
                    (0..length).map(|at| if at % every == 0 { b'\n' } else { b'x' }).collect();
                assert_eq!(breaks_in(&bytes), length.div_ceil(every) as u64, "{length} {every}");
            }
        }
    }
}
