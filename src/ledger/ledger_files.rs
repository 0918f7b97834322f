//! Writes a run's ledger and transcript to disk while its agent works.

use std::fs::File;
use std::io;
use std::io::Write;

use crate::evidence::LedgerEntry;
use crate::host::files;
use crate::ledger::output_stream::cut_line;
use crate::ledger::read;
use crate::ledger::write::LedgerSink;
use crate::model::{Request, Stdout};
use crate::runs::RunDir;
use crate::supervisor::StreamCapture;

/// If one of the files cannot be written, only the rest of that file is lost: the run goes on, and the raw
/// events are kept.
pub(crate) struct LedgerFiles {
    transcript: Option<StreamCapture>,
    ledger: Option<File>,
    /// How much of the transcript is already on disk when a run is resumed.
    bytes_there: u64,
    /// The number of the last entry that is already on disk. Those before it may have been lost.
    last_there: u64,
    trouble: Option<io::Error>,
}

impl LedgerFiles {
    pub(crate) fn create(dir: &RunDir, request: &Request) -> io::Result<Self> {
        Ok(Self {
            transcript: Some(StreamCapture::create(dir.transcript(), request.max_stream_bytes)?),
            ledger: Some(files::create_log(&dir.commands())?),
            bytes_there: 0,
            last_there: 0,
            trouble: None,
        })
    }

    /// Continues the files of a run whose supervisor died: what is already on disk is skipped when it is
    /// written again.
    pub(crate) fn resume(dir: &RunDir, request: &Request) -> io::Result<Self> {
        let length = std::fs::metadata(dir.transcript()).map_or(0, |found| found.len());
        let entries = if dir.commands().exists() { read::entries(dir) } else { Vec::new() };
        // Once the middle is left out, the position in the transcript is unknown.
        let is_cut = read::close_transcript(dir, entries.clone());
        let there = if is_cut { u64::MAX } else { length };
        let last = entries.last().map_or(0, |entry| entry.number);
        // The dying writer may have left half a line.
        let torn =
            std::fs::read(dir.commands()).is_ok_and(|bytes| !bytes.is_empty() && !bytes.ends_with(b"\n"));
        let mut pages = Self::create(dir, request)?;
        if let (true, Some(ledger)) = (torn, &mut pages.ledger) {
            ledger.write_all(b"\n")?;
        }
        Ok(Self { bytes_there: there, last_there: last, ..pages })
    }

    /// Neither file can be written, because of `error`.
    pub(crate) fn unwritable(error: io::Error) -> Self {
        Self { transcript: None, ledger: None, bytes_there: 0, last_there: 0, trouble: Some(error) }
    }

    /// Closes both files and returns the first write error.
    pub(crate) fn finish(self, dir: &RunDir) -> Option<io::Error> {
        let Some(capture) = self.transcript else { return self.trouble };
        let head = capture.head();
        let (seen, joined) = capture.finish(|dropped| cut_line(Stdout::Text, dropped));
        let moved = match seen.dropped_bytes {
            0 => Ok(()),
            dropped => read::shift_spans_after_cut(dir, read::entries(dir), head, dropped),
        };
        self.trouble.or(joined.and(moved).err())
    }
}

impl LedgerSink for LedgerFiles {
    fn transcript(&mut self, bytes: &[u8]) {
        let there = usize::try_from(self.bytes_there).map_or(bytes.len(), |there| there.min(bytes.len()));
        self.bytes_there -= there as u64;
        let Some(capture) = &mut self.transcript else { return };
        if let Err(error) = capture.write(&bytes[there..]) {
            self.trouble.get_or_insert(error);
            self.transcript = None;
        }
    }

    fn entry(&mut self, entry: &LedgerEntry) {
        if entry.number <= self.last_there {
            return;
        }
        let Some(ledger) = &mut self.ledger else { return };
        let written = serde_json::to_vec(entry).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            ledger.write_all(&line)
        });
        if let Err(error) = written {
            self.trouble.get_or_insert(error);
            self.ledger = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::evidence::{Printed, judge};

    #[test]
    fn an_entry_on_disk_is_not_written_again_though_one_before_it_was_lost() {
        let place = tempfile::tempdir().unwrap();
        let (dir, request) = (RunDir::at(place.path().join("run")), request());
        dir.create().unwrap();
        let entry = |number| {
            let end = read::only_command("make", "/w");
            judge(&crate::evidence::CommandEnd { number, ..end }, Printed::default())
        };
        read::rewrite(&dir, &[entry(1), entry(3)]).unwrap();
        let mut files = LedgerFiles::resume(&dir, &request).unwrap();
        (1..=4).for_each(|number| files.entry(&entry(number)));
        assert!(files.finish(&dir).is_none());
        let numbers: Vec<u64> = read::entries(&dir).iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, [1, 3, 4]);
    }
}
