//! How the files of a recorded terminal are called, and whether it lives.
//! Whoever else looks after these files takes the names from here.

use std::io;
use std::path::Path;

use crate::host::{files, lock};

/// Every byte that the terminal was sent.
pub(crate) const OUTPUT: &str = "output.log";
/// The same, compressed after its end.
pub(crate) const PACKED: &str = "output.log.gz";
/// Marks a terminal that is kept whatever its age.
pub(crate) const PIN: &str = "pin";
/// When which byte was written.
pub(super) const TIMES: &str = "times.idx";
pub(super) const META: &str = "meta.json";
/// Held while the session goes on.
pub(super) const LOCK: &str = "lock";
/// Room on the disk for the last words, given back when they are written.
pub(super) const RESERVE: &str = "reserve";

/// Whether the terminal in `dir` is being recorded right now. One of which that
/// cannot be told is: nobody touches what may be live.
pub(crate) fn is_live(dir: &Path) -> bool {
    match files::open_in(dir, LOCK) {
        Ok(file) => lock::is_held_on(&file).unwrap_or(true),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Lock;

    #[test]
    fn what_may_be_live_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOCK);
        assert!(!is_live(dir.path()));
        assert!(!is_live(&dir.path().join("nowhere")));
        let held = Lock::take(&path).unwrap().unwrap();
        assert!(is_live(dir.path()));
        drop(held);
        assert!(!is_live(dir.path()));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(is_live(dir.path()), "nobody knows what this is");
    }
}
