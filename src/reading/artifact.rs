//! Reads one file of a run by its name.

use std::io;

use crate::host::MultiFileReader;
use crate::ledger::output_stream;
use crate::reading::excerpt::printable;
use crate::runs::{ArtifactName, RunDir};

/// The beginning and the end of a file, as printable text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HeadAndTail {
    pub(crate) head: String,
    /// Absent if `head` is the whole file.
    pub(crate) tail: Option<String>,
    pub(crate) total_bytes: u64,
}

/// Reads an artifact: all of it up to `most` bytes, otherwise half of that from either end.
///
/// Fails if it is not a regular file of this directory.
pub(crate) fn read_artifact(dir: &RunDir, name: &ArtifactName, most: u64) -> io::Result<HeadAndTail> {
    let (stretches, _) =
        output_stream::open_artifact(&dir.file(name.as_str()), name, output_stream::open_plain_file)?;
    let file = MultiFileReader::of(stretches)?;
    let length = file.length();
    let read = |start: u64, most: u64| {
        let mut bytes = vec![0; usize::try_from(most).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, start)?;
        io::Result::Ok(bytes)
    };
    if length <= most {
        let whole = read(0, length)?;
        return Ok(HeadAndTail { head: printable(&whole), tail: None, total_bytes: whole.len() as u64 });
    }
    let half = most / 2;
    let (head, tail) = (read(0, half)?, read(length - half, half)?);
    Ok(HeadAndTail { head: printable(&head), tail: Some(printable(&tail)), total_bytes: length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supervisor::StreamCapture;

    fn stdout() -> ArtifactName {
        ArtifactName::parse("stdout.log").unwrap()
    }

    #[track_caller]
    fn check(content: &[u8], most: u64, head: &str, tail: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("stdout.log"), content).unwrap();
        let ends =
            HeadAndTail { head: head.into(), tail: tail.map(Into::into), total_bytes: content.len() as u64 };
        assert_eq!(read_artifact(&RunDir::at(dir.path().to_owned()), &stdout(), most).unwrap(), ends);
    }

    #[test]
    fn what_fits_is_whole() {
        check(b"one\ntwo\n", 8, "one\ntwo\n", None);
        check(b"", 8, "", None);
    }

    #[test]
    fn of_a_long_file_both_ends_are_read() {
        check(b"0123456789", 4, "01", Some("89"));
    }

    #[test]
    fn the_end_of_a_stream_beyond_its_limit_is_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::at(dir.path().to_owned());
        let mut capture = StreamCapture::create(run.stdout(), 16).unwrap();
        for bytes in ["0123456789ab", "AA", "BB", "CC"] {
            capture.write(bytes.as_bytes()).unwrap();
        }
        let ends = read_artifact(&run, &stdout(), 8).unwrap();
        assert_eq!((ends.head.as_str(), ends.tail.as_deref()), ("0123", Some("BBCC")));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_far_as_they_go() {
        check(b"a\x1b[31mred\x1b[0m \xff b\0", 100, "ared \u{fffd} b", None);
    }

    #[test]
    fn a_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink("secret", dir.path().join("stdout.log")).unwrap();
        assert!(read_artifact(&RunDir::at(dir.path().to_owned()), &stdout(), 8).is_err());
    }
}
