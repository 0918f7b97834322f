//! Detects changes below a directory from file times alone, without reading files.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, statat};

use crate::git::tree_walk::Time;

/// Maximum number of entries examined per run.
pub(crate) const MOST: usize = 20_000;

/// Later than any time.
pub(super) const FOREVER: Time = (i64::MAX, 0);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touched {
    Yes,
    No,
    /// There were too many entries, or some could not be examined.
    Unknown,
}

/// Whether anything below `top` is newer than `since`, within `left` entries.
pub(crate) fn touched(top: &Path, since: Time, left: &mut usize) -> Touched {
    match each(top, left, |at| at <= since) {
        Coverage::Stopped => Touched::Yes,
        Coverage::All => Touched::No,
        Coverage::Part => Touched::Unknown,
    }
}

/// When something below `top` was last touched; [`FOREVER`] if unknown.
pub(super) fn last_touched(top: &Path, left: &mut usize) -> Time {
    let mut last = (i64::MIN, 0);
    let seen = each(top, left, |at| {
        last = last.max(at);
        true
    });
    if seen == Coverage::All { last } else { FOREVER }
}

#[derive(Debug, PartialEq, Eq)]
enum Coverage {
    All,
    /// Too many entries, or some could not be examined.
    Part,
    /// The callback ended the walk.
    Stopped,
}

/// Calls `go_on` with the time of each entry at or below `top`, until it returns false. Skips
/// `.git`, which even `git status` writes to.
fn each(top: &Path, left: &mut usize, mut go_on: impl FnMut(Time) -> bool) -> Coverage {
    let mut seen_all = true;
    let mut open = VecDeque::from([top.to_owned()]);
    let at = |found: &rustix::fs::Stat| (found.st_ctime, u32::try_from(found.st_ctime_nsec).unwrap_or(0));
    while let Some(path) = open.pop_front() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let entries = openat(CWD, &path, flags, Mode::empty())
            .and_then(|dir| Ok((fstat(&dir)?, Dir::read_from(&dir)?, dir)));
        let Ok((found, entries, dir)) = entries else {
            seen_all = false;
            continue;
        };
        if !go_on(at(&found)) {
            return Coverage::Stopped;
        }
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            if *left == 0 {
                return Coverage::Part;
            }
            *left -= 1;
            match statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {
                    open.push_back(path.join(OsStr::from_bytes(name)));
                }
                Ok(found) if !go_on(at(&found)) => return Coverage::Stopped,
                Ok(_) => {}
                Err(_) => seen_all = false,
            }
        }
    }
    if seen_all { Coverage::All } else { Coverage::Part }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_younger_is_seen_wherever_it_is() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/c"), "").unwrap();
        let check =
            |path: &str, since: i64, mut left: usize| touched(&dir.path().join(path), (since, 0), &mut left);
        assert_eq!(check("", i64::MAX, MOST), Touched::No);
        assert_eq!(check("", 0, MOST), Touched::Yes);
        assert_eq!(check("", i64::MAX, 1), Touched::Unknown);
        assert_eq!(check("none", 0, MOST), Touched::Unknown);
        let last = |path: &str, mut left: usize| last_touched(&dir.path().join(path), &mut left);
        assert!(last("", MOST).0 < i64::MAX && last("", MOST) >= last("a/b", MOST));
        assert_eq!((last("", 1), last("none", MOST)), (FOREVER, FOREVER));
    }
}
