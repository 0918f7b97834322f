//! Writes the time index of a run's output. Output has no window size and mostly arrives at once,
//! in which case no file is needed.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Write;
use std::path::PathBuf;

use memchr::memchr_iter;

use crate::host::Size;
use crate::host::files;
use crate::model::Timestamp;
use crate::terminals::time_index::{EVERY_BYTES, EVERY_MILLIS, TimeEntry};

const NO_WINDOW: Size = Size { columns: 0, rows: 0, pixels: (0, 0) };

/// Records when each byte arrived.
#[derive(Debug)]
pub(crate) struct OutputTimes {
    path: PathBuf,
    state: State,
    bytes: u64,
    lines: u64,
}

#[derive(Debug)]
enum State {
    /// Nothing arrived yet, or only one burst: there is no file.
    Begun(Option<TimeEntry>),
    Going(TimeEntry, File),
    Over,
}

impl OutputTimes {
    /// For an output that is still empty.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, state: State::Begun(None), bytes: 0, lines: 0 }
    }

    /// Records bytes that are about to be appended to the output.
    pub(crate) fn passed(&mut self, bytes: &[u8], now: Timestamp) {
        if self.note(now).is_err() {
            self.give_up();
        }
        self.bytes += bytes.len() as u64;
        self.lines += memchr_iter(b'\n', bytes).count() as u64;
    }

    fn note(&mut self, now: Timestamp) -> io::Result<()> {
        let (offset, lines) = (self.bytes, self.lines);
        // If the clock goes back, the recorded time stands still.
        let entry = |at: Timestamp| TimeEntry { at: at.max(now), offset, lines, size: NO_WINDOW };
        let is_due = |last: &TimeEntry| {
            now.as_millis() - last.at.as_millis() >= EVERY_MILLIS || offset - last.offset >= EVERY_BYTES
        };
        match &mut self.state {
            State::Begun(first @ None) => *first = Some(entry(now)),
            State::Begun(Some(first)) if is_due(first) => {
                let next = entry(first.at);
                let mut file = files::create_log(&self.path)?;
                file.write_all(&[first.encode(), next.encode()].concat())?;
                self.state = State::Going(next, file);
            }
            State::Going(last, file) if is_due(last) => {
                let next = entry(last.at);
                file.write_all(&next.encode())?;
                *last = next;
            }
            State::Begun(Some(_)) | State::Going(..) | State::Over => {}
        }
        Ok(())
    }

    /// Gives up: later times are unknown. Removes the file, because an index that ends before its
    /// output would claim that there is no more.
    pub(crate) fn give_up(&mut self) {
        if let State::Going(..) = self.state {
            let _ = fs::remove_file(&self.path);
        }
        self.state = State::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::super::time_index::TimeIndex;
    use super::*;

    fn moment(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn what_comes_at_once_needs_no_index() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("times");
        let mut times = OutputTimes::new(path.clone());
        times.passed(b"a\n", moment(1000));
        times.passed(b"b\n", moment(1199));
        assert!(!path.exists());
        times.passed(b"c\n", moment(1200));
        assert!(path.exists());
        times.give_up();
        times.passed(b"d\n", moment(9000));
        assert!(!path.exists());
    }

    #[test]
    fn a_moment_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("times");
        let mut times = OutputTimes::new(path.clone());
        for (at, text) in [(1000, "one\n"), (1100, "two\n"), (5000, "three\n"), (4000, "four\n"), (9000, "x")]
        {
            times.passed(text.as_bytes(), moment(at));
        }
        let index = TimeIndex::open(Some(File::open(path).unwrap()), 20, moment(9000));
        for (since, offset) in [(0, 0), (1000, 0), (1300, 8), (5000, 8), (5200, 19), (9000, 19), (9300, 20)] {
            assert_eq!(index.since(moment(since)), offset, "{since}");
        }
        assert_eq!(index.before(19).unwrap().lines, 4);
    }
}
