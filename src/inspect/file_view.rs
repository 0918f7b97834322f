//! A file as bytes by position, plain or decompressed, through one buffer.
//!
//! The reader says where and how much. Recently read bytes are still in the buffer, so looking back a little
//! is free. A compressed file can only be read forward; going back further restarts it.

use std::io;
use std::io::{BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use crate::host::MultiFileReader;
use crate::inspect::Wanted;
use crate::inspect::aligned_buffer::{Buffer, LINE, inside_line};
use crate::inspect::count::breaks_in;

/// How much is kept before the requested position.
pub(super) const RETAINED: usize = 128 << 10;
/// The most that can be requested at once.
pub(super) const LONGEST_READ: usize = 768 << 10;
const CAPACITY: usize = RETAINED + LONGEST_READ + LINE as usize;
const LEAST_READ: usize = 64 << 10;
/// The magic number, and the only compression method.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

pub(super) struct View {
    bytes: Bytes,
    buffer: Buffer,
    /// Where the buffer begins in the content, and how much of it is filled. Uncompressed content is read in
    /// alignment with cache lines.
    base: u64,
    filled: usize,
    /// The length of the content, once its end was reached.
    end: Option<u64>,
    stored: u64,
    warning: Option<String>,
    wanted: Wanted,
}

enum Bytes {
    Plain(Arc<MultiFileReader>),
    Gzip { file: Arc<MultiFileReader>, unpacked: Box<Unpacked> },
}

struct Unpacked {
    decoder: MultiGzDecoder<BufReader<Stored>>,
    /// The number of line breaks so far.
    breaks: u64,
}

impl View {
    pub(super) fn new(file: MultiFileReader) -> Self {
        let (stored, file) = (file.length(), Arc::new(file));
        let mut magic = [0; GZIP.len()];
        let is_gzip = matches!(file.read_at(&mut magic, 0), Ok(read) if magic[..read] == GZIP);
        let bytes = if is_gzip {
            Bytes::Gzip { unpacked: Unpacked::new(&file, stored), file }
        } else {
            Bytes::Plain(file)
        };
        let end = (!is_gzip).then_some(stored);
        let buffer = Buffer::new(CAPACITY);
        Self { bytes, buffer, base: 0, filled: 0, end, stored, warning: None, wanted: Wanted::always() }
    }

    /// Stops reading once the answer is no longer wanted.
    pub(super) fn while_wanted(self, wanted: Wanted) -> Self {
        Self { wanted, ..self }
    }

    pub(super) fn check_wanted(&self) -> io::Result<()> {
        self.wanted.check()
    }

    pub(super) fn stored_bytes(&self) -> u64 {
        self.stored
    }

    /// The length of the content, if known by now.
    pub(super) fn known_end(&self) -> Option<u64> {
        self.end
    }

    /// What is wrong with the file, as far as it was read.
    pub(super) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// The file and its length, if it is plain and longer than `least`.
    pub(super) fn plain_file(&self, least: u64) -> Option<(Arc<MultiFileReader>, u64)> {
        match (&self.bytes, self.end) {
            (Bytes::Plain(file), Some(end)) if end > least => Some((Arc::clone(file), end)),
            (Bytes::Plain(_) | Bytes::Gzip { .. }, _) => None,
        }
    }

    pub(super) fn is_compressed(&self) -> bool {
        matches!(self.bytes, Bytes::Gzip { .. })
    }

    /// The length of the content; for a compressed file, by reading all of it.
    pub(super) fn find_end(&mut self) -> io::Result<u64> {
        if self.end.is_none() {
            self.go_to(u64::MAX)?;
        }
        Ok(self.end.unwrap_or(self.base + self.filled as u64))
    }

    /// The last byte of the content, if there is one.
    pub(super) fn last_byte(&mut self) -> io::Result<Option<u8>> {
        let end = self.find_end()?;
        Ok(self.read(end.saturating_sub(1), end)?.first().copied())
    }

    /// The number of line breaks of a compressed file that was read to its end.
    pub(super) fn all_breaks(&self) -> Option<u64> {
        match &self.bytes {
            Bytes::Gzip { unpacked, .. } if self.end == Some(self.base + self.filled as u64) => {
                Some(unpacked.breaks)
            }
            _ => None,
        }
    }

    /// The bytes between two positions, fewer if the content ends. At most [`LONGEST_READ`] can be read at
    /// once.
    pub(super) fn read(&mut self, from: u64, upto: u64) -> io::Result<&[u8]> {
        let upto = upto.min(from.saturating_add(LONGEST_READ as u64));
        if from < self.base || from > self.base + self.filled as u64 {
            self.go_to(from)?;
        }
        // There is nothing after the end; a position there must not overflow.
        let mut start = (from.min(self.end.unwrap_or(from)) - self.base) as usize;
        let wanted = upto.saturating_sub(from) as usize;
        if start + wanted > self.filled && self.has_more() {
            if start + wanted > self.buffer.len() {
                let before = start.saturating_sub(RETAINED);
                start -= self.forget(before - inside_line(before as u64));
            }
            // Many short reads in a row are served by one read of the file.
            let limit = (start + wanted).max(self.filled + LEAST_READ).min(self.buffer.len());
            while self.filled < start + wanted && self.fill(limit)? {}
        }
        Ok(&self.buffer[start.min(self.filled)..self.filled.min(start + wanted)])
    }

    /// Reads a position with some bytes around it if it is far from the last read, so that repeated lookups
    /// there do not read much more.
    pub(super) fn approach(&mut self, place: &Range<u64>, around: u64) -> io::Result<()> {
        let (from, upto) = (place.start.saturating_sub(around), place.end.saturating_add(around));
        let is_here = place.start >= self.base && place.end <= self.base + self.filled as u64;
        if !is_here && !self.is_compressed() {
            self.go_to(from)?;
            let upto = upto.saturating_sub(self.base);
            let limit = usize::try_from(upto).unwrap_or(usize::MAX).min(self.buffer.len());
            while self.filled < limit && self.fill(limit)? {}
        }
        Ok(())
    }

    /// Takes over bytes that were read elsewhere, if the buffer has none of them.
    pub(super) fn take_over(&mut self, (from, bytes): &(u64, Vec<u8>)) {
        let is_here = *from >= self.base && from + bytes.len() as u64 <= self.base + self.filled as u64;
        if !is_here && !bytes.is_empty() && bytes.len() <= self.buffer.len() && !self.is_compressed() {
            self.buffer[..bytes.len()].copy_from_slice(bytes);
            (self.base, self.filled) = (*from, bytes.len());
        }
    }

    fn has_more(&self) -> bool {
        self.end.is_none_or(|end| self.base + (self.filled as u64) < end)
    }

    /// Drops the first bytes of the buffer, and returns how many.
    fn forget(&mut self, bytes: usize) -> usize {
        self.buffer.copy_within(bytes..self.filled, 0);
        self.base += bytes as u64;
        self.filled -= bytes;
        bytes
    }

    /// Fills the buffer from another position.
    fn go_to(&mut self, from: u64) -> io::Result<()> {
        if let Bytes::Gzip { file, unpacked } = &mut self.bytes {
            if from < self.base {
                *unpacked = Unpacked::new(file, self.stored);
                (self.base, self.filled) = (0, 0);
            }
            while self.base + (self.filled as u64) < from {
                if self.filled == self.buffer.len() {
                    self.forget(self.filled - RETAINED);
                }
                let left = from - self.base - self.filled as u64;
                let limit = (self.filled as u64).saturating_add(left).min(self.buffer.len() as u64) as usize;
                if !self.fill(limit)? {
                    break;
                }
            }
        } else {
            let from = from.min(self.end.unwrap_or(from));
            (self.base, self.filled) = (from - inside_line(from) as u64, 0);
        }
        Ok(())
    }

    /// Continues reading up to `limit` bytes in the buffer. Returns `false` at the end.
    fn fill(&mut self, limit: usize) -> io::Result<bool> {
        self.wanted.check()?;
        let at = self.base + self.filled as u64;
        let room = &mut self.buffer[self.filled..limit];
        let read = match &mut self.bytes {
            Bytes::Plain(file) => {
                let left = self.end.unwrap_or(self.stored).saturating_sub(at);
                let most = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                read_at(file, &mut room[..most], at)?
            }
            Bytes::Gzip { unpacked, .. } => unpacked.read(room).unwrap_or_else(|error| {
                // Content before the damage is readable, content after it is not.
                self.warning = Some(format!("the compressed file is damaged after {at} bytes: {error}"));
                0
            }),
        };
        self.filled += read;
        if read == 0 {
            // Also for a plain file that was truncated meanwhile.
            self.end = Some(at);
        }
        Ok(read > 0)
    }
}

impl Unpacked {
    fn new(file: &Arc<MultiFileReader>, end: u64) -> Box<Self> {
        let stored = Stored { file: Arc::clone(file), at: 0, end };
        Box::new(Self { decoder: MultiGzDecoder::new(BufReader::with_capacity(64 << 10, stored)), breaks: 0 })
    }

    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(room)?;
        self.breaks += breaks_in(&room[..read]);
        Ok(read)
    }
}

/// The stored file, up to the size it had when opened.
struct Stored {
    file: Arc<MultiFileReader>,
    at: u64,
    end: u64,
}

impl Read for Stored {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let most = room.len().min(left);
        let read = read_at(&self.file, &mut room[..most], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn read_at(file: &MultiFileReader, room: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(room, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/inspect/file_view_tests.rs"]
mod tests;
