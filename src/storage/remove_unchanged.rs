//! Removes a file only if it has not changed.
//!
//! A capture may be rewritten under the same name at any moment. So the file is first renamed and
//! then checked: a newer file is put back, as is a file left aside by an interrupted removal.

use std::fs;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::storage::file_names::ASIDE;

/// Removes `name` from `dir` if `meant` is its current metadata. Returns whether it did.
pub(crate) fn remove(dir: &Path, name: &str, meant: &Metadata) -> io::Result<bool> {
    let path = dir.join(name);
    let aside = aside(&path);
    fs::rename(&path, &aside)?;
    if is_same(&fs::symlink_metadata(&aside)?, meant) {
        fs::remove_file(&aside)?;
        return Ok(true);
    }
    put_back(&path)?;
    Ok(false)
}

/// Puts a file that was set aside back, unless a newer one exists.
pub(crate) fn put_back(path: &Path) -> io::Result<()> {
    let aside = aside(path);
    match fs::hard_link(&aside, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::remove_file(&aside),
    }
}

fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ASIDE);
    name.into()
}

fn is_same(found: &Metadata, meant: &Metadata) -> bool {
    let which = |file: &Metadata| (file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    which(found) == which(meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_that_was_meant_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let meant = fs::symlink_metadata(&path).unwrap();
        assert!(remove(dir.path(), "a.txt", &meant).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn one_that_was_written_again_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let meant = fs::symlink_metadata(&path).unwrap();
        fs::write(dir.path().join("new"), "new").unwrap();
        fs::rename(dir.path().join("new"), &path).unwrap();
        assert!(!remove(dir.path(), "a.txt", &meant).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_left_aside_gives_way_to_a_newer_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        fs::write(aside(&path), "old").unwrap();
        put_back(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        fs::write(aside(&path), "older").unwrap();
        put_back(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
