//! An index of line numbers in a long file, kept in a sidecar file.
//!
//! `stdout.log.lines` beside `stdout.log` records about once per mebibyte how many line breaks
//! precede that byte. With it, lines can be counted and found without reading the whole file. The
//! index is optional: a file below one mebibyte has none, a write error ends it, and implausible
//! entries are ignored.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::host::files;

/// Bytes between two checkpoints.
const STEP: u64 = 1 << 20;
const ENTRY: usize = 16;
/// Maximum number of checkpoints read, enough for 256 GiB.
const MOST: u64 = 1 << 18;

/// The path of the index of `path`.
pub(crate) fn sidecar_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".lines");
    name.into()
}

/// Writes the index of a file that is only appended to.
#[derive(Debug)]
pub(crate) struct LineIndexWriter {
    path: PathBuf,
    file: Option<File>,
    here: Checkpoint,
    /// The offset of the next checkpoint; `u64::MAX` after an error.
    due: u64,
}

/// The number of line breaks in the first `offset` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Checkpoint {
    pub(crate) offset: u64,
    pub(crate) breaks: u64,
}

impl LineIndexWriter {
    /// For the file at `path`, which must be empty. Nothing is written until the file is long
    /// enough.
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: sidecar_path(path), file: None, here: Checkpoint::default(), due: STEP }
    }

    /// For a file that was not empty: writes no index.
    pub(crate) fn none() -> Self {
        Self { path: PathBuf::new(), file: None, here: Checkpoint::default(), due: u64::MAX }
    }

    /// Counts appended bytes and the line breaks among them.
    pub(crate) fn add(&mut self, bytes: u64, breaks: u64) {
        self.here.offset = self.here.offset.saturating_add(bytes);
        self.here.breaks += breaks;
        if self.here.offset >= self.due {
            // A missing entry does no harm, but half an entry would corrupt the index.
            self.due = self.append().map_or(u64::MAX, |()| self.here.offset.saturating_add(STEP));
        }
    }

    fn append(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(files::create_log(&self.path)?),
        };
        file.write_all(&self.here.to_bytes())
    }
}

impl Checkpoint {
    fn to_bytes(self) -> [u8; ENTRY] {
        let mut bytes = [0; ENTRY];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..].copy_from_slice(&self.breaks.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; ENTRY]) -> Self {
        let (offset, breaks) = bytes.split_at(8);
        let number = |part: &[u8]| part.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        Self { offset: number(offset), breaks: number(breaks) }
    }

    /// Whether `later` can be a later checkpoint of the same file.
    fn leads_to(self, later: Self) -> bool {
        later.offset > self.offset
            && later.breaks >= self.breaks
            && later.breaks - self.breaks <= later.offset - self.offset
    }
}

/// The checkpoints of a file in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LineIndex(Vec<Checkpoint>);

impl LineIndex {
    /// Reads an index up to the first implausible entry.
    pub(crate) fn read(sidecar: impl Read) -> Self {
        let mut bytes = Vec::new();
        // What was read before an error is still valid.
        let _ = sidecar.take(MOST * ENTRY as u64).read_to_end(&mut bytes);
        let (entries, _torn) = bytes.as_chunks::<ENTRY>();
        let mut last = Checkpoint::default();
        let sound = entries.iter().map(Checkpoint::from_bytes).take_while(|next| {
            let sound = last.leads_to(*next);
            last = *next;
            sound
        });
        Self(sound.collect())
    }

    /// The part of the index for the first `size` bytes.
    pub(crate) fn within(mut self, size: u64) -> Self {
        self.0.truncate(self.0.partition_point(|point| point.offset <= size));
        self
    }

    /// The last checkpoint within the first `size` bytes.
    pub(crate) fn last(&self, size: u64) -> Checkpoint {
        self.before(|point| point.offset <= size)
    }

    /// The last checkpoint within the first `size` bytes that precedes the start of `line`, counted
    /// from one.
    pub(crate) fn before_line(&self, line: u64, size: u64) -> Checkpoint {
        self.before(|point| point.offset <= size && point.breaks < line.saturating_sub(1))
    }

    fn before(&self, holds: impl Fn(&Checkpoint) -> bool) -> Checkpoint {
        let after = self.0.partition_point(holds);
        after.checked_sub(1).and_then(|at| self.0.get(at)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(parts: &[(u64, u64)]) -> Option<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stdout.log");
        let mut writer = LineIndexWriter::new(&path);
        for (bytes, breaks) in parts {
            writer.add(*bytes, *breaks);
        }
        std::fs::read(dir.path().join("stdout.log.lines")).ok()
    }

    fn point(offset: u64, breaks: u64) -> Checkpoint {
        Checkpoint { offset, breaks }
    }

    #[test]
    fn a_short_file_has_no_index() {
        assert_eq!(written(&[(STEP - 1, 7)]), None);
    }

    #[test]
    fn every_mebibyte_leaves_a_checkpoint() {
        let bytes = written(&[(STEP, 1), (STEP / 2, 2), (STEP, 3), (9, 9)]).unwrap();
        let index = LineIndex::read(&bytes[..]);
        assert_eq!(index.0, [point(STEP, 1), point(STEP * 5 / 2, 6)]);
        assert_eq!(index.last(STEP * 2), point(STEP, 1));
        assert_eq!(index.last(7), point(0, 0));
        // The seventh line may begin before the second checkpoint, the eighth cannot.
        assert_eq!(index.before_line(7, u64::MAX), point(STEP, 1));
        assert_eq!(index.before_line(8, u64::MAX), point(STEP * 5 / 2, 6));
        assert_eq!(index.before_line(8, STEP), point(STEP, 1));
        assert_eq!(index.within(STEP * 2).0, [point(STEP, 1)]);
    }

    #[test]
    fn what_cannot_be_true_ends_the_index() {
        let sound = point(100, 3);
        for bad in [point(90, 4), point(100, 3), point(200, 2), point(200, 104), point(u64::MAX, u64::MAX)] {
            let bytes = [sound.to_bytes(), bad.to_bytes(), point(300, 4).to_bytes()].concat();
            assert_eq!(LineIndex::read(&bytes[..]).0, [sound], "{bad:?}");
        }
        let torn = [&sound.to_bytes()[..], &[1; 15]].concat();
        assert_eq!(LineIndex::read(&torn[..]).0, [sound]);
    }

    #[test]
    fn a_place_that_cannot_be_written_ends_the_index_and_nothing_else() {
        let mut writer = LineIndexWriter::new(Path::new("/nowhere/at/all"));
        writer.add(STEP, 1);
        writer.add(STEP, 1);
        assert_eq!(writer.due, u64::MAX);
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read(bytes in prop::collection::vec(any::<u8>(), 0..200), line: u64, size: u64) {
            let index = LineIndex::read(&bytes[..]);
            prop_assert!(index.last(size).offset <= size);
            prop_assert!(index.before_line(line, size).breaks < line.max(1));
        }
    }
}
