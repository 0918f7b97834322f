//! A stream of a run as far as it is there. One that has passed its limit while
//! the run goes on is its beginning and its end, with a line in between.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::host::files;
use crate::model::{Stdout, Timestamp};
use crate::runs::RunDir;
use crate::supervisor::{self, Apart};
use crate::tasks::record::cut_line;
use crate::terminals::Stretch;

/// How often the end of a stream is looked for that turns meanwhile.
const TRIES: usize = 8;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) stretches: Vec<Stretch>,
    /// When its last byte came.
    pub(super) written: Timestamp,
    /// Its middle is left out.
    pub(super) is_cut: bool,
}

/// Opens the standard output of a run.
pub(super) fn open(dir: &RunDir, kind: Stdout) -> io::Result<Stream> {
    match kind {
        Stdout::Events => open_at(&dir.events(), kind),
        Stdout::Text => open_at(&dir.stdout(), kind),
    }
}

/// Opens the stream at `path`.
pub(super) fn open_at(path: &Path, kind: Stdout) -> io::Result<Stream> {
    let mut opened = attempt(path, kind);
    for _ in 1..TRIES {
        if !matches!(&opened, Ok(None)) {
            break;
        }
        opened = attempt(path, kind);
    }
    // What never holds still is at least begun.
    match opened? {
        Some(stream) => Ok(stream),
        None => whole(plain(path)?),
    }
}

/// The last `most` bytes of the stream at `path`, and how many there are.
pub(super) fn tail(path: &Path, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let (mut bytes, mut total) = (Vec::new(), 0);
    for stretch in open_at(path, Stdout::Text)?.stretches.into_iter().rev() {
        let room = most - bytes.len() as u64;
        let length = stretch.length()?;
        let mut end = match stretch {
            Stretch::Text(text) => {
                text[text.len().saturating_sub(usize::try_from(room).unwrap_or(usize::MAX))..].to_vec()
            }
            Stretch::File(mut file) | Stretch::Beginning { mut file, .. } => {
                let mut end = Vec::new();
                file.seek(SeekFrom::Start(length.saturating_sub(room)))?;
                // It may grow meanwhile.
                file.take(room.min(length)).read_to_end(&mut end)?;
                end
            }
        };
        total += length;
        end.append(&mut bytes);
        bytes = end;
    }
    Ok((bytes, total))
}

fn whole(file: File) -> io::Result<Stream> {
    let written = files::modified(&file.metadata()?);
    Ok(Stream { stretches: vec![Stretch::File(file)], written, is_cut: false })
}

/// `None` where the parts changed while they were opened.
fn attempt(path: &Path, kind: Stdout) -> io::Result<Option<Stream>> {
    let head = plain(path)?;
    let length = head.metadata()?.len();
    let Some(Apart { parts, dropped }) = supervisor::apart(path) else { return whole(head).map(Some) };
    let mut stretches = Vec::with_capacity(parts.len() + 2);
    let mut written = Timestamp::from_millis(0);
    for part in &parts {
        match plain(part) {
            Ok(file) => {
                written = written.max(files::modified(&file.metadata()?));
                stretches.push(Stretch::File(file));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    // The beginning is full until the parts are put behind it.
    let same = supervisor::apart(path) == Some(Apart { parts, dropped }) && head.metadata()?.len() == length;
    if !same {
        return Ok(None);
    }
    if dropped {
        stretches.insert(0, Stretch::Text(cut_line(kind, None).into_bytes()));
    }
    // Whoever reads it may do so when they have been.
    stretches.insert(0, Stretch::Beginning { file: head, length });
    Ok(Some(Stream { stretches, written, is_cut: dropped }))
}

/// A plain file, and no link to one.
pub(super) fn plain(path: &Path) -> io::Result<File> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    files::open_in(path.parent().unwrap_or(path), name)
}

impl Stream {
    /// Hands over all of it, in pieces.
    pub(super) fn read(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        for stretch in &mut self.stretches {
            match stretch {
                Stretch::Text(text) => each(text),
                Stretch::File(file) => pieces(file, &mut each)?,
                Stretch::Beginning { file, length } => pieces(file.take(*length), &mut each)?,
            }
        }
        Ok(())
    }
}

fn pieces(mut file: impl Read, each: &mut impl FnMut(&[u8])) -> io::Result<()> {
    let mut chunk = vec![0; 64 << 10];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => each(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::Capture;

    fn bytes_of(mut stream: Stream) -> (String, bool) {
        let mut bytes = Vec::new();
        stream.read(|piece| bytes.extend_from_slice(piece)).unwrap();
        (String::from_utf8(bytes).unwrap(), stream.is_cut)
    }

    #[test]
    fn the_end_of_a_stream_beyond_its_limit_is_there_while_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::at(dir.path().to_owned());
        let mut capture = Capture::create(run.stdout(), 16).unwrap();
        let read = || bytes_of(open(&run, Stdout::Text).unwrap());
        capture.write(b"0123456789ab").unwrap();
        assert_eq!(read(), ("0123456789ab".into(), false));
        capture.write(b"AA").unwrap();
        capture.write(b"BB").unwrap();
        assert_eq!(read(), ("0123456789abAABB".into(), false));
        capture.write(b"CC").unwrap();
        let cut = "0123456789ab\n[delegator: bytes may have been left out here]\nBBCC";
        assert_eq!(read(), (cut.into(), true));
        for most in 0..cut.len() {
            let end = cut.as_bytes()[cut.len() - most..].to_vec();
            assert_eq!(tail(&run.stdout(), most as u64).unwrap(), (end, cut.len() as u64));
        }
        // One that was opened before the run ends is read as it was.
        let (early, another) = (open(&run, Stdout::Text).unwrap(), open(&run, Stdout::Text).unwrap());
        capture.finish(|_| "[2]".into()).1.unwrap();
        assert_eq!(read(), ("0123456789ab[2]BBCC".into(), false));
        assert_eq!(bytes_of(early), (cut.into(), true));
        let lengths = another.stretches.iter().map(|stretch| stretch.length().unwrap());
        assert_eq!(lengths.sum::<u64>(), cut.len() as u64);
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("secret", dir.path().join("stdout.log")).unwrap();
        assert!(open(&RunDir::at(dir.path().to_owned()), Stdout::Text).is_err());
    }
}
