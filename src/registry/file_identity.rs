//! Identifies the registry's files, to detect that they were removed or replaced.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Device and inode of the database and its write-ahead log. An open file keeps its inode number,
/// whatever happens to its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegistryFiles {
    pub(super) database: Option<(u64, u64)>,
    pub(super) log: Option<(u64, u64)>,
}

impl RegistryFiles {
    /// The files that currently have these names. Uses `stat` only: closing a descriptor of the
    /// database would drop the locks that SQLite holds for this process.
    pub(super) fn of(database: &Path) -> io::Result<Self> {
        Ok(Self { database: inode(database)?, log: inode(&log(database))? })
    }
}

/// The path of the write-ahead log.
pub(super) fn log(database: &Path) -> PathBuf {
    suffixed(database, "-wal")
}

/// The path of the shared index of the log.
pub(super) fn index(database: &Path) -> PathBuf {
    suffixed(database, "-shm")
}

pub(super) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn inode(path: &Path) -> io::Result<Option<(u64, u64)>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some((found.dev(), found.ino()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
