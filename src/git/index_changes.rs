//! Finds what changed in the index during a run.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::git::file_state::{GITLINK, State};
use crate::git::filters;
use crate::git::index::{self, IndexError};
use crate::git::index_copy;
use crate::git::index_file;
use crate::git::snapshot::{SnapshotError, TreeBefore, merged};
use crate::git::sparse::Sparse;

#[derive(Default)]
pub(super) struct IndexNow {
    pub(super) new: Vec<Vec<u8>>,
    /// Nested repositories that are no longer in the index.
    pub(super) unlinked: HashSet<Vec<u8>>,
    /// Paths whose entry changed.
    pub(super) restaged: HashSet<Vec<u8>>,
    /// Entries that are deliberately not checked out.
    pub(super) skipped: HashMap<Vec<u8>, State>,
    /// Entries before the run in sparse directories that differ now.
    pub(super) then: HashMap<Vec<u8>, State>,
    pub(super) sparse: Sparse,
    pub(super) reading: IndexKnowledge,
    /// Why the index could not be read.
    pub(super) trouble: Option<String>,
}

/// How much of the index is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum IndexKnowledge {
    /// It did not change.
    #[default]
    Same,
    All,
    /// Missing entries may still exist.
    Part,
}

impl IndexNow {
    /// Whether an attribute file is among the changes.
    pub(super) fn has_lists(&self) -> bool {
        self.new.iter().chain(&self.restaged).any(|path| filters::is_list(path))
    }
}

impl TreeBefore {
    /// What is in the index now and was not before: an agent may add ignored files, or mark files
    /// as not checked out.
    pub(super) fn index_now(&self, until: Duration) -> Result<IndexNow, SnapshotError> {
        let then = self.index_bytes()?;
        let now = match index_file::load(&self.repository.index()) {
            Ok(now) if now == then => return Ok(IndexNow::default()),
            Ok(now) => now,
            Err(trouble) => {
                let trouble = Some(trouble.to_string());
                return Ok(IndexNow { trouble, reading: IndexKnowledge::Part, ..IndexNow::default() });
            }
        };
        let now = self.in_one_part(now, until);
        let mut known = HashMap::new();
        let mut linked = HashSet::new();
        let format = self.store.format();
        index::read(&then, format, |entry| {
            known.insert(entry.path.to_owned(), entry.oid);
            if entry.mode == GITLINK {
                linked.insert(entry.path.to_owned());
            }
        })?;
        let mut found = IndexNow { sparse: Sparse::of(&now, format), ..IndexNow::default() };
        let read = index::read(&now, format, |entry| {
            if entry.skipped && merged(entry) && !index::is_sparse(entry) && !entry.path.is_empty() {
                found.skipped.insert(entry.path.to_owned(), State::outside(entry.mode, entry.oid));
            }
            linked.remove(entry.path);
            match known.get(entry.path) {
                // In a split index, an entry without a name replaces another.
                None if entry.path.is_empty() || index::is_sparse(entry) => {}
                None => found.new.push(entry.path.to_owned()),
                Some(oid) if *oid != entry.oid => drop(found.restaged.insert(entry.path.to_owned())),
                Some(_) => {}
            }
        });
        // A missing index says nothing about its entries.
        let is_whole = read.is_ok() && !now.is_empty();
        found.reading = if is_whole { IndexKnowledge::All } else { IndexKnowledge::Part };
        if is_whole {
            found.unlinked = linked;
            match Sparse::read(&self.git.file("sparse"))?.differing(&found.sparse, self, until) {
                Some(differing) => {
                    found.new.extend(differing.now.keys().filter(|path| !known.contains_key(*path)).cloned());
                    found.skipped.extend(differing.now);
                    found.then = differing.then;
                }
                None => found.reading = IndexKnowledge::Part,
            }
        }
        // In a split index, new entries are in the part that was read.
        found.trouble =
            read.err().filter(|error| *error != IndexError::Extension).map(|error| error.to_string());
        Ok(found)
    }

    /// The index in one piece, even if git split it.
    fn in_one_part(&self, bytes: Vec<u8>, until: Duration) -> Vec<u8> {
        match index::read(&bytes, self.store.format(), |_| {}) {
            Err(IndexError::Extension) => {
                index_copy::joined(&self.repository, &self.git, "index-now", &bytes, until).unwrap_or(bytes)
            }
            Ok(()) | Err(IndexError::Damaged | IndexError::Version(_)) => bytes,
        }
    }
}
