//! Keeps one output stream on disk, byte for byte, up to a limit.
//!
//! Past the limit the beginning and the end stay and the middle is left out,
//! with a line in its place that says how much. What is beside it are whole
//! lines where there are any: half of one may end in half of a secret, which
//! nobody could tell. The writer never blocks the agent and never grows with
//! the output.

use std::fs;
use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::{memchr, memchr_iter, memrchr};

use crate::host::LineIndexWriter;
use crate::host::files;
use crate::model::Streams;

/// At the end two segments are copied behind the beginning, while somebody waits for the answer.
const LARGEST_SEGMENT: u64 = 8 << 20;
/// So much longer a segment may get for the rest of a line.
const LONGEST_REST: u64 = 64 << 10;

/// Which of the agent's two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug)]
pub(crate) struct Capture {
    path: PathBuf,
    file: Option<File>,
    /// Bytes at the beginning.
    head: u64,
    head_left: u64,
    /// Whether the beginning ends with a line so far.
    head_is_lines: bool,
    segment: u64,
    /// The end of the stream, once the head is full: the last two of its segments.
    tail: Option<Tail>,
    index: LineIndexWriter,
    seen: Streams,
}

#[derive(Debug)]
struct Tail {
    older: Option<PathBuf>,
    older_bytes: u64,
    newer: PathBuf,
    /// Where in the stream it begins, and how much there is of it.
    begins: u64,
    newer_bytes: u64,
    is_lines: bool,
    file: File,
}

impl Capture {
    /// Keeps at most about `limit` bytes at `path`.
    pub(crate) fn create(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = files::create_log(&path)?;
        let segment = (limit / 8).clamp(1, LARGEST_SEGMENT);
        let head_left = limit.saturating_sub(2 * segment);
        let head = file.metadata()?.len();
        let index = if head == 0 { LineIndexWriter::new(&path) } else { LineIndexWriter::none() };
        let (file, seen) = (Some(file), Streams::default());
        Ok(Self { path, file, head, head_left, head_is_lines: true, segment, tail: None, index, seen })
    }

    /// Writes `bytes`. After an error the stream is only counted.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.seen.bytes += bytes.len() as u64;
        let breaks = count_breaks(bytes);
        self.seen.lines += breaks;
        let Some(file) = &mut self.file else {
            self.seen.dropped_bytes += bytes.len() as u64;
            return Ok(());
        };
        let mut fits = bytes.len().min(usize::try_from(self.head_left).unwrap_or(usize::MAX));
        if fits < bytes.len() && self.head_left > 0 {
            fits = whole_lines(bytes, fits, self.head_is_lines);
        }
        let (head, rest) = bytes.split_at(fits);
        let written = file.write_all(head).and_then(|()| {
            self.head_left =
                if rest.is_empty() { self.head_left.saturating_sub(head.len() as u64) } else { 0 };
            self.head_is_lines = head.last().map_or(self.head_is_lines, |last| *last == b'\n');
            self.head += head.len() as u64;
            // Mostly all of it goes to the same place, and is counted already.
            self.index.passed(head.len() as u64, if rest.is_empty() { breaks } else { count_breaks(head) });
            if rest.is_empty() { Ok(()) } else { self.write_tail(rest) }
        });
        if written.is_err() {
            self.seen.dropped_bytes += bytes.len() as u64;
            self.file = None;
        }
        written
    }

    fn write_tail(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let mut tail = match self.tail.take() {
            Some(mut tail) if tail.newer_bytes >= self.segment => {
                let (rest, next) = bytes.split_at(tail.rest_of_line(bytes, self.segment));
                tail.write(rest)?;
                bytes = next;
                if next.is_empty() { tail } else { self.turn(Some(tail))? }
            }
            Some(tail) => tail,
            None => self.turn(None)?,
        };
        tail.write(bytes)?;
        self.tail = Some(tail);
        Ok(())
    }

    /// Starts a new last segment; the one before the last is given up.
    fn turn(&mut self, full: Option<Tail>) -> io::Result<Tail> {
        let begins = full.as_ref().map_or(self.head, |tail| tail.begins + tail.newer_bytes);
        if let Some(older) = full.as_ref().and_then(|tail| tail.older.as_ref()) {
            fs::remove_file(older)?;
        }
        self.seen.dropped_bytes += full.as_ref().map_or(0, |tail| tail.older_bytes);
        let newer = segment(&self.path, begins, self.head);
        let file = files::create_log(&newer)?;
        let (older, older_bytes) = full.map_or((None, 0), |tail| (Some(tail.newer), tail.newer_bytes));
        Ok(Tail { older, older_bytes, newer, begins, newer_bytes: 0, is_lines: true, file })
    }

    /// How many bytes its beginning has.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Whether all of it is in its one file.
    pub(crate) fn is_whole(&self) -> bool {
        self.file.is_some() && self.tail.is_none()
    }

    /// Puts beginning and end together and says what became of the stream.
    ///
    /// `cut` writes the line that stands for what was left out.
    pub(crate) fn finish(mut self, cut: impl Fn(u64) -> String) -> (Streams, io::Result<()>) {
        let joined = self.join(cut);
        (self.seen, joined)
    }

    fn join(&mut self, cut: impl Fn(u64) -> String) -> io::Result<()> {
        let (Some(tail), Some(file)) = (self.tail.take(), &mut self.file) else { return Ok(()) };
        let mut passed = |bytes: &[u8]| self.index.passed(bytes.len() as u64, count_breaks(bytes));
        if self.seen.dropped_bytes > 0 {
            let cut = cut(self.seen.dropped_bytes);
            let cut = after(self.head_is_lines, &cut);
            file.write_all(cut.as_bytes())?;
            passed(cut.as_bytes());
        }
        let parts: Vec<&PathBuf> = tail.older.iter().chain([&tail.newer]).collect();
        for part in &parts {
            append(part, file, &mut passed)?;
        }
        // Only now: who reads meanwhile finds all of them, or all in the file.
        parts.into_iter().try_for_each(fs::remove_file)
    }
}

impl Tail {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.newer_bytes += bytes.len() as u64;
        self.is_lines = bytes.last().map_or(self.is_lines, |last| *last == b'\n');
        Ok(())
    }

    /// How much of `bytes` belongs to the line that the last segment, which is
    /// full, has begun. A line without end is cut where it is.
    fn rest_of_line(&self, bytes: &[u8], segment: u64) -> usize {
        let is_endless = self.newer_bytes >= segment + LONGEST_REST.min(segment / 4);
        match memchr(b'\n', bytes) {
            _ if self.is_lines => 0,
            Some(at) => at + 1,
            None if is_endless => 0,
            None => bytes.len(),
        }
    }
}

/// Puts together what a capture left in pieces because its supervisor died.
/// The index ends where the beginning does: no more than the end has to be
/// counted by who reads it.
pub(crate) fn join_segments(path: &Path, cut: impl Fn(u64) -> String) -> io::Result<()> {
    if let Some(Apart { head, dropped, parts }) = apart(path) {
        let mut file = files::create_log(path)?;
        if file.metadata()?.len() > head {
            // Who put them together before did not come to its end.
            file.set_len(head)?;
        }
        if dropped > 0 {
            let is_lines = ends_line(&File::open(path)?, head);
            file.write_all(after(is_lines, &cut(dropped)).as_bytes())?;
        }
        parts.iter().try_for_each(|part| append(part, &mut file, |_| ()))?;
    }
    segments(path).into_iter().try_for_each(|part| fs::remove_file(part.path))
}

/// The end of a stream that is still apart from its beginning.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    /// So many bytes of the file are the beginning; what is behind them is the
    /// end as well, as far as it has been put there.
    pub(crate) head: u64,
    /// Bytes between the beginning and the parts that were given up.
    pub(crate) dropped: u64,
    /// In order.
    pub(crate) parts: Vec<PathBuf>,
}

/// What is apart from the stream at `path`, `None` where it is whole.
pub(crate) fn apart(path: &Path) -> Option<Apart> {
    let parts = segments(path);
    let Segment { begins, head, .. } = *parts.first()?;
    // Of two the older goes first, when both are in the file. It also does
    // where one more begins, but then nothing is behind the beginning.
    let is_left_over =
        parts.len() == 1 && begins > head && fs::symlink_metadata(path).is_ok_and(|file| file.len() > head);
    let parts = parts.into_iter().map(|part| part.path).collect();
    (!is_left_over).then_some(Apart { head, dropped: begins.saturating_sub(head), parts })
}

/// A part of a stream in a file of its own. Its name tells where it belongs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    begins: u64,
    head: u64,
    path: PathBuf,
}

/// Whether the first `length` bytes of a file end with a line.
pub(crate) fn ends_line(file: &File, length: u64) -> bool {
    let mut last = [0];
    length == 0 || file.read_exact_at(&mut last, length - 1).is_ok() && last == *b"\n"
}

/// What stands for the middle, which begins with a break, after whole lines or not.
pub(crate) fn after(is_lines: bool, cut: &str) -> &str {
    if is_lines { cut.strip_prefix('\n').unwrap_or(cut) } else { cut }
}

/// Where a line ends near `at`; there where none does. `begins` says whether
/// one begins with `bytes`.
fn whole_lines(bytes: &[u8], at: usize, begins: bool) -> usize {
    let beyond = &bytes[at..bytes.len().min(at + LONGEST_REST as usize)];
    match memrchr(b'\n', &bytes[..at]) {
        Some(end) => end + 1,
        None if begins => 0,
        None => memchr(b'\n', beyond).map_or(at, |end| at + end + 1),
    }
}

fn segment(path: &Path, begins: u64, head: u64) -> PathBuf {
    path.with_extension(format!("tail-{begins}-{head}"))
}

/// The segments beside `path`, oldest first.
fn segments(path: &Path) -> Vec<Segment> {
    let (Some(dir), Some(stem)) = (path.parent(), path.file_stem()) else { return Vec::new() };
    let segment = |path: PathBuf| -> Option<Segment> {
        let (begins, head) = path.extension()?.to_str()?.strip_prefix("tail-")?.split_once('-')?;
        let (begins, head) = (begins.parse().ok()?, head.parse().ok()?);
        (path.file_stem() == Some(stem)).then_some(Segment { begins, head, path })
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found: Vec<Segment> = entries.filter_map(|entry| segment(entry.path())).collect();
    found.sort();
    found
}

/// Appends a segment, and shows what was appended.
fn append(part: &Path, file: &mut File, mut passed: impl FnMut(&[u8])) -> io::Result<()> {
    let mut part = File::open(part)?;
    let mut chunk = vec![0; 64 << 10];
    loop {
        match part.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                file.write_all(&chunk[..read])?;
                passed(&chunk[..read]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn count_breaks(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::line_index::{LineIndex, beside};

    fn check(limit: u64, writes: &[&str], kept: &str, dropped: u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut capture = Capture::create(path.clone(), limit).unwrap();
        for bytes in writes {
            capture.write(bytes.as_bytes()).unwrap();
        }
        let (seen, joined) = capture.finish(|n| format!("[{n}]"));
        joined.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), kept);
        assert_eq!(seen.bytes, writes.iter().map(|w| w.len() as u64).sum::<u64>());
        assert_eq!(seen.dropped_bytes, dropped);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no segment is left behind");
    }

    #[test]
    fn what_fits_is_kept_byte_for_byte() {
        check(80, &["one\n", "two"], "one\ntwo", 0);
    }

    #[test]
    fn what_passes_the_head_is_still_whole_while_the_tail_holds_it() {
        check(16, &["0123456789ab", "cd", "ef"], "0123456789abcdef", 0);
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        check(16, &["0123456789ab", "AA", "BB", "CC", "DD"], "0123456789ab[4]CCDD", 4);
    }

    #[test]
    fn lines_stay_whole_beside_what_is_left_out() {
        let lines = ["0123\n", "4567\n8", "9\n", "AA\n", "BBB", "B\nC", "C\n", "DD\n"];
        check(16, &lines, "0123\n4567\n89\n[8]CC\nDD\n", 8);
        check(16, &[&lines.concat()], &lines.concat(), 0);
        // Also one that the beginning has no room for at all.
        check(16, &["0123456789\n", "abc\n", "defg\n"], "0123456789\nabc\ndefg\n", 0);
    }

    #[test]
    fn what_a_dead_supervisor_left_in_pieces_is_put_together() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut capture = Capture::create(path.clone(), 16).unwrap();
        for bytes in ["0123456789ab", "AA", "BB", "CC"] {
            capture.write(bytes.as_bytes()).unwrap();
        }
        let parts = vec![segment(&path, 14, 12), segment(&path, 16, 12)];
        let expected = Some(Apart { head: 12, dropped: 2, parts: parts.clone() });
        assert_eq!(apart(&path), expected);
        drop(capture);
        let join = || join_segments(&path, |n| format!("[{n}]")).unwrap();
        let whole = "0123456789ab[2]BBCC";
        // It may have died while it put them together itself, ...
        fs::write(&path, "0123456789ab[2]B").unwrap();
        assert_eq!(apart(&path), expected);
        join();
        assert_eq!((apart(&path), fs::read_to_string(&path).unwrap()), (None, whole.into()));
        // ... or when it had, and removed them.
        fs::write(&parts[1], "CC").unwrap();
        assert_eq!(apart(&path), None);
        join();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_index_knows_the_lines_of_head_cut_and_tail() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut capture = Capture::create(path.clone(), 8 << 20).unwrap();
        let line = [&[b'x'; 99][..], b"\n"].concat().repeat(700);
        for _ in 0..200 {
            capture.write(&line).unwrap();
        }
        let (seen, joined) = capture.finish(|n| format!("[{n}]\n"));
        joined.unwrap();
        assert!(seen.dropped_bytes > 0);
        let kept = fs::read(&path).unwrap();
        let index = LineIndex::read(File::open(beside(&path)).unwrap());
        let last = index.last(u64::MAX);
        assert!(last.offset > kept.len() as u64 - (2 << 20), "{last:?} of {}", kept.len());
        for size in (0..kept.len()).step_by(1 << 19) {
            let point = index.last(size as u64);
            assert_eq!(point.breaks, count_breaks(&kept[..point.offset as usize]));
        }
    }

    #[test]
    fn an_index_that_cannot_be_written_does_not_harm_the_stream() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        fs::create_dir(beside(&path)).unwrap();
        let mut capture = Capture::create(path.clone(), 8 << 20).unwrap();
        let bytes = vec![b'\n'; 3 << 20];
        capture.write(&bytes).unwrap();
        let (seen, joined) = capture.finish(|n| format!("[{n}]"));
        joined.unwrap();
        assert_eq!((seen.lines, fs::read(&path).unwrap().len()), (3 << 20, 3 << 20));
    }

    #[test]
    fn lines_are_counted_even_where_they_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = Capture::create(dir.path().join("log"), 8).unwrap();
        for _ in 0..100 {
            capture.write(b"x\ny\n").unwrap();
        }
        let (seen, _) = capture.finish(|n| format!("[{n}]\n"));
        assert_eq!((seen.lines, seen.bytes), (200, 400));
    }
}
