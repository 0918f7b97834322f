//! A small tree and a git for tests.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::git::conversion::{Conversion, ConversionScope};
use crate::git::object::Format;
use crate::git::runner::Git;

/// A tree with `files`, each containing its name as a line, and a git repository beside it.
pub(super) fn world(files: &[&str]) -> (tempfile::TempDir, Git) {
    let dir = tempfile::tempdir().unwrap();
    for part in ["git", "tree"] {
        fs::create_dir(dir.path().join(part)).unwrap();
    }
    for name in files {
        fs::write(dir.path().join("tree").join(name), format!("{name}\r\n")).unwrap();
    }
    let program = Git::find(None, &[]).unwrap();
    let git = Git::settle(program, &dir.path().join("git"), Format::Sha1, &dir.path().join("git/objects"));
    (dir, git.unwrap())
}

pub(super) fn conversion<'a>(git: &'a Git, root: &'a Path, until: Duration) -> Conversion<'a> {
    let (index, deciding, format) = (git.file("index"), Vec::new(), Format::Sha1);
    Conversion { git, root, index, deciding, format, until, reach: ConversionScope::Seen }
}
