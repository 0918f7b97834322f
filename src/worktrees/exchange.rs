//! Replaces files of a checkout by others, all or none, if each still is what it is expected to be.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::host::ids;
use crate::worktrees::parent_dirs::{find, reach};

/// How the names of copies begin and end that are not put in place yet. What is between them cannot be guessed.
const COPY: (&str, &str) = (".delegator-apply-", ".tmp");

/// Files of a checkout, and two trees that hold them as they are and as they are to be.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) root: &'a Path,
    pub(super) old: &'a Path,
    pub(super) new: &'a Path,
    /// Each is in at least one of the two.
    pub(super) paths: &'a [Vec<u8>],
    pub(super) finished: Finished,
}

/// Whether files that already are as they are to be are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    Refused,
    Accepted,
}

impl Exchange<'_> {
    /// The paths that are neither as before nor, where that is accepted, as they are to be.
    pub(super) fn unexpected(&self) -> Vec<Vec<u8>> {
        let goes: HashSet<PathBuf> = self.paths.iter().map(|path| at(self.root, path)).collect();
        let unexpected = |path: &&Vec<u8>| {
            let done = self.finished == Finished::Accepted && is_same(self.root, self.new, path);
            !(done || is_same(self.root, self.old, path) && self.is_free(path, &goes))
        };
        self.paths.iter().filter(unexpected).cloned().collect()
    }

    /// Whether a missing file can be put in its place: nothing but what `goes` away is in its way.
    fn is_free(&self, path: &[u8], goes: &HashSet<PathBuf>) -> bool {
        let here = at(self.root, path);
        let above =
            here.ancestors().skip(1).take_while(|dir| dir.starts_with(self.root) && *dir != self.root);
        let mut blocked = above.filter(|dir| fs::symlink_metadata(dir).is_ok_and(|found| !found.is_dir()));
        blocked.all(|file| goes.contains(file))
            && (find(self.root, path).is_none() || holds_only(&here, goes))
    }

    /// Replaces all files. If one cannot be replaced, those before it are put back.
    pub(super) fn run(&self) -> io::Result<()> {
        let mut copies = Copies(Vec::new());
        for path in self.paths {
            if exists(self.new, path) {
                // On the same file system, wherever the directories are not there yet.
                let dirs = self.dirs_above(path);
                let dir = dirs.last().map_or(self.root, PathBuf::as_path);
                let (begin, end) = COPY;
                let copy = dir.join(format!("{begin}{}{end}", ids::secret().map_err(io::Error::other)?));
                copies.0.push((path, copy.clone()));
                copy_entry(&at(self.new, path), &copy)?;
            }
        }
        if let Some(path) = self.unexpected().first() {
            let path = String::from_utf8_lossy(path);
            return Err(io::Error::other(format!("`{}` has just changed", path.escape_debug())));
        }
        self.replace(&copies.0).inspect_err(|_| self.put_back())
    }

    /// Removes the copies that an exchange of the same paths left when it was killed.
    pub(super) fn sweep(&self) {
        let dirs: HashSet<PathBuf> = self.paths.iter().flat_map(|path| self.dirs_above(path)).collect();
        let entries = dirs.into_iter().chain([self.root.to_owned()]).filter_map(|dir| fs::read_dir(dir).ok());
        for entry in entries.flatten().flatten() {
            let name = entry.file_name();
            let random = name.to_str().and_then(|name| name.strip_prefix(COPY.0)?.strip_suffix(COPY.1));
            if random.is_some_and(|hex| hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// The directories on the way to `path`, as far as there are any.
    fn dirs_above(&self, path: &[u8]) -> Vec<PathBuf> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(end, _)| &path[..end]);
        let dirs = ends.take_while(|dir| find(self.root, dir).is_some_and(|found| found.is_dir()));
        dirs.map(|dir| at(self.root, dir)).collect()
    }

    fn replace(&self, copies: &[(&Vec<u8>, PathBuf)]) -> io::Result<()> {
        for path in self.paths.iter().filter(|path| !exists(self.new, path)) {
            self.delete(path)?;
        }
        for (path, copy) in copies {
            fs::rename(copy, reach(self.root, path)?)?;
        }
        Ok(())
    }

    /// Deletes a file, and the directories above it that are empty then.
    fn delete(&self, path: &[u8]) -> io::Result<()> {
        if !exists(self.root, path) {
            return Ok(());
        }
        let here = at(self.root, path);
        fs::remove_file(&here)?;
        let above = here.ancestors().skip(1).take_while(|dir| *dir != self.root);
        // Fails at the first that is not empty.
        let _ = above.map(fs::remove_dir).take_while(Result::is_ok).count();
        Ok(())
    }

    /// As far as it goes: what cannot be written now stays in `old`.
    fn put_back(&self) {
        for path in self.paths {
            if !is_same(self.root, self.old, path) {
                let _ = self.delete(path);
            }
        }
        for path in self.paths.iter().filter(|path| exists(self.old, path) && !exists(self.root, path)) {
            let _ = reach(self.root, path).and_then(|here| copy_entry(&at(self.old, path), &here));
        }
    }
}

/// Copies that were not put in place; deleted when dropped.
struct Copies<'a>(Vec<(&'a Vec<u8>, PathBuf)>);

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        for (_, copy) in &self.0 {
            let _ = fs::remove_file(copy);
        }
    }
}

pub(super) fn at(root: &Path, path: &[u8]) -> PathBuf {
    root.join(OsStr::from_bytes(path))
}

/// Whether there is a file or a link at `path` below `root`.
pub(super) fn exists(root: &Path, path: &[u8]) -> bool {
    find(root, path).is_some_and(|found| !found.is_dir())
}

fn is_dir(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Copies a file with its permissions, or a link, to a place where nothing is yet.
pub(super) fn copy_entry(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(from)?.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    let mut source =
        OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(from)?;
    let found = source.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut copy = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut copy)?;
    copy.set_permissions(found.permissions())
}

/// Whether two files are the same to git, or neither is there. A directory counts as nothing.
fn is_same(one: &Path, other: &Path, path: &[u8]) -> bool {
    let look = |root: &Path| find(root, path).filter(|found| !found.is_dir());
    let (a, b) = (look(one), look(other));
    let (one, two) = (&at(one, path), &at(other, path));
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) if a.is_symlink() && b.is_symlink() => {
            fs::read_link(one).ok().is_some_and(|target| fs::read_link(two).ok() == Some(target))
        }
        (Some(a), Some(b)) if a.is_file() && b.is_file() && a.len() == b.len() => {
            let runs = |found: &fs::Metadata| found.permissions().mode() & 0o100;
            runs(&a) == runs(&b) && fs::read(one).ok().is_some_and(|bytes| fs::read(two).ok() == Some(bytes))
        }
        _ => false,
    }
}

/// Whether all files at or below `place` are among `goes`.
fn holds_only(place: &Path, goes: &HashSet<PathBuf>) -> bool {
    if !is_dir(place) {
        return true;
    }
    let mut entries = fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.all(|path| if is_dir(&path) { holds_only(&path, goes) } else { goes.contains(&path) })
}

/// All files and links below `root`.
pub(super) fn files_below(root: &Path) -> Vec<Vec<u8>> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if is_dir(&path) {
                open.push(path);
            } else if let Ok(below) = path.strip_prefix(root) {
                found.push(below.as_os_str().as_bytes().to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let file = root.join(path);
            fs::create_dir_all(file.parent().expect("it has one")).expect("a directory");
            fs::write(file, text).expect("a file");
        }
    }

    /// A checkout, and what it is and is to be.
    fn world(here: &[(&str, &str)], old: &[(&str, &str)], new: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, files) in [("here", here), ("old", old), ("new", new)] {
            fs::create_dir(dir.path().join(name)).expect("a directory");
            write(&dir.path().join(name), files);
        }
        dir
    }

    #[track_caller]
    fn check(dir: &Path, finished: Finished, unexpected: &[&str], left: &[(&str, &str)]) {
        let (root, old, new) = (dir.join("here"), dir.join("old"), dir.join("new"));
        let mut paths = [files_below(&old), files_below(&new)].concat();
        paths.sort();
        paths.dedup();
        let exchange = Exchange { root: &root, old: &old, new: &new, paths: &paths, finished };
        let found: Vec<String> =
            exchange.unexpected().iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        assert_eq!(found, unexpected);
        assert_eq!(exchange.run().is_ok(), unexpected.is_empty());
        let mut there: Vec<(String, String)> = files_below(&root)
            .iter()
            .map(|path| {
                let text = fs::read_to_string(at(&root, path)).expect("a file");
                (String::from_utf8_lossy(path).into_owned(), text)
            })
            .collect();
        there.sort();
        let left: Vec<(String, String)> = left.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect();
        assert_eq!(there, left);
    }

    #[test]
    fn a_file_and_a_directory_can_take_each_others_place() {
        let old = [("a", "1"), ("b/x", "2")];
        let new = [("a/y", "3"), ("b", "4")];
        let dir = world(&[("a", "1"), ("b/x", "2"), ("c", "c")], &old, &new);
        check(dir.path(), Finished::Refused, &[], &[("a/y", "3"), ("b", "4"), ("c", "c")]);
    }

    #[test]
    fn what_is_in_the_way_stops_everything() {
        let dir =
            world(&[("b/x", "2"), ("b/mine", "m"), ("c", "c")], &[("b/x", "2"), ("c", "c")], &[("b", "4")]);
        check(dir.path(), Finished::Refused, &["b"], &[("b/mine", "m"), ("b/x", "2"), ("c", "c")]);
        let dir = world(&[("a", "mine"), ("c", "c")], &[("c", "c")], &[("a", "new"), ("c", "d")]);
        check(dir.path(), Finished::Refused, &["a"], &[("a", "mine"), ("c", "c")]);
    }

    #[test]
    fn a_link_and_a_directory_can_take_each_others_place() {
        for (old, new) in [("d", "e"), ("e", "d")] {
            let dir = world(&[("d/s/f", "1"), ("t/s/f", "1")], &[], &[]);
            let (here, root) = (dir.path().join("here"), dir.path());
            fs::rename(here.join("d"), root.join("files")).expect("it is there");
            for (side, kind) in [("here", old), ("old", old), ("new", new)] {
                if kind == "d" {
                    write(&root.join(side), &[("d/s/f", "1")]);
                } else {
                    symlink("t", root.join(side).join("d")).expect("a link");
                    write(&root.join(side), &[("t/s/f", "1")]);
                }
            }
            let paths = [b"d".to_vec(), b"d/s/f".to_vec()];
            let (old, new) = (&root.join("old"), &root.join("new"));
            let exchange = Exchange { root: &here, old, new, paths: &paths, finished: Finished::Refused };
            assert_eq!(exchange.unexpected(), Vec::<Vec<u8>>::new());
            exchange.run().expect("it is as expected");
            assert_eq!(here.join("d").is_symlink(), new.join("d").is_symlink());
            assert_eq!(fs::read_to_string(here.join("t/s/f")).expect("a file"), "1");
            let back = Exchange { old: new, new: old, finished: Finished::Accepted, ..exchange };
            assert_eq!(back.unexpected(), Vec::<Vec<u8>>::new());
            back.run().expect("it is as expected");
            assert_eq!(here.join("d").is_symlink(), old.join("d").is_symlink());
            assert_eq!(fs::read_to_string(here.join("t/s/f")).expect("a file"), "1");
        }
    }

    #[test]
    fn a_copy_goes_through_no_link_and_one_left_by_a_killed_process_is_removed() {
        let dir = world(&[("victim", "v"), ("d/f", "1")], &[("d/f", "1")], &[("d/f", "2")]);
        let (here, new) = (dir.path().join("here"), dir.path().join("new"));
        symlink("victim", here.join("link")).expect("a link");
        assert!(copy_entry(&new.join("d/f"), &here.join("link")).is_err());
        assert!(
            copy_entry(&here.join("link"), &here.join("copy")).is_ok_and(|()| here.join("copy").is_symlink())
        );
        assert_eq!(fs::read_to_string(here.join("victim")).expect("a file"), "v");
        let left = here.join(format!("d/.delegator-apply-{}.tmp", "0a".repeat(16)));
        fs::write(&left, "left").expect("a file");
        let mine = here.join("d/.delegator-apply-mine.tmp");
        fs::write(&mine, "mine").expect("a file");
        let old = dir.path().join("old");
        let paths = [b"d/f".to_vec()];
        Exchange { root: &here, old: &old, new: &new, paths: &paths, finished: Finished::Refused }.sweep();
        assert!(!left.exists() && mine.exists());
    }

    #[test]
    fn what_was_interrupted_can_be_finished() {
        let dir = world(&[("a", "2"), ("b", "1")], &[("a", "1"), ("b", "1")], &[("a", "2"), ("b", "2")]);
        check(dir.path(), Finished::Refused, &["a"], &[("a", "2"), ("b", "1")]);
        check(dir.path(), Finished::Accepted, &[], &[("a", "2"), ("b", "2")]);
    }
}
