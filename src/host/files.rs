//! Files written whole: a temporary name, then a rename.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Whether the bytes must survive a power cut, or only a crash of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// File and directory reach the disk before this returns.
    Synced,
    /// The name never shows half a file; the disk may take its time.
    Whole,
}

/// Writes `bytes` to `path`, readable by the owner alone, all or nothing.
pub(crate) fn write(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = dir.join(name);
    let result = write_through(&temporary, path, bytes, durability);
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

fn write_through(temporary: &Path, path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(temporary)?;
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.sync_all()?;
    }
    fs::rename(temporary, path)?;
    match (durability, path.parent()) {
        (Durability::Synced, Some(dir)) => sync_dir(dir),
        _ => Ok(()),
    }
}

/// Makes the names in `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Creates one directory for the owner alone.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Opens a new file for the owner alone, to be appended to.
pub(crate) fn create_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// The whole of a file. What only bears its name, a directory or a pipe that
/// nobody writes to, is invalid data, and nobody waits for it.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last `limit` bytes of a file, and its whole length.
pub(crate) fn tail(path: &Path, limit: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(limit)))?;
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok((bytes, length))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_is_private_and_leaves_no_temporary_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("result.json");
        write(&path, b"one", Durability::Synced).unwrap();
        write(&path, b"two", Durability::Whole).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_tail_is_no_longer_than_asked_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, b"0123456789").unwrap();
        assert_eq!(tail(&path, 3).unwrap(), (b"789".to_vec(), 10));
        assert_eq!(tail(&path, 30).unwrap(), (b"0123456789".to_vec(), 10));
    }
}
