//! The time index of a recording: when each byte was written, how many lines came before it, and
//! the window size.
//!
//! It consists of fixed-size entries that are only appended. Incomplete or implausible entries are
//! ignored; the recording can be read without the index.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::host::Size;
use crate::model::Timestamp;

pub(super) const ENTRY: usize = 32;
/// Precision of times.
pub(super) const EVERY_MILLIS: i64 = 200;
/// Bytes between entries, which limits how many lines have to be counted.
pub(super) const EVERY_BYTES: u64 = 1 << 20;

/// At time `at`, the recording had this many bytes and line feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeEntry {
    pub(super) at: Timestamp,
    pub(super) offset: u64,
    pub(super) lines: u64,
    pub(super) size: Size,
}

impl TimeEntry {
    pub(super) fn encode(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..8].copy_from_slice(&self.at.as_millis().to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.lines.to_le_bytes());
        bytes[24..26].copy_from_slice(&self.size.columns.to_le_bytes());
        bytes[26..28].copy_from_slice(&self.size.rows.to_le_bytes());
        bytes
    }

    fn decode(bytes: [u8; ENTRY]) -> TimeEntry {
        let number = |at: usize| {
            let mut part = [0; 8];
            part.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(part)
        };
        TimeEntry {
            at: Timestamp::from_millis(number(0) as i64),
            offset: number(8),
            lines: number(16),
            size: Size {
                columns: u16::from_le_bytes([bytes[24], bytes[25]]),
                rows: u16::from_le_bytes([bytes[26], bytes[27]]),
                pixels: (0, 0),
            },
        }
    }
}

/// An entry is written before its bytes, which may be late by this much.
const LATE_MILLIS: i64 = 1000;

/// The index of a recording of `length` bytes.
#[derive(Debug)]
pub(super) struct TimeIndex {
    file: Option<File>,
    entries: u64,
    length: u64,
    /// When the last byte was written.
    written: Timestamp,
}

impl TimeIndex {
    /// Works without a file too, but then knows nothing.
    pub(super) fn open(file: Option<File>, length: u64, written: Timestamp) -> Self {
        let bytes = file.as_ref().and_then(|file| file.metadata().ok()).map_or(0, |found| found.len());
        Self { file, entries: bytes / ENTRY as u64, length, written }
    }

    fn entry(&self, number: u64) -> Option<TimeEntry> {
        let file = self.file.as_ref().filter(|_| number < self.entries)?;
        let mut bytes = [0; ENTRY];
        let read: io::Result<()> = file.read_exact_at(&mut bytes, number * ENTRY as u64);
        read.ok()?;
        Some(TimeEntry::decode(bytes))
            .filter(|entry| entry.offset <= self.length && entry.lines <= entry.offset)
    }

    /// The number of leading entries that are `early`.
    fn count(&self, early: impl Fn(TimeEntry) -> bool) -> u64 {
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            // An implausible entry counts as late.
            if self.entry(middle).is_some_and(&early) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The last entry at or before a byte.
    pub(super) fn before(&self, offset: u64) -> Option<TimeEntry> {
        self.entry(self.count(|entry| entry.offset <= offset).checked_sub(1)?)
    }

    /// Where the output since `moment` begins: never later, and at most a fifth of a second
    /// earlier.
    pub(super) fn since(&self, moment: Timestamp) -> u64 {
        if self.file.is_none() && self.written < moment {
            return self.length;
        }
        let early = self.count(|entry| entry.at <= moment);
        let Some(last) = early.checked_sub(1).and_then(|number| self.entry(number)) else { return 0 };
        if moment.as_millis() - last.at.as_millis() < EVERY_MILLIS {
            return last.offset;
        }
        // Output after that would have an entry of its own, unless the index ended before the
        // recording.
        let ended = self.written.as_millis().saturating_sub(last.at.as_millis()) > LATE_MILLIS;
        let rest = if ended { last.offset } else { self.length };
        self.entry(early).map_or(rest, |next| next.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn index(entries: &[(i64, u64)], damage: &[u8], length: u64) -> TimeIndex {
        let mut file = tempfile::tempfile().unwrap();
        for &(at, offset) in entries {
            let entry =
                TimeEntry { at: Timestamp::from_millis(at), offset, lines: offset / 10, size: Size::USUAL };
            file.write_all(&entry.encode()).unwrap();
        }
        file.write_all(damage).unwrap();
        let last = entries.last().map_or(0, |(at, _)| *at);
        TimeIndex::open(Some(file), length, Timestamp::from_millis(last + 150))
    }

    #[track_caller]
    fn check(index: &TimeIndex, since: i64, expected: u64) {
        assert_eq!(index.since(Timestamp::from_millis(since)), expected, "{since}");
    }

    #[test]
    fn output_since_a_moment_begins_no_later_than_it() {
        let index = index(&[(1000, 0), (1300, 50), (9000, 80)], b"", 100);
        check(&index, 0, 0);
        check(&index, 1100, 0);
        check(&index, 1250, 50);
        check(&index, 1300, 50);
        check(&index, 5000, 80);
        check(&index, 9100, 80);
        check(&index, 9200, 100);
    }

    #[test]
    fn a_byte_is_found_with_the_lines_before_it() {
        let index = index(&[(1000, 0), (1300, 50), (9000, 80)], b"", 100);
        let found = |offset| index.before(offset).map(|entry| (entry.offset, entry.lines));
        assert_eq!(found(0), Some((0, 0)));
        assert_eq!(found(79), Some((50, 5)));
        assert_eq!(found(99), Some((80, 8)));
    }

    #[test]
    fn an_index_that_ended_early_hides_nothing_of_what_came_after() {
        let mut index = index(&[(1000, 0), (1300, 50)], b"", 100);
        check(&index, 5000, 100);
        index.written = Timestamp::from_millis(6000);
        check(&index, 1100, 0);
        check(&index, 5000, 50);
    }

    #[test]
    fn damage_costs_no_more_than_what_is_damaged() {
        let half = index(&[(1000, 0), (1300, 50)], &[7; 13], 100);
        check(&half, 1300, 50);
        let foreign = index(&[(1000, 0), (1300, 50)], &[0xff; 64], 100);
        check(&foreign, 1300, 50);
        check(&foreign, 9000, 100);
        let none = TimeIndex::open(None, 100, Timestamp::from_millis(9000));
        check(&none, 5, 0);
        assert_eq!(none.before(5), None);
    }
}
