//! Finds a file, or makes the directories above it, without following a link out of its tree.

use std::ffi::OsStr;
use std::fs;
use std::fs::Metadata;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What is at `path` below `root`. What lies beyond a link is not below it.
pub(super) fn find(root: &Path, path: &[u8]) -> Option<Metadata> {
    let mut at = root.to_owned();
    let mut found = None;
    for part in path.split(|&byte| byte == b'/') {
        if found.as_ref().is_some_and(|above: &Metadata| !above.is_dir()) {
            return None;
        }
        at.push(OsStr::from_bytes(part));
        found = Some(fs::symlink_metadata(&at).ok()?);
    }
    found
}

/// The file at `path` below `root`, if no part of the way is a link or a file. Creates missing directories.
pub(super) fn reach(root: &Path, path: &[u8]) -> io::Result<PathBuf> {
    let mut at = root.to_owned();
    let mut parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        at.push(OsStr::from_bytes(part));
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&at)?,
            Err(error) => return Err(error),
        }
    }
    Ok(at.join(OsStr::from_bytes(last)))
}
