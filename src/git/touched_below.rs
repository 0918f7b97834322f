//! Whether something changed below a directory that is not looked into: by
//! times alone, nothing is read.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, fstat, openat, statat};

use crate::git::tree_walk::Time;

/// How many files and directories are looked at for one run.
pub(crate) const MOST: usize = 20_000;

/// Later than everything.
pub(super) const FOREVER: Time = (i64::MAX, 0);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Touched {
    Yes,
    No,
    /// There was too much of it, or it could not be looked at.
    Unknown,
}

/// Whether anything below `top` is younger than `since`; as long as there are
/// looks `left`.
pub(crate) fn touched(top: &Path, since: Time, left: &mut usize) -> Touched {
    match each(top, left, |at| at <= since) {
        Seen::Stopped => Touched::Yes,
        Seen::All => Touched::No,
        Seen::Part => Touched::Unknown,
    }
}

/// When something below `top` was touched last, [`FOREVER`] where that is not known.
pub(super) fn last_touched(top: &Path, left: &mut usize) -> Time {
    let mut last = (i64::MIN, 0);
    let seen = each(top, left, |at| {
        last = last.max(at);
        true
    });
    if seen == Seen::All { last } else { FOREVER }
}

#[derive(Debug, PartialEq, Eq)]
enum Seen {
    All,
    /// There was more than there were looks, or it could not be looked at.
    Part,
    /// Whoever looked had seen enough.
    Stopped,
}

/// Shows `go_on` when each directory and file at or below `top` was touched, until it
/// says no. A repository's own directory says nothing: it is written to by whoever
/// asks for its state.
fn each(top: &Path, left: &mut usize, mut go_on: impl FnMut(Time) -> bool) -> Seen {
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
            return Seen::Stopped;
        }
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") {
                continue;
            }
            if *left == 0 {
                return Seen::Part;
            }
            *left -= 1;
            match statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => {
                    open.push_back(path.join(OsStr::from_bytes(name)));
                }
                Ok(found) if !go_on(at(&found)) => return Seen::Stopped,
                Ok(_) => {}
                Err(_) => seen_all = false,
            }
        }
    }
    if seen_all { Seen::All } else { Seen::Part }
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
