//! The file names of a recorded terminal, and whether it is live. Other modules that handle these
//! files use the names from here.

use std::io;
use std::path::Path;

use crate::host::{files, lock};

/// All bytes sent to the terminal.
pub(crate) const OUTPUT: &str = "output.log";
/// The same, compressed after the end.
pub(crate) const PACKED: &str = "output.log.gz";
/// Marks a terminal that is kept regardless of its age.
pub(crate) const PIN: &str = "pin";
/// The time index.
pub(super) const TIMES: &str = "times.idx";
pub(super) const META: &str = "meta.json";
/// Held during the session.
pub(super) const LOCK: &str = "lock";
/// Disk space reserved for the final metadata.
pub(super) const RESERVE: &str = "reserve";

/// Whether the terminal in `dir` is being recorded. If that is unknown, it counts as live, so that
/// nobody changes it.
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
