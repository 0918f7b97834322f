//! Records the traces of ignored files (build output, caches, secrets): enough to tell that some
//! were added, changed or removed. Their content is not read.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use crate::git::ignored_changes::parent_dirs;
use crate::git::tree_walk::Time;

/// Maximum number of single ignored files examined.
const MOST_FILES: usize = 5_000;
/// Maximum number of files examined in all ignored directories together. Each costs microseconds,
/// and every run waits for this twice.
const MOST_INSIDE: usize = 1_000;

/// An ignored file or a whole ignored directory, by metadata only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IgnoredTrace {
    Seen {
        files: u64,
        bytes: u64,
        newest: Time,
    },
    /// Too many files to examine. `newest` is the last change among those examined.
    TooMuch {
        newest: Time,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IgnoredChange {
    Added,
    Modified,
    Deleted,
    /// There were too many files to tell.
    Unknown,
}

pub(crate) type Traces = HashMap<Vec<u8>, IgnoredTrace>;

/// Examines the paths `listed` below `root`; those that end in a slash are directories. Skips
/// `own`.
pub(crate) fn trace(root: &Path, listed: &[u8], own: Option<&Path>) -> Traces {
    let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    let all: HashSet<&[u8]> = paths.clone().filter(|path| path.ends_with(b"/")).collect();
    // Git sometimes lists both a directory and its content.
    let paths = paths.filter(|path| !parent_dirs(path).any(|dir| all.contains(dir)));
    let (dirs, files): (Vec<&[u8]>, Vec<&[u8]>) = paths.partition(|path| path.ends_with(b"/"));
    let at = |path: &[u8]| root.join(OsStr::from_bytes(path));
    let mut traces = Traces::with_capacity(dirs.len() + files.len());
    for (count, path) in files.into_iter().enumerate() {
        let trace =
            if count < MOST_FILES { one(&at(path)) } else { IgnoredTrace::TooMuch { newest: (0, 0) } };
        traces.insert(path.to_owned(), trace);
    }
    let mut left = MOST_INSIDE;
    for (after, path) in dirs.iter().enumerate() {
        // What one directory leaves of the budget goes to the rest, so a large one hides none.
        let share = left / (dirs.len() - after);
        let mut inside = IgnoredWalk { left: share, ..IgnoredWalk::default() };
        let trace = inside.look(at(path), own);
        left -= share - inside.left;
        traces.insert((*path).to_owned(), trace);
    }
    traces
}

fn one(path: &Path) -> IgnoredTrace {
    let mut inside = IgnoredWalk::default();
    if let Ok(found) = statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        inside.note(&found);
    }
    inside.seen()
}

/// A breadth-first walk through an ignored directory: rebuilding changes something near the top.
#[derive(Debug, Default)]
struct IgnoredWalk {
    left: usize,
    files: u64,
    bytes: u64,
    newest: Time,
    newest_dir: Time,
}

impl IgnoredWalk {
    fn look(&mut self, top: PathBuf, own: Option<&Path>) -> IgnoredTrace {
        let mut open = VecDeque::from([top]);
        while let Some(path) = open.pop_front() {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(dir) = openat(CWD, &path, flags, Mode::empty()) else { continue };
            if let Ok(found) = rustix::fs::fstat(&dir) {
                self.newest_dir = self.newest_dir.max(changed(&found));
            }
            let Ok(entries) = Dir::read_from(&dir) else { continue };
            for entry in entries.flatten() {
                let name = entry.file_name().to_bytes();
                let is_own = || own.is_some_and(|own| own == path.join(OsStr::from_bytes(name)));
                if matches!(name, b"." | b"..") || is_own() {
                    continue;
                }
                if self.left == 0 {
                    return IgnoredTrace::TooMuch { newest: self.newest.max(self.newest_dir) };
                }
                self.left -= 1;
                let Ok(found) = statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
                if FileType::from_raw_mode(found.st_mode) == FileType::Directory {
                    open.push_back(path.join(OsStr::from_bytes(name)));
                } else {
                    self.note(&found);
                }
            }
        }
        self.seen()
    }

    fn note(&mut self, found: &rustix::fs::Stat) {
        self.files += 1;
        self.bytes += u64::try_from(found.st_size).unwrap_or(0);
        self.newest = self.newest.max(changed(found));
    }

    fn seen(&self) -> IgnoredTrace {
        IgnoredTrace::Seen { files: self.files, bytes: self.bytes, newest: self.newest }
    }
}

fn changed(found: &rustix::fs::Stat) -> Time {
    (found.st_ctime, u32::try_from(found.st_ctime_nsec).unwrap_or(0))
}

/// Whether `path` is one of these or below one.
pub(crate) fn covers(traces: &Traces, path: &[u8]) -> bool {
    traces.contains_key(path) || parent_dirs(path).any(|dir| traces.contains_key(dir))
}

/// Serializes the traces.
pub(crate) fn serialize(traces: &Traces) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, trace) in traces {
        let text = match trace {
            IgnoredTrace::Seen { files, bytes, newest } => {
                format!("{files} {bytes} {} {}\t", newest.0, newest.1)
            }
            IgnoredTrace::TooMuch { .. } => "-\t".to_owned(),
        };
        bytes.extend(text.into_bytes());
        bytes.extend(path);
        bytes.push(0);
    }
    bytes
}

pub(crate) fn parse(bytes: &[u8]) -> Option<Traces> {
    let records = bytes.split(|&byte| byte == 0).filter(|record| !record.is_empty());
    records
        .map(|record| {
            let tab = memchr::memchr(b'\t', record)?;
            let text = std::str::from_utf8(&record[..tab]).ok()?;
            let numbers: Vec<u64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
            let trace = match numbers[..] {
                [files, bytes, seconds, nanos] => IgnoredTrace::Seen {
                    files,
                    bytes,
                    newest: (i64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?),
                },
                _ => IgnoredTrace::TooMuch { newest: (0, 0) },
            };
            Some((record[tab + 1..].to_owned(), trace))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_was_seen_is_kept_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("target/debug")).unwrap();
        fs::write(dir.path().join("target/debug/a"), "1").unwrap();
        fs::write(dir.path().join("x.log"), "1").unwrap();
        let traces = trace(dir.path(), b"target/\0target/debug/a\0x.log\0", None);
        assert_eq!(traces.len(), 2, "a directory stands for what is in it");
        fs::write(dir.path().join("target/debug/b"), "1").unwrap();
        assert_ne!(trace(dir.path(), b"target/", None), trace(dir.path(), b"x.log", None));
        assert_ne!(trace(dir.path(), b"target/\0x.log", None), traces);
        assert_eq!(parse(&serialize(&traces)), Some(traces));
    }

    #[test]
    fn a_large_directory_hides_no_other_and_is_known_by_what_changed_on_top() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("large/deep")).unwrap();
        (0..MOST_INSIDE + 10)
            .for_each(|n| fs::write(dir.path().join(format!("large/deep/{n}")), "").unwrap());
        fs::create_dir(dir.path().join("small")).unwrap();
        fs::write(dir.path().join("small/a"), "1").unwrap();
        fs::write(dir.path().join("z.env"), "1").unwrap();
        let traces = trace(dir.path(), b"large/\0small/\0z.env\0", None);
        assert!(matches!(traces[&b"large/"[..]], IgnoredTrace::TooMuch { newest } if newest > (0, 0)));
        for path in [&b"small/"[..], b"z.env"] {
            assert!(matches!(traces[path], IgnoredTrace::Seen { files: 1, bytes: 1, .. }));
        }
    }

    #[test]
    fn what_is_below_an_ignored_directory_is_ignored() {
        let trace = IgnoredTrace::TooMuch { newest: (0, 0) };
        let traces: Traces = [(b"target/".to_vec(), trace), (b"x".to_vec(), trace)].into();
        assert!(covers(&traces, b"target/a/b") && covers(&traces, b"x"));
        assert!(!covers(&traces, b"targets/a") && !covers(&traces, b"x/y"));
    }
}
