//! Looks for nothing: finds out, on several processors, which parts of a long
//! file have no line that may match, so that they need not be searched.
//!
//! A file is read here and not mapped, which takes longer than to search it.
//! Both are shared out; what is found is the same.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use memchr::{memchr, memchr_iter};

use super::Pattern;
use super::candidates::Candidates;

/// What one processor reads at once, and how far it looks for the end of the
/// last line.
const BLOCK: u64 = 512 << 10;
const LAST_LINE: usize = 64 << 10;
const MOST_THREADS: usize = 4;

/// One block of the file, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) bytes: Range<u64>,
    /// Line breaks among its bytes.
    pub(super) breaks: u64,
    /// Where the first line starts after those that start in the block;
    /// absent where some of these may match.
    pub(super) clear_to: Option<u64>,
}

/// Runs `walk` with the verdicts on `bytes`, the first of which starts a line.
/// They end early where there is trouble, and with `walk` ends everything.
pub(super) fn look_ahead<T>(
    file: &File,
    pattern: &Pattern,
    bytes: Range<u64>,
    walk: impl FnOnce(&mut dyn Iterator<Item = Verdict>) -> T,
) -> T {
    let shared = Shared { file, pattern, bytes, taken: AtomicU64::new(0), stopped: AtomicBool::new(false) };
    let threads = thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads {
            let sender = sender.clone();
            // One that cannot be started leaves its work to the others, or to who walks.
            let _ = thread::Builder::new().spawn_scoped(scope, || shared.work(sender));
        }
        drop(sender);
        let walked = walk(&mut InOrder { receiver, early: BTreeMap::new(), next: 0 });
        shared.stopped.store(true, Ordering::Relaxed);
        walked
    })
}

struct Shared<'a> {
    file: &'a File,
    pattern: &'a Pattern,
    bytes: Range<u64>,
    /// Blocks that somebody looks at or has looked at.
    taken: AtomicU64,
    stopped: AtomicBool,
}

impl Shared<'_> {
    fn work(&self, verdicts: Sender<(u64, Verdict)>) {
        let mut buffer = vec![0; BLOCK as usize + LAST_LINE + 1];
        let mut candidates = Candidates::new(0);
        while !self.stopped.load(Ordering::Relaxed) {
            let number = self.taken.fetch_add(1, Ordering::Relaxed);
            let start = self.bytes.start + number * BLOCK;
            let block = start..self.bytes.end.min(start + BLOCK);
            if block.is_empty() {
                return;
            }
            let Ok(verdict) = self.judge(block, &mut buffer, &mut candidates) else { return };
            if verdicts.send((number, verdict)).is_err() {
                return;
            }
        }
    }

    fn judge(
        &self,
        block: Range<u64>,
        buffer: &mut [u8],
        candidates: &mut Candidates,
    ) -> io::Result<Verdict> {
        // The byte before tells whether a line starts with the block.
        let from = block.start.saturating_sub(1).max(self.bytes.start);
        let length = (block.end - from) as usize;
        self.file.read_exact_at(&mut buffer[..length], from)?;
        let before = (block.start - from) as usize;
        let breaks = memchr_iter(b'\n', &buffer[before..length]).count() as u64;
        let unclear = Verdict { bytes: block.clone(), breaks, clear_to: None };
        let first = if before == 0 { Some(0) } else { memchr(b'\n', &buffer[..length]).map(|at| at + 1) };
        let Some(first) = first.filter(|first| *first < length) else { return Ok(unclear) };
        let mut last = length;
        if buffer[length - 1] != b'\n' && block.end < self.bytes.end {
            let most = LAST_LINE.min((self.bytes.end - block.end) as usize);
            let rest = &mut buffer[length..length + most];
            self.file.read_exact_at(rest, block.end)?;
            match memchr(b'\n', rest) {
                Some(at) => last += at + 1,
                None if block.end + most as u64 == self.bytes.end => last += most,
                None => return Ok(unclear),
            }
        }
        let (lines, _) = candidates.find(self.pattern, &buffer[first..last])?;
        Ok(Verdict { clear_to: lines.is_empty().then_some(from + last as u64), ..unclear })
    }
}

/// Verdicts as they come, put in order.
struct InOrder {
    receiver: Receiver<(u64, Verdict)>,
    early: BTreeMap<u64, Verdict>,
    next: u64,
}

impl Iterator for InOrder {
    type Item = Verdict;

    fn next(&mut self) -> Option<Verdict> {
        loop {
            if let Some(verdict) = self.early.remove(&self.next) {
                self.next += 1;
                return Some(verdict);
            }
            let (number, verdict) = self.receiver.recv().ok()?;
            self.early.insert(number, verdict);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::reference::{ask, file, find, pattern};

    /// Lines of ever other lengths, some of which match.
    fn content(bytes: usize, every: usize) -> Vec<u8> {
        let mut content = Vec::new();
        let mut seed = 1_u64;
        for number in 1.. {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let long = if seed >> 40 & 0xfff == 0 { 300_000 } else { (seed >> 33) as usize % 200 };
            content.extend(std::iter::repeat_n(b'.', long));
            content.extend(if number % every == 0 { &b"needle\n"[..] } else { b"\n" });
            if content.len() > bytes {
                break;
            }
        }
        content
    }

    #[test]
    fn blocks_without_a_match_are_clear_and_no_others() {
        for every in [2, 4_000, 1_000_000] {
            let content = content(4 << 20, every);
            let end = content.len() as u64;
            let verdicts: Vec<Verdict> =
                look_ahead(&file(&content), &pattern("needle"), 0..end, |verdicts| verdicts.collect());
            assert_eq!(verdicts.len() as u64, end.div_ceil(BLOCK));
            for Verdict { bytes, breaks, clear_to } in verdicts {
                let range = bytes.start as usize..bytes.end as usize;
                assert_eq!(breaks, memchr_iter(b'\n', &content[range.clone()]).count() as u64);
                let Some(clear_to) = clear_to else { continue };
                let is_start = |at: usize| at == 0 || content[at - 1] == b'\n';
                let first = range.clone().find(|at| is_start(*at)).unwrap();
                assert!(is_start(clear_to as usize) && clear_to >= bytes.end);
                assert!(memchr::memmem::find(&content[first..clear_to as usize], b"needle").is_none());
            }
        }
    }

    #[test]
    fn a_long_file_is_searched_as_if_alone() {
        let content = content(20 << 20, 50_000);
        let expected: Vec<u64> = (1..)
            .zip(content.split(|c| *c == b'\n'))
            .filter(|(_, line)| line.ends_with(b"needle"))
            .map(|(number, _)| number)
            .collect();
        let found = ask(&content, find("needle", 1, 1000), None, 1 << 20);
        let numbers: Vec<u64> = found.matches.iter().map(|block| block.line_number).collect();
        assert_eq!(numbers, expected);
        assert_eq!(found.total_lines, Some(memchr_iter(b'\n', &content).count() as u64));
    }
}
