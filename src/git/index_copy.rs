//! Copies the index into a form that we can read and that git does not rewrite.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use crate::git::index::{self, IndexError};
use crate::git::index_file;
use crate::git::object::Format;
use crate::git::repository::Repository;
use crate::git::runner::Git;
use crate::git::snapshot::SnapshotError;
use crate::git::sparse;
use crate::git::tree_walk::Time;
use crate::host::files;

/// Copies the index in one piece. Returns when it was written.
pub(super) fn take(
    repository: &Repository,
    git: &Git,
    format: Format,
    until: Duration,
) -> Result<Time, SnapshotError> {
    let from = repository.index();
    let Ok(found) = fs::metadata(&from) else { return Ok((0, 0)) };
    let bytes = index_file::load(&from)?;
    files::write_in_place(git.file("index"), &bytes)?;
    let plain = match index::without_sparse(&bytes, format) {
        Err(IndexError::Extension) => {
            index::without_sparse(&joined(repository, git, "index", &bytes, until)?, format)
        }
        checked => checked,
    };
    if let Some(plain) = plain? {
        sparse::keep(&bytes, format, &git.file("sparse"))?;
        files::write_in_place(git.file("index"), plain)?;
    }
    Ok((found.mtime(), u32::try_from(found.mtime_nsec()).unwrap_or(0)))
}

/// Lets git join a split index into a copy called `name`.
pub(super) fn joined(
    repository: &Repository,
    git: &Git,
    name: &str,
    bytes: &[u8],
    until: Duration,
) -> Result<Vec<u8>, SnapshotError> {
    let entries = fs::read_dir(&repository.dir)?.flatten();
    let shared = entries.filter(|entry| entry.file_name().as_bytes().starts_with(b"sharedindex."));
    for entry in shared.take(8) {
        let bytes = index_file::load(&entry.path())?;
        files::write_in_place(git.file(&entry.file_name().to_string_lossy()), bytes)?;
    }
    files::write_in_place(git.file(name), bytes)?;
    let args = ["update-index", "--force-write-index"].map(OsStr::new);
    git.ask(&args, &repository.root, &git.file(name), Vec::new(), until)?;
    Ok(files::read(&git.file(name))?)
}
