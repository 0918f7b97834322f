//! Opens a run's output stream while the run may still be writing it. A stream that has passed its size limit
//! is kept as a beginning and an end in separate files; readers see both with a line in between that says
//! what was left out.

use std::fs::File;
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use crate::host::files;
use crate::host::{FilePart, MultiFileReader};
use crate::ledger::read;
use crate::model::{Stdout, Timestamp};
use crate::runs::ArtifactName;
use crate::supervisor;
use crate::supervisor::SplitStream;

/// How often to reopen a stream whose tail files rotate while they are opened.
const TRIES: usize = 8;

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) stretches: Vec<FilePart>,
    /// When the last byte was written.
    pub(crate) written: Timestamp,
    /// Set while the end is kept in separate files.
    pub(crate) gap: Option<Gap>,
}

/// The bytes left out between the beginning of a stream and its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The offset where the beginning ends.
    pub(crate) at: u64,
    /// The number of bytes left out.
    pub(crate) dropped: u64,
}

type Places = (Vec<FilePart>, Option<Gap>);

/// Opens the stream at `path`.
pub(crate) fn open_at(path: &Path, kind: Stdout) -> io::Result<Stream> {
    let is_older = path.file_name().is_some_and(|name| name == "transcript.log") && !path.exists();
    let (stretches, gap) = if is_older {
        (read::transcript_of_older(path)?, None)
    } else {
        stretches(path, kind, open_plain_file)?
    };
    let mut written = Timestamp::from_millis(0);
    for stretch in &stretches {
        if let FilePart::File(file) = stretch {
            written = written.max(files::modified(&file.metadata()?));
        }
    }
    Ok(Stream { stretches, written, gap })
}

/// Opens everything written so far to the stream at `path`, as if it were one file.
pub(crate) fn open_joined(path: &Path) -> io::Result<MultiFileReader> {
    let is_of_events = path.file_name().is_some_and(|name| name == "events.jsonl");
    let kind = if is_of_events { Stdout::Events } else { Stdout::Text };
    MultiFileReader::of(open_at(path, kind)?.stretches)
}

/// Counts the lines that end in a part of a stream; an unfinished last line counts too.
pub(crate) fn count_lines(stream: &MultiFileReader, range: Range<u64>) -> u64 {
    let (mut at, mut lines, mut ends) = (range.start, 0, true);
    let mut chunk = vec![0; 64 << 10];
    while at < range.end {
        let most = usize::try_from(range.end - at).map_or(chunk.len(), |left| left.min(chunk.len()));
        let Ok(read @ 1..) = stream.read_at(&mut chunk[..most], at) else { break };
        lines += memchr::memchr_iter(b'\n', &chunk[..read]).count() as u64;
        ends = chunk[read - 1] == b'\n';
        at += read as u64;
    }
    lines + u64::from(!ends)
}

/// Whether the end of the stream at `path` is still kept in separate files.
pub(crate) fn has_separate_end(path: &Path) -> bool {
    supervisor::split_stream(path).is_some()
}

/// Opens the artifact at `path` with `open`. The artifact may be a stream.
pub(crate) fn open_artifact<E: MayBeMissing>(
    path: &Path,
    name: &ArtifactName,
    open: impl Fn(&Path) -> Result<File, E>,
) -> Result<Places, E> {
    match name.as_str() {
        "events.jsonl" => stretches(path, Stdout::Events, open),
        "stdout.log" | "stderr.log" | "transcript.log" => stretches(path, Stdout::Text, open),
        _ => Ok((vec![FilePart::File(open(path)?)], None)),
    }
}

/// Opens the files that make up the stream at `path`.
fn stretches<E: MayBeMissing>(
    path: &Path,
    kind: Stdout,
    open: impl Fn(&Path) -> Result<File, E>,
) -> Result<Places, E> {
    for _ in 0..TRIES {
        if let Some(opened) = open_parts(path, kind, &open)? {
            return Ok(opened);
        }
    }
    // The files keep changing: show at least the beginning.
    Ok((vec![FilePart::File(open(path)?)], None))
}

/// An error of an `open` function that may mean "no such file".
pub(crate) trait MayBeMissing {
    fn is_missing(&self) -> bool;
}

impl MayBeMissing for io::Error {
    fn is_missing(&self) -> bool {
        self.kind() == io::ErrorKind::NotFound
    }
}

/// The last `most` bytes of the stream at `path`, and its length.
pub(crate) fn tail(path: &Path, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let (mut bytes, mut total) = (Vec::new(), 0);
    for stretch in open_at(path, Stdout::Text)?.stretches.into_iter().rev() {
        let room = most - bytes.len() as u64;
        let length = stretch.length()?;
        let mut end = match stretch {
            FilePart::Text(text) => {
                text[text.len().saturating_sub(usize::try_from(room).unwrap_or(usize::MAX))..].to_vec()
            }
            FilePart::File(mut file) | FilePart::Beginning { mut file, .. } => {
                let mut end = Vec::new();
                file.seek(SeekFrom::Start(length.saturating_sub(room)))?;
                // The file may grow meanwhile.
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

/// Returns `None` if the files changed while they were opened.
fn open_parts<E: MayBeMissing>(
    path: &Path,
    kind: Stdout,
    open: impl Fn(&Path) -> Result<File, E>,
) -> Result<Option<Places>, E> {
    let file = open(path)?;
    let Some(SplitStream { head, dropped, parts }) = supervisor::split_stream(path) else {
        return Ok(Some((vec![FilePart::File(file)], None)));
    };
    let is_lines = supervisor::ends_line(&file, head);
    // The supervisor may append the end to the beginning at any moment; read no more than `head` bytes of it.
    let mut stretches = vec![FilePart::Beginning { file, length: head }];
    if dropped > 0 {
        let cut = cut_line(kind, dropped);
        stretches.push(FilePart::Text(supervisor::after(is_lines, &cut).into()));
    }
    for part in &parts {
        match open(part) {
            Ok(file) => stretches.push(FilePart::File(file)),
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some((stretches, Some(Gap { at: head, dropped }))))
}

/// Opens a regular file, and refuses a symbolic link.
pub(crate) fn open_plain_file(path: &Path) -> io::Result<File> {
    let name = path.file_name().and_then(|name| name.to_str()).ok_or(io::ErrorKind::InvalidInput)?;
    files::open_in(path.parent().unwrap_or(path), name)
}

/// The line that replaces the left-out middle; valid in both formats.
pub(crate) fn cut_line(kind: Stdout, dropped: u64) -> String {
    match kind {
        Stdout::Events => format!("\n{{\"type\":\"delegator.cut\",\"dropped_bytes\":{dropped}}}\n"),
        Stdout::Text => format!("\n[delegator: {dropped} bytes were left out here]\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::RunDir;
    use crate::supervisor::StreamCapture;

    /// The whole content, and how many bytes it reports as missing.
    fn bytes_of(stream: Stream) -> (String, Option<u64>) {
        let gap = stream.gap.map(|gap| gap.dropped);
        let all = MultiFileReader::of(stream.stretches).unwrap();
        let mut bytes = vec![0; all.length() as usize];
        all.read_exact_at(&mut bytes, 0).unwrap();
        (String::from_utf8(bytes).unwrap(), gap)
    }

    #[test]
    fn the_end_of_a_stream_beyond_its_limit_is_there_while_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::at(dir.path().to_owned());
        let mut capture = StreamCapture::create(run.stdout(), 16).unwrap();
        let read = || bytes_of(open_at(&run.stdout(), Stdout::Text).unwrap());
        capture.write(b"0123456789ab").unwrap();
        assert_eq!(read(), ("0123456789ab".into(), None));
        capture.write(b"AA").unwrap();
        capture.write(b"BB").unwrap();
        assert_eq!(read(), ("0123456789abAABB".into(), Some(0)));
        capture.write(b"CC").unwrap();
        let cut = "0123456789ab\n[delegator: 2 bytes were left out here]\nBBCC";
        assert_eq!(read(), (cut.into(), Some(2)));
        for most in 0..cut.len() {
            let end = cut.as_bytes()[cut.len() - most..].to_vec();
            assert_eq!(tail(&run.stdout(), most as u64).unwrap(), (end, cut.len() as u64));
        }
        // A stream opened before the run ends reads the same afterwards.
        let (early, another) =
            (open_at(&run.stdout(), Stdout::Text).unwrap(), open_at(&run.stdout(), Stdout::Text).unwrap());
        capture.finish(|dropped| cut_line(Stdout::Text, dropped)).1.unwrap();
        assert_eq!(read(), (cut.into(), None));
        assert_eq!(bytes_of(early), (cut.into(), Some(2)));
        let lengths = another.stretches.iter().map(|stretch| stretch.length().unwrap());
        assert_eq!(lengths.sum::<u64>(), cut.len() as u64);
    }

    #[test]
    fn whoever_reads_while_the_end_is_put_behind_the_beginning_reads_it_once() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::at(dir.path().to_owned());
        let whole = "0123456789ab\n[delegator: 2 bytes were left out here]\nBBCC";
        let part = |begins: u64| dir.path().join(format!("stdout.tail-{begins}-12"));
        let read = || bytes_of(open_at(&run.stdout(), Stdout::Text).unwrap()).0;
        std::fs::write(part(14), "BB").unwrap();
        std::fs::write(part(16), "CC").unwrap();
        for joined in 12..=whole.len() {
            std::fs::write(run.stdout(), &whole[..joined]).unwrap();
            assert_eq!(read(), whole, "{joined}");
        }
        for gone in [14, 16] {
            std::fs::remove_file(part(gone)).unwrap();
            assert_eq!(read(), whole, "{gone}");
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("secret", dir.path().join("stdout.log")).unwrap();
        assert!(open_at(&dir.path().join("stdout.log"), Stdout::Text).is_err());
    }
}
