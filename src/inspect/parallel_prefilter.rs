//! Finds candidate lines of a long file on several processors, so that no other lines have to be checked.
//!
//! Files are read and not mapped, and reading takes longer than searching. Both are distributed; the result
//! is the same.

use std::io;
use std::ops::Range;
use std::thread;

use memchr::memchr;

use crate::host::MultiFileReader;
use crate::inspect::Pattern;
use crate::inspect::aligned_buffer::{Buffer, LINE, inside_line};
use crate::inspect::candidate_lines::Candidates;
use crate::inspect::count::breaks_in;
use crate::inspect::ordered_workers::share_out;
use crate::inspect::pattern_visibility::Sight;
use crate::inspect::private_keys::LOOKED_AHEAD;

/// How much one processor reads at once, how far most lines that begin in it extend, and how far it looks for
/// the end of one that does not end in it.
const BLOCK: u64 = 512 << 10;
const MOST_LINES: usize = 4 << 10;
const LAST_LINE: usize = 64 << 10;
const MOST_THREADS: usize = 4;
/// A block with more candidate lines is only reported as one that has to be searched.
const FEW: usize = 256;
/// Up to this many candidate lines are returned with the bytes around them, so that they need not be read
/// again.
const VERY_FEW: usize = 32;
/// On each side of the line.
const NEAR: usize = 1 << 10;

/// One block of the file, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) bytes: Range<u64>,
    /// The number of its line breaks, if counted.
    pub(super) breaks: Option<u64>,
    /// `None` if the block has to be searched.
    pub(super) told: Option<Told>,
}

/// The candidate lines that start in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) lines: Vec<Line>,
    /// Where the first line of a later block starts.
    pub(super) next: u64,
}

/// A candidate line, with its break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) bytes: Range<u64>,
    /// The number of line breaks in the block before it.
    pub(super) breaks: u64,
    /// Bytes of the file from some position, including the line; empty for a line among many.
    pub(super) near: (u64, Vec<u8>),
}

/// Which line breaks are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Breaks {
    All,
    /// Only those of blocks with candidate lines.
    OfMatches,
}

/// Runs `walk` with the verdicts on `bytes`, which begin at a line start. They end early on errors, and
/// everything ends with `walk`.
pub(super) fn look_ahead<T>(
    file: &MultiFileReader,
    pattern: &Pattern,
    bytes: Range<u64>,
    breaks: Breaks,
    walk: impl FnOnce(&mut dyn Iterator<Item = Verdict>) -> T,
) -> T {
    let blocks = (bytes.end - bytes.start).div_ceil(BLOCK);
    let looking = Looking { file, pattern, bytes, breaks };
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    let hand = || {
        let mut buffer = Buffer::new((LINE + 1 + BLOCK + LOOKED_AHEAD) as usize + LAST_LINE);
        let mut candidates = Candidates::new(0);
        let looking = &looking;
        // The walker reads again what could not be read here.
        move |number| looking.judge(looking.block(number), &mut buffer, &mut candidates).ok()
    };
    share_out(threads, blocks, hand, walk)
}

struct Looking<'a> {
    file: &'a MultiFileReader,
    pattern: &'a Pattern,
    bytes: Range<u64>,
    breaks: Breaks,
}

impl Looking<'_> {
    fn block(&self, number: u64) -> Range<u64> {
        let start = self.bytes.start + number * BLOCK;
        start..self.bytes.end.min(start + BLOCK)
    }

    fn judge(
        &self,
        block: Range<u64>,
        buffer: &mut [u8],
        candidates: &mut Candidates,
    ) -> io::Result<Verdict> {
        // The previous byte tells whether a line starts with the block.
        let from = block.start.saturating_sub(1).max(self.bytes.start);
        let buffer = &mut buffer[inside_line(from)..];
        let length = (block.end - from) as usize;
        let mut read = (self.bytes.end - from).min((length + MOST_LINES) as u64) as usize;
        self.file.read_exact_at(&mut buffer[..read], from)?;
        let before = (block.start - from) as usize;
        let unclear = Verdict { bytes: block.clone(), breaks: None, told: None };
        let first = if before == 0 { Some(0) } else { memchr(b'\n', &buffer[..length]).map(|at| at + 1) };
        let Some(first) = first.filter(|first| *first < length) else { return Ok(unclear) };
        let mut last = length;
        if buffer[length - 1] != b'\n' && block.end < self.bytes.end {
            let mut end = memchr(b'\n', &buffer[length..read]);
            if end.is_none() {
                let least = (self.bytes.end - from).min((length + LAST_LINE) as u64) as usize;
                self.file.read_exact_at(&mut buffer[read..least], from + read as u64)?;
                read = least;
                end = memchr(b'\n', &buffer[length..read]);
            }
            match end {
                Some(at) => last += at + 1,
                None if from + read as u64 == self.bytes.end => last = read,
                None => return Ok(unclear),
            }
        }
        if self.pattern.sight == Sight::Marks {
            let least = (last as u64 + LOOKED_AHEAD).min(self.bytes.end - from) as usize;
            if least > read {
                self.file.read_exact_at(&mut buffer[read..least], from + read as u64)?;
                read = least;
            }
        }
        let found = candidates.find_apart(self.pattern, &buffer[first..last], &buffer[last..read])?;
        let Some(found) = found.filter(|found| found.len() <= FEW) else { return Ok(unclear) };
        let is_counted = self.breaks == Breaks::All || !found.is_empty();
        let are_very_few = found.len() <= VERY_FEW;
        let (mut counted, mut breaks, mut lines) = (before, 0, Vec::with_capacity(found.len()));
        for line in found {
            let (start, end) = (first + line.start, first + line.end);
            breaks += breaks_in(&buffer[counted..start]);
            counted = start;
            let near = if are_very_few && end - start <= NEAR {
                start.saturating_sub(NEAR)..read.min(end + NEAR)
            } else {
                start..start
            };
            let near = (from + near.start as u64, buffer[near].to_vec());
            lines.push(Line { bytes: from + start as u64..from + end as u64, breaks, near });
        }
        let breaks = is_counted.then(|| breaks + breaks_in(&buffer[counted..length]));
        Ok(Verdict { breaks, told: Some(Told { lines, next: from + last as u64 }), ..unclear })
    }
}

#[cfg(test)]
#[path = "../../tests/inspect/parallel_prefilter_tests.rs"]
mod tests;
