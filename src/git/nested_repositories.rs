//! Detects whether nested repositories were touched, without reading them.

use std::collections::BTreeSet;
use std::fs;

use crate::git::snapshot::TreeBefore;
use crate::git::touched_below::{FOREVER, MOST, Touched, last_touched, touched};
use crate::git::tree_walk::Time;

impl TreeBefore {
    /// Which of `paths` were touched since the snapshot, and when last. Paths that are files by now
    /// are reported elsewhere.
    pub(super) fn touched_within(
        &self,
        paths: &BTreeSet<Vec<u8>>,
    ) -> (Vec<(Vec<u8>, Touched)>, Option<Time>) {
        let mut left = MOST;
        let mut seen = Vec::new();
        for path in paths {
            let top = self.path(path);
            let touched = match fs::symlink_metadata(&top) {
                Ok(found) if !found.is_dir() => continue,
                Err(_) => Touched::No,
                // Not checked out.
                Ok(_) if self.is_empty(path) => Touched::No,
                Ok(_) => touched(&top, self.since(), &mut left),
            };
            seen.push((path.clone(), touched));
        }
        let mut left = MOST;
        let when = |(path, touched): &(Vec<u8>, Touched)| match touched {
            Touched::Yes => Some(last_touched(&self.path(path), &mut left)),
            Touched::No => None,
            Touched::Unknown => Some(FOREVER),
        };
        let last = seen.iter().filter_map(when).max();
        (seen, last)
    }

    /// Whether `path` is an empty directory.
    pub(super) fn is_empty(&self, path: &[u8]) -> bool {
        fs::read_dir(self.path(path)).is_ok_and(|mut entries| entries.next().is_none())
    }
}
