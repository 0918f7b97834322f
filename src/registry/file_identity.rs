//! Identifies the registry's files, to detect that they were removed or replaced.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::registry::{RegistryError, recreate};

/// How often to open the files if each time they are replaced meanwhile.
const ATTEMPTS: u32 = 10;

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

/// What `open` opened, and the identity of the files that it opened: those that had the names before and after.
pub(super) fn opened<T>(
    database: &Path,
    open: impl Fn() -> Result<T, RegistryError>,
) -> Result<(T, RegistryFiles), RegistryError> {
    let look = || RegistryFiles::of(database).map_err(|error| recreate::failed(database, error));
    for _ in 0..ATTEMPTS {
        let before = look()?;
        let opened = open()?;
        let after = look()?;
        // Opening creates a missing log.
        if before.database == after.database && (before.log.is_none() || before.log == after.log) {
            return Ok((opened, after));
        }
    }
    Err(replaced_repeatedly(database))
}

pub(super) fn replaced_repeatedly(database: &Path) -> RegistryError {
    recreate::failed(database, io::Error::other("somebody keeps removing or replacing it"))
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn files_that_are_replaced_while_they_are_opened_are_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        for part in [path.clone(), log(&path)] {
            fs::write(part, "old").unwrap();
        }
        let times = Cell::new(0);
        let open = || {
            let found = fs::read_to_string(&path).unwrap();
            times.set(times.get() + 1);
            if times.get() == 1 {
                let new = suffixed(&path, ".new");
                fs::write(&new, "new").unwrap();
                fs::remove_file(log(&path)).unwrap();
                fs::rename(new, &path).unwrap();
            }
            // As SQLite does.
            fs::File::options().append(true).create(true).open(log(&path)).unwrap();
            Ok(found)
        };
        let (found, files) = opened(&path, open).unwrap();
        assert_eq!((found.as_str(), times.get()), ("new", 2));
        assert_eq!(files, RegistryFiles::of(&path).unwrap());
    }
}
