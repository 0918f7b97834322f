//! Empty directories that a sandbox leaves where it kept something from being
//! made, and how they are taken away again.
//!
//! Several sandboxes may stand in one directory at the same time, and whoever
//! removes such a place opens it in all of them. So everybody holds a shared
//! lock on the directory meanwhile, and only the last one tidies up.

use std::fs;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

#[derive(Debug)]
pub(crate) struct Litter {
    lock: Option<File>,
    paths: Vec<PathBuf>,
}

impl Litter {
    /// Gets ready for a sandbox in `dir` that may leave some of `paths` behind.
    pub(crate) fn expect(dir: &Path, paths: &[PathBuf]) -> Self {
        if paths.is_empty() {
            return Self { lock: None, paths: Vec::new() };
        }
        let lock = File::open(dir).ok();
        let lock_as = |how| lock.as_ref().is_some_and(|lock| flock(lock, how).is_ok());
        let alone = lock_as(FlockOperation::NonBlockingLockExclusive);
        // Somebody who keeps it for himself is none of us, and not waited for.
        if !lock_as(FlockOperation::NonBlockingLockShared) {
            return Self { lock: None, paths: Vec::new() };
        }
        // What is empty while others are at work is theirs, and ours to remove
        // if we are the last.
        let expected = |path: &&PathBuf| !path.exists() || (!alone && is_empty(path));
        Self { paths: paths.iter().filter(expected).cloned().collect(), lock }
    }

    /// Removes what was left, unless somebody else still needs it.
    pub(crate) fn clear(self) {
        let last = |lock: &File| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        if self.lock.as_ref().is_some_and(last) {
            for path in &self.paths {
                // Fails, as it should, where there is something in it.
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
        let first = Litter::expect(dir.path(), &paths);
        fs::create_dir(&paths[0]).unwrap();
        let second = Litter::expect(dir.path(), &paths);
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
        let litter = Litter::expect(dir.path(), &paths);
        fs::create_dir_all(paths[1].join("something")).unwrap();
        litter.clear();
        assert!(paths.iter().all(|path| path.exists()));
    }
}
