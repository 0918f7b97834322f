//! Finds out when something was last touched that is now as it was before.
//!
//! A file that was changed and restored differs only in its times. One that was created and removed
//! leaves a trace only in the time of its directory.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::git::tree_walk::Time;

/// Maximum number of directory entries examined per run.
const MOST: usize = 20_000;
/// Maximum total length of directory names, enough for a million files.
const MOST_BYTES: usize = 64 << 20;
/// The times of a directory and its newest entry differ by at most one kernel tick.
const TICK_MS: i64 = 12;

/// The directories of the tree.
#[derive(Debug, Default)]
pub(super) struct Directories {
    all: BTreeSet<Vec<u8>>,
    last: Vec<u8>,
    bytes: usize,
}

impl Directories {
    /// Records the directories of `path`. Cheap if paths come in order.
    pub(super) fn note(&mut self, path: &[u8]) {
        let mut dir = above(path);
        if dir == self.last && !self.all.is_empty() {
            return;
        }
        self.last = dir.to_owned();
        // An index may name paths that no tree has.
        while self.bytes <= MOST_BYTES && self.all.insert(dir.to_owned()) && !dir.is_empty() {
            self.bytes += dir.len();
            dir = above(dir);
        }
    }

    /// The last time after `since` at which something was removed from a directory. If the last
    /// change of a directory was the arrival of an entry that still exists, no removal is assumed.
    pub(super) fn last_removal(&self, root: &Path, since: Time) -> Option<Time> {
        let mut left = MOST;
        let removed = |dir: &Vec<u8>| {
            let path = root.join(OsStr::from_bytes(dir));
            let found = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_dir)?;
            let at = (found.mtime(), u32::try_from(found.mtime_nsec()).unwrap_or(0));
            (at > since && !is_explained(&path, at, &mut left)).then_some(at)
        };
        self.all.iter().filter_map(removed).max()
    }
}

/// Whether an entry of `dir` arrived when the directory last changed.
fn is_explained(dir: &Path, at: Time, left: &mut usize) -> bool {
    let millis = |time: Time| time.0.saturating_mul(1000).saturating_add(i64::from(time.1 / 1_000_000));
    let Ok(entries) = fs::read_dir(dir) else { return false };
    for entry in entries.flatten() {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        // Git writes to it whenever it removes something.
        if entry.file_name() == ".git" {
            continue;
        }
        let Ok(found) = entry.metadata() else { continue };
        let came = (found.ctime(), u32::try_from(found.ctime_nsec()).unwrap_or(0));
        if (millis(came) - millis(at)).abs() <= TICK_MS {
            return true;
        }
    }
    false
}

fn above(path: &[u8]) -> &[u8] {
    memchr::memrchr(b'/', path).map_or(b"", |slash| &path[..slash])
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn paths_that_nobody_has_do_not_fill_the_memory() {
        let mut dirs = Directories::default();
        for at in 0..100 {
            dirs.note(format!("{at}/{}x", "a/".repeat(2000)).as_bytes());
        }
        assert!(dirs.all.iter().map(Vec::len).sum::<usize>() <= MOST_BYTES + 4096);
        assert!(dirs.all.contains(&b"0/a"[..]));
    }

    #[test]
    fn what_was_removed_is_told_by_its_directory() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        fs::write(root.join("a/b/c"), "").unwrap();
        let mut dirs = Directories::default();
        [&b"a/b/c"[..], b"a/b/d", b"e"].into_iter().for_each(|path| dirs.note(path));
        assert_eq!(dirs.all.iter().map(Vec::as_slice).collect::<Vec<_>>(), [&b""[..], b"a", b"a/b"]);
        let set =
            |path: &str, at: SystemTime| fs::File::open(root.join(path)).unwrap().set_modified(at).unwrap();
        // All changes come from creating the entries, however long that took.
        for (inner, dir) in [("a/b/c", "a/b"), ("a/b", "a"), ("a", "")] {
            let found = fs::metadata(root.join(inner)).unwrap();
            let nanos = u32::try_from(found.ctime_nsec()).unwrap();
            set(dir, SystemTime::UNIX_EPOCH + Duration::new(u64::try_from(found.ctime()).unwrap(), nanos));
        }
        assert_eq!(dirs.last_removal(root, (0, 0)), None);
        let later = fs::metadata(root).unwrap().modified().unwrap() + Duration::from_secs(60);
        let seconds = later.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        set("a/b", later);
        let found = dirs.last_removal(root, (0, 0)).unwrap();
        assert_eq!(u64::try_from(found.0).unwrap(), seconds);
        assert_eq!(dirs.last_removal(root, found), None, "it is no younger");
    }
}
