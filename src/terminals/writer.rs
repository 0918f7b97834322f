//! Keeps the bytes of one session. What cannot be kept is missed from there
//! on; whoever hands the bytes in never notices.

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
use crate::terminals::time_index::{EVERY_BYTES, EVERY_MILLIS, Entry};

const RESERVED: usize = 8 << 10;

#[derive(Debug)]
pub(super) struct Recording {
    dir: PathBuf,
    meta: Meta,
    output: File,
    /// The index, until the first trouble with it: half an entry would shift
    /// all that come after it.
    times: Option<File>,
    /// Free again when this process ends, however it ends.
    _lock: Lock,
    bytes: u64,
    lines: u64,
    size: Size,
    last: Option<Entry>,
    /// Why nothing more is kept.
    trouble: Option<io::Error>,
}

impl Recording {
    /// Begins a recording in a new directory of `terminals`.
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
        // Whoever sees the record must see that it lives.
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

    /// The program runs, under this number.
    pub(super) fn started(&mut self, pid: i32) {
        self.meta.pid = Some(pid);
        // It is of use to people, and not needed.
        let _ = self.meta.write(&self.dir);
    }

    /// Keeps what the terminal was sent.
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
            // After trouble nobody knows the lines of what was kept last.
            if self.trouble.is_none() {
                self.note(now);
            }
        }
    }

    /// Adds to the index. A clock that was set back stands still there.
    fn note(&mut self, now: Timestamp) {
        let at = self.last.map_or(now, |last| last.at.max(now));
        let entry = Entry { at, offset: self.bytes, lines: self.lines, size: self.size };
        let Some(times) = &mut self.times else { return };
        // Without it, a moment is found less exactly.
        match times.write_all(&entry.encode()) {
            Ok(()) => self.last = Some(entry),
            Err(_) => self.times = None,
        }
    }

    /// Writes down how it ended. Says in one line what of it was not kept.
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

    /// Takes back a recording of what never began.
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
