//! Writes the recording of a session. After a write error the rest is not recorded, and the session
//! continues unaffected.

use std::fs;
use std::fs::File;
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::host::Lock;
use crate::host::Size;
use crate::host::{Durability, files};
use crate::model::{Exit, TerminalId, Timestamp};
use crate::terminals::file_names::{LOCK, OUTPUT, RESERVE, TIMES};
use crate::terminals::meta::Meta;
use crate::terminals::time_index::{EVERY_BYTES, EVERY_MILLIS, TimeEntry};

const RESERVED: usize = 8 << 10;

#[derive(Debug)]
pub(super) struct Recording {
    dir: PathBuf,
    meta: Meta,
    output: File,
    /// The index, until the first error: half an entry would shift all that follow.
    times: Option<File>,
    /// Released when this process ends.
    _lock: Lock,
    bytes: u64,
    lines: u64,
    size: Size,
    last: Option<TimeEntry>,
    /// Why recording stopped.
    trouble: Option<io::Error>,
}

impl Recording {
    /// Starts a recording in a new directory below `terminals`.
    pub(super) fn begin(terminals: &Path, meta: Meta, size: Size) -> io::Result<Self> {
        files::ensure_dir(terminals)?;
        let dir = terminals.join(meta.terminal_id.as_str());
        files::create_dir(&dir)?;
        let begun = Self::begin_in(&dir, meta, size);
        if begun.is_err() {
            let _ = fs::remove_dir_all(&dir);
        }
        begun
    }

    fn begin_in(dir: &Path, meta: Meta, size: Size) -> io::Result<Self> {
        // Taken first, so that the recording counts as live once it is visible.
        let lock = Lock::take(&dir.join(LOCK))?.ok_or(io::ErrorKind::AlreadyExists)?;
        files::write(&dir.join(RESERVE), &[0; RESERVED], Durability::Whole)?;
        let output = files::create_log(&dir.join(OUTPUT))?;
        let times = files::create_log(&dir.join(TIMES))?;
        meta.write(dir)?;
        Ok(Self {
            dir: dir.to_owned(),
            meta,
            output,
            times: Some(times),
            _lock: lock,
            bytes: 0,
            lines: 0,
            size,
            last: None,
            trouble: None,
        })
    }

    pub(super) fn id(&self) -> &TerminalId {
        &self.meta.terminal_id
    }

    /// Records the process id of the program.
    pub(super) fn started(&mut self, pid: i32) {
        self.meta.pid = Some(pid);
        // Informational only.
        let _ = self.meta.write(&self.dir);
    }

    /// Records output.
    pub(super) fn write(&mut self, bytes: &[u8], now: Timestamp) {
        if self.trouble.is_some() {
            return;
        }
        let due = self.last.is_none_or(|last| {
            now.as_millis() - last.at.as_millis() >= EVERY_MILLIS || self.bytes - last.offset >= EVERY_BYTES
        });
        if due {
            self.note(now);
        }
        match self.output.write_all(bytes) {
            Ok(()) => {
                self.bytes += bytes.len() as u64;
                self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
            }
            // A gap would make everything after it wrong.
            Err(error) => {
                self.bytes = self.output.metadata().map_or(self.bytes, |found| found.len());
                self.trouble = Some(error);
            }
        }
    }

    pub(super) fn resize(&mut self, size: Size, now: Timestamp) {
        if size != self.size {
            self.size = size;
            // After an error the line count is unknown.
            if self.trouble.is_none() {
                self.note(now);
            }
        }
    }

    /// Adds an index entry. If the clock goes back, the recorded time stands still.
    fn note(&mut self, now: Timestamp) {
        let at = self.last.map_or(now, |last| last.at.max(now));
        let entry = TimeEntry { at, offset: self.bytes, lines: self.lines, size: self.size };
        let Some(times) = &mut self.times else { return };
        // Without the index, times are less precise.
        match times.write_all(&entry.encode()) {
            Ok(()) => self.last = Some(entry),
            Err(_) => self.times = None,
        }
    }

    /// Records the end. Returns what was not recorded, in one line.
    pub(super) fn finish(mut self, exit: Option<Exit>, now: Timestamp) -> Option<String> {
        let told = self.trouble.map(|error| {
            format!("only the first {} bytes of this terminal were recorded: {error}", self.bytes)
        });
        self.meta.ended_at = Some(now);
        self.meta.exit = exit;
        self.meta.incomplete.clone_from(&told);
        let _ = fs::remove_file(self.dir.join(RESERVE));
        match self.meta.write(&self.dir) {
            Ok(()) => told,
            Err(error) => {
                told.or_else(|| Some(format!("the end of this terminal was not recorded: {error}")))
            }
        }
    }

    /// Deletes a recording whose program did not start.
    pub(super) fn discard(self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::super::meta::VERSION;
    use super::*;

    fn begun(dir: &Path) -> Recording {
        let meta = Meta {
            version: VERSION,
            terminal_id: "term-0a1b2c3d4e5f".parse().unwrap(),
            name: None,
            command: Vec::new(),
            cwd: PathBuf::new(),
            project: PathBuf::new(),
            pid: None,
            columns: 80,
            rows: 24,
            started_at: Timestamp::from_millis(0),
            ended_at: None,
            exit: None,
            incomplete: None,
        };
        Recording::begin(&dir.join("terminals"), meta, Size::USUAL).unwrap()
    }

    #[test]
    fn an_index_ends_with_the_first_trouble_and_the_recording_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut recording = begun(dir.path());
        recording.write(b"one\n", Timestamp::from_millis(1000));
        let times = recording.dir.join(TIMES);
        let whole = fs::read(&times).unwrap();
        assert_eq!(whole.len(), 32);
        // It may be read alone; what was written may have been half an entry.
        let usual = recording.times.replace(File::open(&times).unwrap());
        recording.write(b"two\n", Timestamp::from_millis(2000));
        assert!(usual.is_some() && recording.times.is_none());
        recording.write(b"three\n", Timestamp::from_millis(3000));
        recording.resize(Size { columns: 99, ..Size::USUAL }, Timestamp::from_millis(4000));
        assert_eq!(fs::read(&times).unwrap(), whole);
        assert_eq!(fs::read(recording.dir.join(OUTPUT)).unwrap(), b"one\ntwo\nthree\n");
        assert_eq!(recording.finish(None, Timestamp::from_millis(5000)), None);
    }

    #[test]
    fn after_trouble_with_the_output_nothing_is_indexed() {
        let dir = tempfile::tempdir().unwrap();
        let mut recording = begun(dir.path());
        recording.output = File::open(recording.dir.join(OUTPUT)).unwrap();
        recording.write(b"one\n", Timestamp::from_millis(1000));
        let times = fs::read(recording.dir.join(TIMES)).unwrap();
        recording.resize(Size { columns: 99, ..Size::USUAL }, Timestamp::from_millis(2000));
        assert_eq!(fs::read(recording.dir.join(TIMES)).unwrap(), times);
        assert!(recording.finish(None, Timestamp::from_millis(3000)).unwrap().contains("first 0 bytes"));
    }
}
