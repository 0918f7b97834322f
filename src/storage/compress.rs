//! Compresses a file so that a complete plain or compressed version exists at every moment.

use std::fs;
use std::fs::{File, OpenOptions};
use std::io;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::host::files;
use crate::storage::file_names::{PACKED, UNFINISHED};
use crate::storage::remove_unchanged;

const PIECE: usize = 64 << 10;

/// Replaces `NAME` by `NAME.gz` with the same modification time. Returns the compressed size, or
/// `None` if the plain file was written again meanwhile and stays.
///
/// Only for the holder of the cleanup lock, because the temporary file has a fixed name.
pub(crate) fn compress(dir: &Path, name: &str) -> io::Result<Option<u64>> {
    let source = files::open_in(dir, name)?;
    let meant = source.metadata()?;
    let temporary = dir.join(format!("{name}{UNFINISHED}"));
    let packed = write(source, &temporary).and_then(|packed| {
        packed.set_modified(meant.modified()?)?;
        packed.sync_all()?;
        fs::rename(&temporary, dir.join(format!("{name}{PACKED}")))?;
        // The plain file is removed only after the compressed one is durable.
        files::sync_dir(dir)?;
        packed.metadata()
    });
    let packed = match packed {
        Ok(packed) => packed.len(),
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
    };
    Ok(remove_unchanged::remove(dir, name, &meant)?.then_some(packed))
}

fn write(source: File, temporary: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let target = options.write(true).create_new(true).mode(0o600).open(temporary)?;
    let mut source = BufReader::with_capacity(PIECE, source);
    let mut encoder = GzEncoder::new(target, Compression::default());
    loop {
        let piece = source.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        encoder.write_all(piece)?;
        let length = piece.len();
        source.consume(length);
    }
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::{Duration, SystemTime};

    use flate2::read::GzDecoder;
    use proptest::prelude::*;

    use super::*;

    fn check(content: &[u8]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("output.log");
        fs::write(&path, content).unwrap();
        let written = SystemTime::UNIX_EPOCH + Duration::from_millis(1_794_735_000_123);
        File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
        let bytes = compress(dir.path(), "output.log").unwrap().unwrap();
        let packed = dir.path().join("output.log.gz");
        let found = fs::metadata(&packed).unwrap();
        assert_eq!((found.len(), found.modified().unwrap()), (bytes, written));
        let mut read = Vec::new();
        GzDecoder::new(File::open(&packed).unwrap()).read_to_end(&mut read).unwrap();
        assert!(read == content);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        check(b"");
        check(b"one line\n");
        check(&b"the same line again\n".repeat(200_000));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_bytes_come_out_as_they_went_in(content in proptest::collection::vec(any::<u8>(), 0..200_000)) {
            check(&content);
        }
    }

    #[test]
    fn trouble_leaves_the_file_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.txt"), "text").unwrap();
        // Something is in the way that cannot be replaced.
        fs::create_dir_all(dir.path().join("a.txt.gz/in")).unwrap();
        assert!(compress(dir.path(), "a.txt").is_err());
        assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "text");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        std::os::unix::fs::symlink("a.txt", dir.path().join("link.txt")).unwrap();
        assert!(compress(dir.path(), "link.txt").is_err(), "a link is not followed");
    }
}
