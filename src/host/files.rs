//! Reads and writes whole files. Writing uses a temporary name and a rename.

use std::fs;
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::model::Timestamp;

/// Whether the bytes must survive a power failure or only a crash of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// File and directory are synced to disk before the call returns.
    Synced,
    /// The name never refers to half a file, but the disk may lag behind.
    Whole,
}

/// Creates or empties a file that only the owner can read.
pub(crate) fn create_or_empty(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Whether there was no space left.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Writes `bytes` to `path` atomically, readable by the owner only.
pub(crate) fn write(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let temporary = temporary(path);
    let result = write_through(&temporary, path, bytes, durability);
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Writes `bytes` to `path` directly, readable by the owner only. Others may see a half-written
/// file: use it only in directories that nobody else reads meanwhile.
pub(crate) fn write_in_place(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    write_new(path.as_ref(), bytes.as_ref(), Durability::Whole)
}

/// Writes `bytes` to `path` atomically unless the file exists, readable by the owner only.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = temporary(path);
    let made =
        write_new(&temporary, bytes, Durability::Synced).and_then(|()| fs::hard_link(&temporary, path));
    let _ = fs::remove_file(&temporary);
    made?;
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

fn write_through(temporary: &Path, path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    write_new(temporary, bytes, durability)?;
    fs::rename(temporary, path)?;
    match (durability, path.parent()) {
        (Durability::Synced, Some(dir)) => sync_dir(dir),
        _ => Ok(()),
    }
}

/// A unique temporary name beside `path`.
fn temporary(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    path.with_file_name(name)
}

fn write_new(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let mut file = create_or_empty(path)?;
    file.write_all(bytes)?;
    match durability {
        Durability::Synced => file.sync_all(),
        Durability::Whole => Ok(()),
    }
}

/// Replaces the content of a user's own file atomically. Follows links and keeps the permissions.
pub(crate) fn replace_user_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let rights = fs::metadata(&target).ok().map(|found| found.permissions());
    let temporary = temporary(&target);
    let written =
        OpenOptions::new().write(true).create_new(true).mode(0o644).open(&temporary).and_then(|mut file| {
            rights.map_or(Ok(()), |rights| file.set_permissions(rights))?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, &target)
        });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Makes the names in `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Creates a directory that only the owner can enter.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Creates such a directory unless one of that name exists.
pub(crate) fn ensure_dir(path: &Path) -> io::Result<()> {
    match create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Opens a file for appending, readable by the owner only.
pub(crate) fn create_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// When the file at `path` was last modified, if it exists.
pub(crate) fn modified_at(path: &Path) -> Option<Timestamp> {
    fs::symlink_metadata(path).ok().as_ref().map(modified)
}

pub(crate) fn modified(found: &Metadata) -> Timestamp {
    Timestamp::from_millis(found.mtime().saturating_mul(1000).saturating_add(found.mtime_nsec() / 1_000_000))
}

/// Creates a file without a name: it disappears when the last descriptor is closed.
pub(crate) fn create_unnamed(dir: &Path) -> io::Result<File> {
    let path = temporary(&dir.join("nameless"));
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    fs::remove_file(&path)?;
    Ok(file)
}

/// Opens a plain file in `dir` for reading. Refuses links and never blocks on a pipe.
pub(crate) fn open_in(dir: &Path, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let dir = openat(CWD, dir, flags | OFlags::DIRECTORY, Mode::empty())?;
    let file = File::from(openat(&dir, name, flags | OFlags::NONBLOCK, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Reads a whole file. A directory or a pipe is an `InvalidData` error; a pipe does not block.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the first `limit` bytes of a plain file. A pipe does not block.
pub(crate) fn head(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file"));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len().min(limit)).unwrap_or(0));
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the last `limit` bytes of a plain file and its length. A pipe does not block.
pub(crate) fn tail(path: &Path, limit: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a file"));
    }
    let length = found.len();
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
    fn a_persons_file_keeps_its_place_and_its_rights() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        fs::write(&real, b"one").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real", &link).unwrap();
        replace_user_file(&link, b"two").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"two");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_is_created_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("http-token");
        create(&path, b"one").unwrap();
        assert_eq!(create(&path, b"two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn only_a_plain_file_of_the_directory_itself_is_opened() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("log"), b"here").unwrap();
        std::os::unix::fs::symlink("log", dir.path().join("link")).unwrap();
        let text = io::read_to_string(open_in(dir.path(), "log").unwrap()).unwrap();
        assert_eq!(text, "here");
        for bad in ["link", ".", "none"] {
            assert!(open_in(dir.path(), bad).is_err(), "{bad}");
        }
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
