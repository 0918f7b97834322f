//! Writes one output stream to disk, byte for byte, up to a limit.
//!
//! Beyond the limit the beginning and the end are kept, and one line says how much was left out
//! between them. The cut is made between lines if possible, because half a line may end in half a
//! secret that redaction would miss. Memory use does not grow with the output, and writing never
//! blocks the agent.

use std::fs;
use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::{memchr, memchr_iter, memrchr};

use crate::host::LineIndexWriter;
use crate::host::files;
use crate::model::StreamTotals;

/// At the end of the run two segments of each stream, and of the transcript, are copied behind the
/// beginning, while somebody waits for the answer.
const LARGEST_SEGMENT: u64 = 4 << 20;
/// How much longer a segment may get to complete a line.
const LONGEST_REST: u64 = 64 << 10;

/// Which of the agent's two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

#[derive(Debug)]
pub(crate) struct StreamCapture {
    path: PathBuf,
    file: Option<File>,
    /// Bytes in the beginning.
    head: u64,
    head_left: u64,
    /// Whether the beginning currently ends with a whole line.
    head_is_lines: bool,
    segment: u64,
    /// The end of the stream once the beginning is full: its last two segments.
    tail: Option<Tail>,
    index: LineIndexWriter,
    seen: StreamTotals,
}

#[derive(Debug)]
struct Tail {
    older: Option<PathBuf>,
    older_bytes: u64,
    newer: PathBuf,
    /// The offset in the stream at which `newer` begins.
    begins: u64,
    newer_bytes: u64,
    is_lines: bool,
    file: File,
}

impl StreamCapture {
    /// Keeps at most about `limit` bytes at `path`.
    pub(crate) fn create(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = files::create_log(&path)?;
        let segment = (limit / 8).clamp(1, LARGEST_SEGMENT);
        let head_left = limit.saturating_sub(2 * segment);
        let head = file.metadata()?.len();
        let index = if head == 0 { LineIndexWriter::new(&path) } else { LineIndexWriter::none() };
        let (file, seen) = (Some(file), StreamTotals::default());
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
            // Usually all of it goes to one place and is counted already.
            self.index.add(head.len() as u64, if rest.is_empty() { breaks } else { count_breaks(head) });
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

    /// Starts a new segment and drops the one before the last.
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

    /// Length of the beginning.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Whether the whole stream is in one file.
    pub(crate) fn is_whole(&self) -> bool {
        self.file.is_some() && self.tail.is_none()
    }

    /// Joins the beginning and the end. `cut` writes the line that stands for what was left out.
    pub(crate) fn finish(mut self, cut: impl Fn(u64) -> String) -> (StreamTotals, io::Result<()>) {
        let joined = self.join(cut);
        (self.seen, joined)
    }

    fn join(&mut self, cut: impl Fn(u64) -> String) -> io::Result<()> {
        let (Some(tail), Some(file)) = (self.tail.take(), &mut self.file) else { return Ok(()) };
        let mut passed = |bytes: &[u8]| self.index.add(bytes.len() as u64, count_breaks(bytes));
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
        // Removed last, so that a reader finds all segments or the whole file.
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

    /// How many of `bytes` complete the line that the full last segment has begun. An endless line
    /// is cut where it is.
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

/// Joins the segments that a supervisor left when it died. The line index still ends with the
/// beginning, so readers count the lines of the end.
pub(crate) fn join_segments(path: &Path, cut: impl Fn(u64) -> String) -> io::Result<()> {
    if let Some(SplitStream { head, dropped, parts }) = split_stream(path) {
        let mut file = files::create_log(path)?;
        if file.metadata()?.len() > head {
            // An earlier join was interrupted.
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

/// A stream whose end is still in separate segments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SplitStream {
    /// Length of the beginning. Anything behind it in the file is part of an interrupted join.
    pub(crate) head: u64,
    /// Bytes left out between the beginning and the segments.
    pub(crate) dropped: u64,
    pub(crate) parts: Vec<PathBuf>,
}

/// The segments of the stream at `path`, `None` if it is one whole file.
pub(crate) fn split_stream(path: &Path) -> Option<SplitStream> {
    let parts = segments(path);
    let Segment { begins, head, .. } = *parts.first()?;
    // A join removes the older segment first, once both are in the file. Starting a new segment
    // removes the oldest too, but then the file has nothing behind the beginning.
    let is_left_over =
        parts.len() == 1 && begins > head && fs::symlink_metadata(path).is_ok_and(|file| file.len() > head);
    let parts = parts.into_iter().map(|part| part.path).collect();
    (!is_left_over).then_some(SplitStream { head, dropped: begins.saturating_sub(head), parts })
}

/// A part of a stream in a file of its own, whose name says where it belongs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Segment {
    begins: u64,
    head: u64,
    path: PathBuf,
}

/// Whether the first `length` bytes of a file end with a whole line.
pub(crate) fn ends_line(file: &File, length: u64) -> bool {
    let mut last = [0];
    length == 0 || file.read_exact_at(&mut last, length - 1).is_ok() && last == *b"\n"
}

/// The text of the cut, which starts with a line break, without that break if `is_lines`.
pub(crate) fn after(is_lines: bool, cut: &str) -> &str {
    if is_lines { cut.strip_prefix('\n').unwrap_or(cut) } else { cut }
}

/// The end of a line near `at`, or `at` if there is none. `begins` says whether `bytes` starts at
/// the beginning of a line.
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

/// The segments of `path`, oldest first.
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

/// Appends a segment and calls `passed` with the appended bytes.
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
    use crate::host::line_index::{LineIndex, sidecar_path};

    fn check(limit: u64, writes: &[&str], kept: &str, dropped: u64) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.jsonl");
        let mut capture = StreamCapture::create(path.clone(), limit).unwrap();
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
        // Also a line for which the beginning has no room at all.
        check(16, &["0123456789\n", "abc\n", "defg\n"], "0123456789\nabc\ndefg\n", 0);
    }

    #[test]
    fn what_a_dead_supervisor_left_in_pieces_is_put_together() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut capture = StreamCapture::create(path.clone(), 16).unwrap();
        for bytes in ["0123456789ab", "AA", "BB", "CC"] {
            capture.write(bytes.as_bytes()).unwrap();
        }
        let parts = vec![segment(&path, 14, 12), segment(&path, 16, 12)];
        let expected = Some(SplitStream { head: 12, dropped: 2, parts: parts.clone() });
        assert_eq!(split_stream(&path), expected);
        drop(capture);
        let join = || join_segments(&path, |n| format!("[{n}]")).unwrap();
        let whole = "0123456789ab[2]BBCC";
        // The supervisor may have died during the join ...
        fs::write(&path, "0123456789ab[2]B").unwrap();
        assert_eq!(split_stream(&path), expected);
        join();
        assert_eq!((split_stream(&path), fs::read_to_string(&path).unwrap()), (None, whole.into()));
        // ... or after the join, while removing the segments.
        fs::write(&parts[1], "CC").unwrap();
        assert_eq!(split_stream(&path), None);
        join();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_index_knows_the_lines_of_head_cut_and_tail() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut capture = StreamCapture::create(path.clone(), 8 << 20).unwrap();
        let line = [&[b'x'; 99][..], b"\n"].concat().repeat(700);
        for _ in 0..200 {
            capture.write(&line).unwrap();
        }
        let (seen, joined) = capture.finish(|n| format!("[{n}]\n"));
        joined.unwrap();
        assert!(seen.dropped_bytes > 0);
        let kept = fs::read(&path).unwrap();
        let index = LineIndex::read(File::open(sidecar_path(&path)).unwrap());
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
        fs::create_dir(sidecar_path(&path)).unwrap();
        let mut capture = StreamCapture::create(path.clone(), 8 << 20).unwrap();
        let bytes = vec![b'\n'; 3 << 20];
        capture.write(&bytes).unwrap();
        let (seen, joined) = capture.finish(|n| format!("[{n}]"));
        joined.unwrap();
        assert_eq!((seen.lines, fs::read(&path).unwrap().len()), (3 << 20, 3 << 20));
    }

    #[test]
    fn lines_are_counted_even_where_they_are_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let mut capture = StreamCapture::create(dir.path().join("log"), 8).unwrap();
        for _ in 0..100 {
            capture.write(b"x\ny\n").unwrap();
        }
        let (seen, _) = capture.finish(|n| format!("[{n}]\n"));
        assert_eq!((seen.lines, seen.bytes), (200, 400));
    }
}
