//! Counts what a summary tells of a long file on several processors.
//!
//! A block is counted by whoever gets it, the lines that start in it as a whole, and added up in the order of the file:
//! what comes of it is the same.

use std::ops::Range;
use std::thread;

use memchr::{memchr, memrchr};

use crate::host::MultiFileReader;
use crate::inspect::aligned_buffer::{Buffer, LINE, inside_line};
use crate::inspect::line_fingerprint::Alike;
use crate::inspect::ordered_workers::share_out;
use crate::inspect::tally::Counted;

/// What one processor counts at once: with every line noted, that is what takes memory. And how far it looks for the
/// end of the last line.
const BLOCK: u64 = 128 << 10;
const LAST_LINE: u64 = 4 << 10;
const MOST_THREADS: usize = 4;
/// Of what is shorter nothing is gained.
pub(super) const SHORTEST: u64 = 4 << 20;

/// Some lines of the file, and what they come to.
pub(super) type Part = (Range<u64>, Counted);

/// Runs `walk` with the parts of the first `end` bytes, in order. What lies between them has to be counted there: lines
/// that are too long, and all that follows trouble with reading.
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

/// The whole lines that start in `block`, where there are any that end nearby.
fn part(
    file: &MultiFileReader,
    block: Range<u64>,
    end: u64,
    buffer: &mut [u8],
    alike: &mut Alike,
) -> std::io::Result<Option<Part>> {
    // The byte before tells whether a line starts with the block.
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
