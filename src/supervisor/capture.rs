//! Keeps one output stream on disk, byte for byte, up to a limit.
//!
//! Past the limit the beginning and the end stay and the middle is left out,
//! with a line in its place that says how much. The writer never blocks the
//! agent and never grows with the output.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

use crate::host::files;
use crate::host::line_index::LineIndexWriter;
use crate::model::Streams;

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
    head_left: u64,
    segment: u64,
    /// The end of the stream, once the head is full: the last two of its segments.
    tail: Option<Tail>,
    index: LineIndexWriter,
    seen: Streams,
}

#[derive(Debug)]
struct Tail {
    number: u64,
    older: Option<PathBuf>,
    older_bytes: u64,
    newer: PathBuf,
    newer_bytes: u64,
    file: File,
}

impl Capture {
    /// Keeps at most about `limit` bytes at `path`.
    pub(crate) fn create(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = files::create_log(&path)?;
        let segment = (limit / 8).max(1);
        let head_left = limit.saturating_sub(2 * segment);
        let is_new = file.metadata()?.len() == 0;
        let index = if is_new { LineIndexWriter::new(&path) } else { LineIndexWriter::none() };
        Ok(Self { path, file: Some(file), head_left, segment, tail: None, index, seen: Streams::default() })
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
        let fits = bytes.len().min(usize::try_from(self.head_left).unwrap_or(usize::MAX));
        let (head, rest) = bytes.split_at(fits);
        let written = file.write_all(head).and_then(|()| {
            self.head_left -= head.len() as u64;
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

    fn write_tail(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut tail = match self.tail.take() {
            Some(tail) if tail.newer_bytes < self.segment => tail,
            full => self.turn(full)?,
        };
        tail.file.write_all(bytes)?;
        tail.newer_bytes += bytes.len() as u64;
        self.tail = Some(tail);
        Ok(())
    }

    /// Starts a new last segment; the one before the last is given up.
    fn turn(&mut self, full: Option<Tail>) -> io::Result<Tail> {
        let number = full.as_ref().map_or(1, |tail| tail.number + 1);
        if let Some(older) = full.as_ref().and_then(|tail| tail.older.as_ref()) {
            fs::remove_file(older)?;
        }
        self.seen.dropped_bytes += full.as_ref().map_or(0, |tail| tail.older_bytes);
        let newer = segment(&self.path, number);
        let file = files::create_log(&newer)?;
        let (older, older_bytes) = full.map_or((None, 0), |tail| (Some(tail.newer), tail.newer_bytes));
        Ok(Tail { number, older, older_bytes, newer, newer_bytes: 0, file })
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
            file.write_all(cut.as_bytes())?;
            passed(cut.as_bytes());
        }
        for part in tail.older.iter().chain([&tail.newer]) {
            append(part, file, &mut passed)?;
            fs::remove_file(part)?;
        }
        Ok(())
    }
}

/// Puts together what a capture left in pieces because its supervisor died.
/// The index ends where the beginning does: no more than the end has to be
/// counted by who reads it.
pub(crate) fn join_segments(path: &Path, cut: &str) -> io::Result<()> {
    let parts = segments(path);
    if parts.is_empty() {
        return Ok(());
    }
    let mut file = files::create_log(path)?;
    file.write_all(cut.as_bytes())?;
    for part in parts {
        append(&part, &mut file, |_| ())?;
        fs::remove_file(part)?;
    }
    Ok(())
}

/// The end of a stream that is still apart from its beginning.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    /// In order.
    pub(crate) parts: Vec<PathBuf>,
    /// Bytes between the beginning and these were given up.
    pub(crate) dropped: bool,
}

/// What is apart from the stream at `path`, `None` where it is whole.
pub(crate) fn apart(path: &Path) -> Option<Apart> {
    let parts = segments(path);
    let dropped = parts.first()? != &segment(path, 1);
    Some(Apart { parts, dropped })
}

fn segment(path: &Path, number: u64) -> PathBuf {
    path.with_extension(format!("tail-{number}"))
}

/// The segments beside `path`, oldest first.
fn segments(path: &Path) -> Vec<PathBuf> {
    let (Some(dir), Some(stem)) = (path.parent(), path.file_stem()) else { return Vec::new() };
    let number = |file: &Path| -> Option<u64> {
        let extension = file.extension()?.to_str()?;
        extension.strip_prefix("tail-")?.parse().ok().filter(|_| file.file_stem() == Some(stem))
    };
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = entries.filter_map(|file| Some((number(&file)?, file))).collect();
    found.sort();
    found.into_iter().map(|(_, file)| file).collect()
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
    fn what_a_dead_supervisor_left_in_pieces_is_put_together() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut capture = Capture::create(path.clone(), 16).unwrap();
        for bytes in ["0123456789ab", "AA", "BB", "CC"] {
            capture.write(bytes.as_bytes()).unwrap();
        }
        let parts = vec![segment(&path, 2), segment(&path, 3)];
        assert_eq!(apart(&path), Some(Apart { parts, dropped: true }));
        drop(capture);
        join_segments(&path, "[?]").unwrap();
        assert_eq!(apart(&path), None);
        assert_eq!(fs::read_to_string(&path).unwrap(), "0123456789ab[?]BBCC");
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
