//! Creates the database file, or replaces one that lost a part.
//!
//! Without its log, a database may lack acknowledged rows, and processes that still have the
//! removed log open may write it back at any time. The database therefore moves to a new file:
//! copied from the old one, completed from the run directories, and renamed into place. Processes
//! with the old file open notice from its [identity](crate::registry::file_identity) and reopen it.

use std::fs;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, ffi};

use crate::host::Home;
use crate::host::Lock;
use crate::host::{clock, files};
use crate::registry::connection::{at, check_version, transact, version, wait_a_little};
use crate::registry::file_identity::{index, log, suffixed};
use crate::registry::{RegistryError, migrations, rebuild};

/// What a path keeps in a `file:` address.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');
/// Two writes within so many milliseconds may leave the same modification time.
const SAME_TIME: u64 = 20;

/// Whether the database and its log both exist.
pub(super) fn is_whole(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.len() > 0) && log(path).exists()
}

/// Takes the lock for creating the database.
pub(super) fn exclusive(home: &Home) -> Result<Lock, RegistryError> {
    let path = home.registry_creation_lock();
    for attempt in 0.. {
        if let Some(lock) = Lock::take(&path).map_err(|error| failed(&path, error))? {
            return Ok(lock);
        }
        if !wait_a_little(attempt) {
            break;
        }
    }
    Err(RegistryError::Busy(sqlite_error(ffi::SQLITE_BUSY, None)))
}

/// Creates the file from the existing one, if any, and the run directories. The caller holds the
/// [lock](exclusive).
pub(super) fn make(home: &Home, kept_for: Duration) -> Result<(), RegistryError> {
    let path = home.registry();
    let new = suffixed(&path, ".new");
    // Left by a process that died while copying.
    let _ = fs::remove_file(suffixed(&new, "-journal"));
    // Private from the start, and not yet anybody's database.
    files::create_or_empty(&new).map_err(|error| failed(&path, error))?;
    let made = fill(home, &path, &new, kept_for).and_then(|()| {
        let put_in_place = || {
            File::open(&new)?.sync_all()?;
            for old in [log(&path), index(&path)] {
                match fs::remove_file(old) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            fs::rename(&new, &path)?;
            files::sync_dir(home.root())
        };
        put_in_place().map_err(|error| failed(&path, error))
    });
    if made.is_err() {
        for left in [&new, &suffixed(&new, "-journal")] {
            let _ = fs::remove_file(left);
        }
    }
    made
}

fn fill(home: &Home, path: &Path, new: &Path, kept_for: Duration) -> Result<(), RegistryError> {
    if fs::metadata(path).is_ok_and(|found| found.len() > 0) {
        settled(path, || {
            files::create_or_empty(new).map_err(|error| failed(path, error))?;
            copy(path, new)
        })?;
    }
    let mut connection = open(new, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|error| at(path, error))?;
    // Nobody sees the file before it is complete and synced.
    for (name, value) in [("journal_mode", "memory"), ("synchronous", "off")] {
        connection.pragma_update(None, name, value).map_err(|error| at(path, error))?;
    }
    transact(&mut connection, |transaction| {
        migrations::apply(transaction, version(transaction)?)?;
        rebuild::fill(transaction, home, kept_for).map(drop)
    })
}

/// Copies with `copy` until the database does not change meanwhile: a process that still has the removed log
/// open may write it back, and half of a transaction is not sound.
fn settled<T>(path: &Path, mut copy: impl FnMut() -> Result<T, RegistryError>) -> Result<T, RegistryError> {
    let look =
        || fs::metadata(path).map(|found| files::modified(&found)).map_err(|error| failed(path, error));
    for attempt in 0.. {
        let (before, now) = (look()?, clock::now());
        if now.millis_since(before).max(before.millis_since(now)) > SAME_TIME {
            let copied = copy();
            if look()? == before {
                return copied;
            }
        }
        if !wait_a_little(attempt) {
            break;
        }
    }
    Err(RegistryError::Busy(sqlite_error(ffi::SQLITE_BUSY, None)))
}

/// Copies the database without its log, which is missing or does not match.
fn copy(path: &Path, new: &Path) -> Result<(), RegistryError> {
    let address = format!("file:{}?immutable=1", percent_encode(path.as_os_str().as_bytes(), KEPT));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let old = open(Path::new(&address), flags).map_err(|error| at(path, error))?;
    check_version(path, version(&old).map_err(|error| at(path, error))?)?;
    let name = ToSqlOutput::Borrowed(ValueRef::Text(new.as_os_str().as_bytes()));
    old.execute("VACUUM INTO ?1", [name]).map_err(|error| at(path, error))?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "no process has this file open as its registry")]
fn open(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

pub(super) fn failed(path: &Path, error: io::Error) -> RegistryError {
    match error.kind() {
        io::ErrorKind::StorageFull => RegistryError::Full(sqlite_error(ffi::SQLITE_FULL, None)),
        _ => RegistryError::Unusable {
            path: path.to_owned(),
            source: sqlite_error(ffi::SQLITE_CANTOPEN, Some(error.to_string())),
        },
    }
}

fn sqlite_error(code: i32, message: Option<String>) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_database_that_changed_meanwhile_is_made_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("registry.db");
        fs::write(&path, "half").unwrap();
        let mut copies = Vec::new();
        let last = settled(&path, || {
            copies.push(fs::read_to_string(&path).unwrap());
            if copies.len() == 1 {
                fs::write(&path, "whole").unwrap();
                return Err(RegistryError::Corrupt(sqlite_error(ffi::SQLITE_CORRUPT, None)));
            }
            Ok(copies.len())
        });
        assert_eq!((last.unwrap(), copies), (2, vec!["half".to_owned(), "whole".to_owned()]));
    }
}
