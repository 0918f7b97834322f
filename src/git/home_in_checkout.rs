//! Excludes our own home if it lies in the checkout: what we write there is not the run's work.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::snapshot::{TreeBefore, listed};

/// The path of `ours` relative to `root`, if it is below it, with links resolved.
pub(super) fn below(root: &Path, ours: &Path) -> Option<Vec<u8>> {
    let (root, ours) = (fs::canonicalize(root).ok()?, fs::canonicalize(ours).ok()?);
    let path = ours.strip_prefix(root).ok()?.as_os_str().as_bytes().to_owned();
    (!path.is_empty()).then_some(path)
}

impl TreeBefore {
    /// Whether `path` belongs to our home.
    pub(super) fn is_own(&self, path: &[u8]) -> bool {
        let rest = self.own.as_ref().and_then(|own| path.strip_prefix(own.as_slice()));
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }

    pub(super) fn own_path(&self) -> Option<PathBuf> {
        self.own.as_ref().map(|own| self.path(own))
    }

    /// Removes our own paths from a NUL-separated list.
    pub(super) fn without_own(&self, paths: Vec<u8>) -> Vec<u8> {
        if self.own.is_none() {
            return paths;
        }
        listed(&paths).filter(|path| !self.is_own(path)).collect::<Vec<_>>().join(&0)
    }
}
