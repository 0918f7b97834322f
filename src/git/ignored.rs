//! What git ignores: build output, caches, secrets. Whether something of it
//! was made, changed or removed is worth knowing; what is in it is not read.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::worktree::Time;

/// How many files are looked at, in all ignored directories together.
const MOST_LOOKED: usize = 5_000;

/// An ignored file, or a whole directory of them, without having been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    Seen {
        files: u64,
        bytes: u64,
        newest: Time,
    },
    /// There is too much in it to be looked through.
    TooMuch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IgnoredChange {
    Added,
    Modified,
    Deleted,
    /// There was too much of it to tell.
    Unknown,
}

pub(crate) type Traces = HashMap<Vec<u8>, Trace>;

/// Looks at what `listed` names below `root`: paths that end in a slash are
/// directories.
pub(crate) fn trace(root: &Path, listed: &[u8]) -> Traces {
    let mut left = MOST_LOOKED;
    let paths = listed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
    let mut at = |path: &[u8]| look(&root.join(OsStr::from_bytes(path)), &mut left);
    paths.map(|path| (path.to_owned(), at(path))).collect()
}

fn look(path: &Path, left: &mut usize) -> Trace {
    let mut seen = (0, 0, (0, 0));
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if *left == 0 {
            return Trace::TooMuch;
        }
        *left -= 1;
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        let changed = (found.ctime(), u32::try_from(found.ctime_nsec()).unwrap_or(0));
        if found.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.take(*left + 1).map(|entry| entry.path()));
        } else {
            seen = (seen.0 + 1, seen.1 + found.len(), changed.max(seen.2));
        }
    }
    Trace::Seen { files: seen.0, bytes: seen.1, newest: seen.2 }
}

/// What became of them, sorted by path.
pub(crate) fn compare(before: &Traces, after: &Traces) -> Vec<(Vec<u8>, IgnoredChange)> {
    let mut changes: Vec<_> = after
        .iter()
        .filter_map(|(path, now)| {
            let change = match (before.get(path), now) {
                (None, _) => IgnoredChange::Added,
                (Some(Trace::TooMuch), _) | (_, Trace::TooMuch) => IgnoredChange::Unknown,
                (Some(then), now) if then == now => return None,
                (Some(_), _) => IgnoredChange::Modified,
            };
            Some((path.clone(), change))
        })
        .chain(
            before
                .keys()
                .filter(|path| !after.contains_key(*path))
                .map(|path| (path.clone(), IgnoredChange::Deleted)),
        )
        .collect();
    changes.sort();
    changes
}

/// Whether `path` is one of these or below one.
pub(crate) fn covers(traces: &Traces, path: &[u8]) -> bool {
    let above = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..=at]);
    traces.contains_key(path) || above.into_iter().any(|dir| traces.contains_key(dir))
}

/// One line per path, for the time between.
pub(crate) fn told(traces: &Traces) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (path, trace) in traces {
        let text = match trace {
            Trace::Seen { files, bytes, newest } => format!("{files} {bytes} {} {}\t", newest.0, newest.1),
            Trace::TooMuch => "-\t".to_owned(),
        };
        bytes.extend(text.into_bytes());
        bytes.extend(path);
        bytes.push(0);
    }
    bytes
}

pub(crate) fn parsed(bytes: &[u8]) -> Option<Traces> {
    let records = bytes.split(|&byte| byte == 0).filter(|record| !record.is_empty());
    records
        .map(|record| {
            let tab = memchr::memchr(b'\t', record)?;
            let text = std::str::from_utf8(&record[..tab]).ok()?;
            let numbers: Vec<u64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
            let trace = match numbers[..] {
                [files, bytes, seconds, nanos] => Trace::Seen {
                    files,
                    bytes,
                    newest: (i64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?),
                },
                _ => Trace::TooMuch,
            };
            Some((record[tab + 1..].to_owned(), trace))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_inside_an_ignored_directory_is_seen_and_not_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("target/debug")).unwrap();
        fs::write(dir.path().join("target/debug/a"), "1").unwrap();
        fs::write(dir.path().join("x.log"), "1").unwrap();
        let listed = b"target/\0x.log\0";
        let before = trace(dir.path(), listed);
        assert_eq!(compare(&before, &trace(dir.path(), listed)), []);
        fs::write(dir.path().join("target/debug/b"), "1").unwrap();
        let after = trace(dir.path(), b"target/\0new\0");
        let changes = compare(&before, &after);
        let kinds: Vec<_> = changes.iter().map(|(path, kind)| (path.as_slice(), *kind)).collect();
        assert_eq!(
            kinds,
            [
                (&b"new"[..], IgnoredChange::Added),
                (b"target/", IgnoredChange::Modified),
                (b"x.log", IgnoredChange::Deleted),
            ]
        );
        assert_eq!(parsed(&told(&before)), Some(before));
    }

    #[test]
    fn what_is_below_an_ignored_directory_is_ignored() {
        let traces: Traces = [(b"target/".to_vec(), Trace::TooMuch), (b"x".to_vec(), Trace::TooMuch)].into();
        assert!(covers(&traces, b"target/a/b") && covers(&traces, b"x"));
        assert!(!covers(&traces, b"targets/a") && !covers(&traces, b"x/y"));
    }
}
