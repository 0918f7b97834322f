//! Reads several files and texts by position as if they were one file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// One part of the whole.
#[derive(Debug)]
pub(crate) enum FilePart {
    /// All of a file, as long as it is at the moment of reading.
    File(File),
    /// The first `length` bytes of a file.
    Beginning {
        file: File,
        length: u64,
    },
    Text(Vec<u8>),
}

impl FilePart {
    pub(crate) fn length(&self) -> io::Result<u64> {
        match self {
            FilePart::File(file) => file.metadata().map(|found| found.len()),
            FilePart::Beginning { length, .. } => Ok(*length),
            FilePart::Text(text) => Ok(text.len() as u64),
        }
    }

    /// Reads from position `at`, at least one byte unless that is the end.
    fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        match self {
            FilePart::File(file) => file.read_at(room, at),
            FilePart::Beginning { file, length } => {
                let left = usize::try_from(length.saturating_sub(at)).unwrap_or(usize::MAX);
                let most = left.min(room.len());
                file.read_at(&mut room[..most], at)
            }
            FilePart::Text(text) => {
                let left = usize::try_from(at).ok().and_then(|at| text.get(at..)).unwrap_or_default();
                let most = left.len().min(room.len());
                room[..most].copy_from_slice(&left[..most]);
                Ok(most)
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct MultiFileReader {
    places: Vec<(Range<u64>, FilePart)>,
}

impl MultiFileReader {
    /// All of `file`, at its current length.
    pub(crate) fn whole(file: File) -> io::Result<Self> {
        Self::of(vec![FilePart::File(file)])
    }

    pub(crate) fn of(stretches: Vec<FilePart>) -> io::Result<Self> {
        let mut places = Vec::with_capacity(stretches.len());
        let mut at = 0;
        for stretch in stretches {
            let end = at + stretch.length()?;
            places.push((at..end, stretch));
            at = end;
        }
        Ok(Self { places })
    }

    pub(crate) fn length(&self) -> u64 {
        self.places.last().map_or(0, |(place, _)| place.end)
    }

    /// Reads from position `at`, at least one byte unless that is the end.
    pub(crate) fn read_at(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        let Some((place, stretch)) = self.places.iter().find(|(place, _)| place.contains(&at)) else {
            return Ok(0);
        };
        let most = usize::try_from(place.end - at).map_or(room.len(), |left| left.min(room.len()));
        stretch.read_at(&mut room[..most], at - place.start)
    }

    pub(crate) fn read_exact_at(&self, room: &mut [u8], at: u64) -> io::Result<()> {
        fill(room, at, |room, at| self.read_at(room, at))
    }

    pub(crate) fn bytes(&self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap_or_default()];
        self.read_exact_at(&mut bytes, range.start)?;
        Ok(bytes)
    }
}

/// Fills all of `room` from position `at`, with as many reads as it takes.
pub(crate) fn fill(
    mut room: &mut [u8],
    mut at: u64,
    read_at: impl Fn(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<()> {
    while !room.is_empty() {
        match read_at(room, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                room = &mut room[read..];
                at += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn every_byte_has_one_position() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"head and more").unwrap();
        let text = |text: &str| FilePart::Text(text.into());
        let joined = MultiFileReader::of(vec![
            FilePart::Beginning { file, length: 4 },
            text(""),
            text("[cut]"),
            text("tail"),
        ])
        .unwrap();
        let whole = b"head[cut]tail";
        assert_eq!(joined.length(), whole.len() as u64);
        for at in 0..whole.len() {
            let mut room = [0; 3];
            let read = joined.read_at(&mut room, at as u64).unwrap();
            assert!(read > 0 && whole[at..].starts_with(&room[..read]), "{at}");
            let mut rest = vec![0; whole.len() - at];
            joined.read_exact_at(&mut rest, at as u64).unwrap();
            assert_eq!(rest, whole[at..]);
        }
        let error = joined.read_exact_at(&mut [0; 14], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(joined.read_at(&mut [0; 3], 13).unwrap(), 0);
        assert_eq!(joined.read_at(&mut [0; 3], u64::MAX).unwrap(), 0);
    }
}
