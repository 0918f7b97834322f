//! Kernel locks that show whether a process is alive.
//!
//! An open-file-description lock lasts as long as any descriptor of the open file. A child inherits
//! it with the descriptor, and the kernel releases it when the last holder dies. Unlike process
//! ids, ages and heartbeats, it cannot be wrong.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A held lock. Dropping it, or dying, releases it.
#[derive(Debug)]
pub(crate) struct Lock(File);

/// A file has two independent locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Main,
    Note,
}

impl Lock {
    /// Takes the lock, creating its file. `None` if somebody else holds it.
    pub(crate) fn take(path: &Path) -> io::Result<Option<Lock>> {
        lock(made(path)?, Which::Main)
    }

    /// Like [`take`](Self::take), but blocks until the lock is free.
    pub(crate) fn wait_for(path: &Path) -> io::Result<Lock> {
        let file = made(path)?;
        loop {
            match set(&file, libc::F_OFD_SETLKW, Which::Main) {
                Ok(()) => return Ok(Lock(file)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Like [`take`](Self::take), but the file must exist.
    pub(crate) fn take_existing(path: &Path) -> io::Result<Option<Lock>> {
        lock(found(path)?, Which::Main)
    }

    /// Like [`take`](Self::take), for the second lock of the file.
    pub(crate) fn take_note(path: &Path) -> io::Result<Option<Lock>> {
        lock(made(path)?, Which::Note)
    }

    /// Like [`take_note`](Self::take_note), but the file must exist.
    pub(crate) fn take_existing_note(path: &Path) -> io::Result<Option<Lock>> {
        lock(found(path)?, Which::Note)
    }

    /// Whether `path` still names the locked file.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let which = |found: Metadata| (found.dev(), found.ino());
        self.0
            .metadata()
            .map(which)
            .ok()
            .is_some_and(|held| path.metadata().is_ok_and(|named| which(named) == held))
    }

    /// Takes over a lock whose descriptor was inherited.
    pub(crate) fn inherited(file: File) -> Lock {
        Lock(file)
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

fn made(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn found(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

fn lock(file: File, which: Which) -> io::Result<Option<Lock>> {
    match set(&file, libc::F_OFD_SETLK, which) {
        Ok(()) => Ok(Some(Lock(file))),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn set(file: &File, command: libc::c_int, which: Which) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as `file` lives, and the
    // kernel only reads the structure.
    match unsafe { libc::fcntl(file.as_raw_fd(), command, &range(which)) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether anybody holds the lock at `path`. Does not take it.
///
/// Opens the file for reading only, because those who watch it would take a closed writer for a
/// release.
pub(crate) fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    is_held_on(&file)
}

/// Like [`is_held`], for an open file.
pub(crate) fn is_held_on(file: &File) -> io::Result<bool> {
    let mut lock = range(Which::Main);
    // SAFETY: the descriptor is open for as long as `file` lives, and `lock`
    // is a valid structure that the kernel fills in.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &mut lock) };
    if asked == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

/// The byte range of the lock; the byte need not exist.
fn range(which: Which) -> libc::flock {
    // SAFETY: a structure of integers, for which zero is a valid value; OFD
    // locks demand a zero process id.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = match which {
        Which::Main => 0,
        Which::Note => 1,
    };
    lock.l_len = 1;
    lock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_freed_on_drop() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.lock");
        assert!(!is_held(&path).unwrap(), "a missing file is a free lock");
        let lock = Lock::take(&path).unwrap().unwrap();
        assert!(is_held(&path).unwrap());
        assert!(Lock::take(&path).unwrap().is_none());
        assert!(lock.is_at(&path));
        let copy = Lock::inherited(lock.file().try_clone().unwrap());
        drop(lock);
        assert!(is_held(&path).unwrap(), "a copy of the descriptor keeps it");
        drop(copy);
        assert!(!is_held(&path).unwrap());
        let waited = Lock::wait_for(&path).unwrap();
        let (turn, next) = (path.clone(), std::sync::mpsc::channel());
        let waiting = std::thread::spawn(move || next.0.send(Lock::wait_for(&turn).unwrap()).unwrap());
        assert!(next.1.recv_timeout(std::time::Duration::from_millis(20)).is_err(), "it sleeps");
        drop(waited);
        drop(next.1.recv().unwrap());
        waiting.join().unwrap();
        let note = Lock::take_note(&path).unwrap().unwrap();
        assert!(!is_held(&path).unwrap() && Lock::take_existing_note(&path).unwrap().is_none());
        drop(note);
        let stale = Lock::take_existing(&path).unwrap().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(!stale.is_at(&path));
        assert!(Lock::take_existing(&path).is_err());
    }
}
