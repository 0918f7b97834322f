//! What the index says after a run and did not say before it.

use std::collections::{HashMap, HashSet};

use super::index::{self, IndexError};
use super::index_file;
use super::object::Oid;
use super::snapshot::{Before, Trouble, merged};
use super::sparse::Sparse;

#[derive(Default)]
pub(super) struct IndexNow {
    pub(super) new: Vec<Vec<u8>>,
    /// Kept out of the tree on purpose.
    pub(super) skipped: HashMap<Vec<u8>, Oid>,
    pub(super) sparse: Sparse,
    /// Why it could not be read.
    pub(super) trouble: Option<String>,
}

impl Before {
    /// What is in the index now and was not before: an agent may add what is
    /// ignored, or have files kept out of the tree.
    pub(super) fn index_now(&self) -> Result<IndexNow, Trouble> {
        let then = self.index_bytes()?;
        let now = match index_file::load(&self.repository.index()) {
            Ok(now) if now == then => return Ok(IndexNow::default()),
            Ok(now) => now,
            Err(trouble) => {
                return Ok(IndexNow { trouble: Some(trouble.to_string()), ..IndexNow::default() });
            }
        };
        let mut known = HashSet::new();
        let format = self.store.format();
        index::read(&then, format, |entry| {
            known.insert(entry.path.to_owned());
        })?;
        let mut found = IndexNow { sparse: Sparse::of(&now, format), ..IndexNow::default() };
        let read = index::read(&now, format, |entry| {
            if entry.skipped && merged(entry) {
                found.skipped.insert(entry.path.to_owned(), entry.oid);
            }
            if !known.contains(entry.path) && !index::is_sparse(entry) {
                found.new.push(entry.path.to_owned());
            }
        });
        // What is new in a split index is in the part that was read.
        found.trouble =
            read.err().filter(|error| *error != IndexError::Extension).map(|error| error.to_string());
        Ok(found)
    }
}
