//! What of a tree is our own: a home may stand in the very checkout that is
//! looked at, and what we write there is nothing that a run did.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::snapshot::{Before, listed};

/// Where `ours` is below `root`, if it is, without links on the way.
pub(super) fn below(root: &Path, ours: &Path) -> Option<Vec<u8>> {
    let (root, ours) = (fs::canonicalize(root).ok()?, fs::canonicalize(ours).ok()?);
    let path = ours.strip_prefix(root).ok()?.as_os_str().as_bytes().to_owned();
    (!path.is_empty()).then_some(path)
}

impl Before {
    /// Whether a path is of what is ours.
    pub(super) fn is_own(&self, path: &[u8]) -> bool {
        let rest = self.own.as_ref().and_then(|own| path.strip_prefix(own.as_slice()));
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }

    pub(super) fn own_path(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|own| self.path(own))
    }

    /// A list of paths with zeros between them, without our own.
    pub(super) fn without_own(&self, paths: Vec<u8>) -> Vec<u8> {
        if self.own.is_none() {
            return paths;
        }
        listed(&paths).filter(|path| !self.is_own(path)).collect::<Vec<_>>().join(&0)
    }
}
