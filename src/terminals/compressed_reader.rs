//! Reads a recording by position, even if it was compressed after its end.
//!
//! A compressed file can only be read forward. It is decompressed once to learn its length. The
//! requested part, and whatever is read after it, is then decompressed into an unnamed file, so
//! that reading forward decompresses each byte once. A damaged file is read up to the damage.

use std::cell::RefCell;
use std::fs::{File, Metadata};
use std::io;
use std::io::Read;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::host::files;
use crate::host::{FilePart, MultiFileReader, fill};
use crate::model::Timestamp;
use crate::terminals::file_names::{OUTPUT, PACKED};

/// Decompressed at a time. Fixed, because the position at which damage shows depends on it.
const CHUNK: usize = 64 << 10;

/// How a recording is stored.
#[derive(Debug)]
pub(super) enum StoredRecording {
    Plain(File),
    Packed(File),
}

/// The recording in `dir`. Compression removes the plain file last.
pub(super) fn find_stored(dir: &Path) -> io::Result<StoredRecording> {
    match files::open_in(dir, OUTPUT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::open_in(dir, PACKED).map(StoredRecording::Packed).map_err(|_| error)
        }
        opened => opened.map(StoredRecording::Plain),
    }
}

impl StoredRecording {
    /// The number of recorded bytes, and the metadata of the file.
    pub(super) fn measure(&self) -> io::Result<(u64, Metadata)> {
        match self {
            StoredRecording::Plain(file) => file.metadata().map(|found| (found.len(), found)),
            StoredRecording::Packed(file) => {
                // The last four bytes of a gzip file are its length; nothing longer is compressed.
                let (found, mut length) = (file.metadata()?, [0; 4]);
                file.read_exact_at(&mut length, found.len().saturating_sub(4))?;
                Ok((u32::from_le_bytes(length).into(), found))
            }
        }
    }

    /// Opens it for random access. Decompressed data goes into an unnamed file in `dir`.
    pub(super) fn open(self, dir: &Path) -> io::Result<RecordedBytes> {
        let found = match &self {
            StoredRecording::Plain(file) | StoredRecording::Packed(file) => file.metadata()?,
        };
        let written = files::modified(&found);
        match self {
            StoredRecording::Plain(file) => Ok(RecordedBytes {
                length: found.len(),
                written,
                lines: None,
                damage: None,
                held: ByteSource::Plain(file),
            }),
            StoredRecording::Packed(file) => {
                let mut unpacking = Unpacking::new(Rc::new(file), files::create_unnamed(dir)?);
                let (mut length, mut breaks, mut last) = (0, 0, b'\n');
                let damage = loop {
                    match unpacking.more() {
                        Ok([]) => break None,
                        Ok(bytes) => {
                            length += bytes.len() as u64;
                            breaks += memchr::memchr_iter(b'\n', bytes).count() as u64;
                            last = bytes.last().copied().unwrap_or(last);
                        }
                        Err(error) => {
                            break Some(format!(
                                "the compressed recording is damaged after {length} bytes: {error}"
                            ));
                        }
                    }
                };
                let lines = Some(breaks + u64::from(last != b'\n'));
                unpacking.restart();
                Ok(RecordedBytes {
                    length,
                    written,
                    lines,
                    damage,
                    held: ByteSource::Packed(Box::new(RefCell::new(unpacking))),
                })
            }
        }
    }
}

/// The bytes of a recording, at its length when opened.
#[derive(Debug)]
pub(super) struct RecordedBytes {
    pub(super) length: u64,
    /// When the last byte was written.
    pub(super) written: Timestamp,
    /// The line count, if the file had to be decompressed.
    pub(super) lines: Option<u64>,
    /// Why later bytes are missing.
    pub(super) damage: Option<String>,
    held: ByteSource,
}

#[derive(Debug)]
enum ByteSource {
    Plain(File),
    MultiFileReader(MultiFileReader),
    Packed(Box<RefCell<Unpacking>>),
}

impl RecordedBytes {
    /// The concatenation of `stretches`, last written at `written`.
    pub(super) fn joined(stretches: Vec<FilePart>, written: Timestamp) -> io::Result<Self> {
        let joined = MultiFileReader::of(stretches)?;
        let length = joined.length();
        Ok(Self { length, written, lines: None, damage: None, held: ByteSource::MultiFileReader(joined) })
    }

    /// Announces that reading will start at `from`.
    pub(super) fn begin(&self, from: u64) -> io::Result<()> {
        match &self.held {
            ByteSource::Plain(_) | ByteSource::MultiFileReader(_) => Ok(()),
            ByteSource::Packed(unpacking) => unpacking.borrow_mut().hold(from..from),
        }
    }

    /// Reads from position `at`, at least one byte unless that is the end.
    pub(super) fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        let left = usize::try_from(self.length.saturating_sub(at)).unwrap_or(usize::MAX);
        let most = room.len().min(left);
        let room = &mut room[..most];
        match &self.held {
            ByteSource::Plain(file) => file.read_at(room, at),
            ByteSource::MultiFileReader(joined) => joined.read_at(room, at),
            ByteSource::Packed(unpacking) => {
                let mut unpacking = unpacking.borrow_mut();
                unpacking.hold(at..at + room.len() as u64)?;
                let held = usize::try_from(unpacking.held.end.saturating_sub(at)).unwrap_or(usize::MAX);
                let most = room.len().min(held);
                unpacking.window.read_at(&mut room[..most], at - unpacking.held.start)
            }
        }
    }

    pub(super) fn read_exact_at(&self, room: &mut [u8], at: u64) -> io::Result<()> {
        fill(room, at, |room, at| self.read_at(room, at))
    }
}

/// A file being decompressed, and a part of the result.
#[derive(Debug)]
struct Unpacking {
    file: Rc<File>,
    decoder: MultiGzDecoder<Packed>,
    chunk: Vec<u8>,
    window: File,
    /// The range in the window; its end is the decoder's position.
    held: Range<u64>,
}

impl Unpacking {
    fn new(file: Rc<File>, window: File) -> Self {
        let decoder = MultiGzDecoder::new(Packed { file: Rc::clone(&file), at: 0 });
        Self { file, decoder, chunk: vec![0; CHUNK], window, held: 0..0 }
    }

    fn restart(&mut self) {
        self.decoder = MultiGzDecoder::new(Packed { file: Rc::clone(&self.file), at: 0 });
        self.held = 0..0;
    }

    fn more(&mut self) -> io::Result<&[u8]> {
        let read = self.decoder.read(&mut self.chunk)?;
        Ok(&self.chunk[..read])
    }

    /// Fills the window with these bytes, as far as they exist.
    fn hold(&mut self, wanted: Range<u64>) -> io::Result<()> {
        if wanted.start < self.held.start {
            self.restart();
        }
        while self.held.end < wanted.end.max(wanted.start.saturating_add(1)) {
            // The length of a damaged file is known to end before the damage.
            let Ok(read @ 1..) = self.decoder.read(&mut self.chunk) else { break };
            let end = self.held.end + read as u64;
            if end <= wanted.start {
                self.held = end..end;
                continue;
            }
            self.window.write_all_at(&self.chunk[..read], self.held.end - self.held.start)?;
            self.held.end = end;
        }
        Ok(())
    }
}

/// A compressed file as a stream with its own position.
#[derive(Debug)]
struct Packed {
    file: Rc<File>,
    at: u64,
}

impl Read for Packed {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(room, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    /// A directory with a recording of this name.
    fn recorded(name: &str, text: &[u8]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join(name)).unwrap();
        if name == OUTPUT {
            (&file).write_all(text).unwrap();
        } else {
            let mut encoder = GzEncoder::new(&file, Compression::default());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap();
        }
        dir
    }

    fn on_disk(bytes: &RecordedBytes) -> u64 {
        match &bytes.held {
            ByteSource::Plain(_) | ByteSource::MultiFileReader(_) => 0,
            ByteSource::Packed(unpacking) => unpacking.borrow().window.metadata().unwrap().len(),
        }
    }

    #[test]
    fn a_recording_is_the_same_compressed_or_not() {
        let text = b"a line of many\n".repeat(100_000);
        for name in [OUTPUT, PACKED] {
            let dir = recorded(name, &text);
            let recording = find_stored(dir.path()).unwrap();
            assert_eq!(recording.measure().unwrap().0, text.len() as u64);
            let opened = recording.open(dir.path()).unwrap();
            assert_eq!((opened.length, &opened.damage), (text.len() as u64, &None));
            let mut part = [0; 14];
            for line in [70_000, 99_999, 3, 50_000, 0] {
                opened.read_exact_at(&mut part, 15 * line).unwrap();
                assert_eq!(&part, b"a line of many");
            }
            assert_eq!(opened.read_at(&mut part, text.len() as u64).unwrap(), 0);
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(find_stored(empty.path()).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn no_more_is_unpacked_onto_the_disk_than_is_asked_for() {
        let text = b"a line of many\n".repeat(400_000);
        let dir = recorded(PACKED, &text);
        let opened = find_stored(dir.path()).unwrap().open(dir.path()).unwrap();
        assert_eq!((opened.lines, on_disk(&opened)), (Some(400_000), 0));
        let mut part = [0; 15];
        for at in [0, text.len() - 100_000] {
            opened.begin(at as u64).unwrap();
            opened.read_exact_at(&mut part, at as u64).unwrap();
            assert!(on_disk(&opened) <= 4 * CHUNK as u64, "{}", on_disk(&opened));
        }
    }

    #[test]
    fn what_is_damaged_ends_where_the_damage_is() {
        let numbers: String = (0..200_000).map(|number| format!("{number}\n")).collect();
        let dir = recorded(PACKED, numbers.as_bytes());
        let path = dir.path().join(PACKED);
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 0x55;
        for damaged in [&whole[..whole.len() / 2], &flipped, &whole[..5], &[]] {
            std::fs::write(&path, damaged).unwrap();
            let opened = find_stored(dir.path()).unwrap().open(dir.path()).unwrap();
            let mut bytes = vec![0; usize::try_from(opened.length).unwrap()];
            opened.read_exact_at(&mut bytes, 0).unwrap();
            if damaged.len() == whole.len() / 2 {
                assert!(bytes.len() > 100_000 && numbers.as_bytes().starts_with(&bytes));
            }
            assert!(opened.damage.is_some() || damaged.is_empty(), "{}", damaged.len());
        }
    }
}
