//! Counts the facts of a summary on several processors.
//!
//! Each block, with all lines that start in it, is counted by one processor, and the counts are added in the
//! order of the file. The result is the same.

use std::ops::Range;
use std::thread;

use memchr::{memchr, memrchr};

use crate::host::MultiFileReader;
use crate::inspect::aligned_buffer::{Buffer, LINE, inside_line};
use crate::inspect::line_fingerprint::Alike;
use crate::inspect::ordered_workers::share_out;
use crate::inspect::tally::Counted;

/// How much one processor counts at once, which determines the memory because every line is recorded; and how
/// far it looks for the end of the last line.
const BLOCK: u64 = 128 << 10;
const LAST_LINE: u64 = 4 << 10;
const MOST_THREADS: usize = 4;
/// Shorter files do not get faster.
pub(super) const SHORTEST: u64 = 4 << 20;

/// Some lines of the file, and their counts.
pub(super) type Part = (Range<u64>, Counted);

/// Runs `walk` with the parts of the first `end` bytes, in order. The caller counts what lies between them:
/// lines that are too long, and everything after a read error.
pub(super) fn count<T>(
    file: &MultiFileReader,
    end: u64,
    walk: impl FnOnce(&mut dyn Iterator<Item = Part>) -> T,
) -> T {
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    let hand = || {
        let mut buffer = Buffer::new((LINE + 1 + BLOCK + LAST_LINE) as usize);
        let mut alike = Alike::default();
        move |number: u64| {
            part(file, number * BLOCK..end.min((number + 1) * BLOCK), end, &mut buffer, &mut alike).ok()
        }
    };
    share_out(threads, end.div_ceil(BLOCK), hand, |parts| walk(&mut parts.flatten()))
}

/// The whole lines that start in `block`, if any of them ends nearby.
fn part(
    file: &MultiFileReader,
    block: Range<u64>,
    end: u64,
    buffer: &mut [u8],
    alike: &mut Alike,
) -> std::io::Result<Option<Part>> {
    // The previous byte tells whether a line starts with the block.
    let from = block.start.saturating_sub(1);
    let buffer = &mut buffer[inside_line(from)..][..(end.min(block.end + LAST_LINE) - from) as usize];
    file.read_exact_at(buffer, from)?;
    let after_break = |at: usize| at + 1;
    let first = if block.start == 0 { Some(0) } else { memchr(b'\n', buffer).map(after_break) };
    let last = (block.end - from) as usize - 1;
    let last = match block.end == end {
        true => memrchr(b'\n', buffer).map(after_break),
        false => memchr(b'\n', &buffer[last..]).map(|at| after_break(last + at)),
    };
    let lines = first.zip(last).filter(|(first, last)| first < last);
    let position = |at: usize| from + at as u64;
    Ok(lines.map(|(first, last)| (position(first)..position(last), Counted::of(&buffer[first..last], alike))))
}
