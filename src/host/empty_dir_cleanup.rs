//! Removes the empty directories that a sandbox creates as mount points for protected paths.
//!
//! Several sandboxes may run in one directory at the same time, and removing a mount point would
//! expose it in all of them. Each run therefore holds a shared lock on the directory, and only the
//! last one cleans up.

use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

#[derive(Debug)]
pub(crate) struct EmptyDirCleanup {
    lock: Option<File>,
    paths: Vec<PathBuf>,
}

impl EmptyDirCleanup {
    /// Prepares for a sandbox in `dir` that may leave some of `paths` behind.
    pub(crate) fn expect(dir: &Path, paths: &[PathBuf]) -> Self {
        if paths.is_empty() {
            return Self { lock: None, paths: Vec::new() };
        }
        let lock = File::open(dir).ok();
        let lock_as = |how| lock.as_ref().is_some_and(|lock| flock(lock, how).is_ok());
        let alone = lock_as(FlockOperation::NonBlockingLockExclusive);
        // An exclusive lock belongs to another program: do not wait for it.
        if !lock_as(FlockOperation::NonBlockingLockShared) {
            return Self { lock: None, paths: Vec::new() };
        }
        // A directory that is empty while other sandboxes run is a mount point of theirs, which the
        // last one removes.
        let expected = |path: &&PathBuf| !path.exists() || (!alone && is_empty(path));
        Self { paths: paths.iter().filter(expected).cloned().collect(), lock }
    }

    /// Removes what was left, unless another sandbox still needs it.
    pub(crate) fn clear(self) {
        let last = |lock: &File| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if self.lock.as_ref().is_some_and(last) {
            for path in &self.paths {
                // Fails, as intended, if the directory is not empty.
                let _ = fs::remove_dir(path);
            }
        }
    }
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_tidies_up() {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().join("a"), dir.path().join("b")];
        let first = EmptyDirCleanup::expect(dir.path(), &paths);
        fs::create_dir(&paths[0]).unwrap();
        let second = EmptyDirCleanup::expect(dir.path(), &paths);
        fs::create_dir(&paths[1]).unwrap();
        first.clear();
        assert!(paths.iter().all(|path| path.exists()));
        second.clear();
        assert!(!paths.iter().any(|path| path.exists()));
    }

    #[test]
    fn what_was_there_before_or_holds_something_stays() {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().join("before"), dir.path().join("full")];
        fs::create_dir(&paths[0]).unwrap();
        let litter = EmptyDirCleanup::expect(dir.path(), &paths);
        fs::create_dir_all(paths[1].join("something")).unwrap();
        litter.clear();
        assert!(paths.iter().all(|path| path.exists()));
    }
}
