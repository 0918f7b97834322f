//! Loads an index file, within limits: an agent can make it as large as it likes.

use std::fs;
use std::io;
use std::path::Path;

use crate::git::index::IndexError;
use crate::git::snapshot::SnapshotError;
use crate::host::files;

/// Maximum size; the index of a million files is half as large.
const LARGEST: u64 = 256 << 20;
/// Space for extensions, such as the names of untracked files.
const BESIDE: u64 = 32 << 20;
/// Minimum and maximum size of an entry.
const ENTRY: (u64, u64) = (62, 4200);
const HEADER: u64 = 12;

/// The bytes of the index at `path`; empty if there is none.
pub(super) fn load(path: &Path) -> Result<Vec<u8>, SnapshotError> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let head = files::head(path, HEADER)?;
    let count = match head[..] {
        [b'D', b'I', b'R', b'C', _, _, _, _, a, b, c, d] => u64::from(u32::from_be_bytes([a, b, c, d])),
        [] => return Ok(Vec::new()),
        _ => return Err(IndexError::Damaged.into()),
    };
    if count * ENTRY.0 > found.len() {
        return Err(IndexError::Damaged.into());
    }
    if found.len() > LARGEST.min(count * ENTRY.1 + BESIDE) {
        return Err(SnapshotError::LargeIndex);
    }
    Ok(files::read(path)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], length: u64, expected: Result<usize, &str>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("index");
        fs::write(&path, head).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
        let loaded = load(&path).map(|bytes| bytes.len()).map_err(|trouble| trouble.to_string());
        assert_eq!(loaded, expected.map_err(str::to_owned));
    }

    #[test]
    fn an_index_is_no_larger_than_what_it_holds() {
        check(b"", 0, Ok(0));
        check(b"DIRC\0\0\0\x02\0\0\0\x01", 100, Ok(100));
        check(b"DIRC\0\0\0\x02\0\0\0\x09", 100, Err("the index is damaged"));
        check(b"nonsense and more", 17, Err("the index is damaged"));
        check(b"DIRC\0\0\0\x02\0\0\0\x01", 1 << 30, Err("the index is far larger than its entries need"));
        assert!(load(Path::new("/nowhere/index")).unwrap().is_empty());
    }
}
