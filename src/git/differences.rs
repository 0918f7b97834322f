//! The result of comparing a tree before and after a run.

use std::collections::BTreeSet;

use crate::git::file_state::State;
use crate::git::ignored::IgnoredChange;
use crate::git::touched_below::Touched;
use crate::git::tree_walk::Time;

/// A path that changed. `None` means that it did not, or does not, exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) path: Vec<u8>,
    pub(crate) old: Option<State>,
    pub(crate) new: Option<State>,
}

#[derive(Debug, Default)]
pub(crate) struct Differences {
    /// Sorted by path.
    pub(crate) changed: Vec<Changed>,
    /// `None` if it is unknown what is ignored.
    pub(crate) ignored: Option<Vec<(Vec<u8>, IgnoredChange)>>,
    /// Nested repositories and whether anything in them was touched. Otherwise only their commit is
    /// known.
    pub(crate) nested: Vec<(Vec<u8>, Touched)>,
    /// Directories that were repositories before and no longer are.
    pub(crate) dissolved: BTreeSet<Vec<u8>>,
    /// Number of tracked files that are no longer checked out.
    pub(crate) hidden: usize,
    /// Changes to files that are tracked but not checked out are unknown.
    pub(crate) outside_unknown: bool,
    /// Paths for which it is unknown whether they changed.
    pub(crate) unseen: Vec<Vec<u8>>,
    /// Why new files could not be found everywhere.
    pub(crate) unlisted: Option<String>,
    /// Why the index can no longer be read.
    pub(crate) no_index: Option<String>,
    /// When something was last touched that is now as it was before.
    pub(crate) put_back: Option<Time>,
    /// When something last changed in a nested repository.
    pub(crate) inside: Option<Time>,
}
