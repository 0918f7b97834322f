//! What a comparison of two looks at a tree finds.

use std::collections::BTreeSet;

use crate::git::file_state::State;
use crate::git::ignored::IgnoredChange;
use crate::git::touched_below::Touched;
use crate::git::tree_walk::Time;

/// One path that is not what it was. Absent means that nothing was, or is, there.
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
    /// `None` where nobody could say what is ignored.
    pub(crate) ignored: Option<Vec<(Vec<u8>, IgnoredChange)>>,
    /// Repositories within this one; of each only its commit is known, and
    /// whether anything was touched.
    pub(crate) nested: Vec<(Vec<u8>, Touched)>,
    /// What was a repository before and is none any more.
    pub(crate) dissolved: BTreeSet<Vec<u8>>,
    /// How many files are tracked and not checked out any more.
    pub(crate) hidden: usize,
    /// What became of files that are tracked and not checked out is not known.
    pub(crate) outside_unknown: bool,
    /// Of these nobody knows whether they changed.
    pub(crate) unseen: Vec<Vec<u8>>,
    /// Why new files could not be looked for everywhere.
    pub(crate) unlisted: Option<String>,
    /// Why the index could not be read any more.
    pub(crate) no_index: Option<String>,
    /// When something was last touched that is as it was before.
    pub(crate) put_back: Option<Time>,
    /// When something last changed in repositories within this one.
    pub(crate) inside: Option<Time>,
}
