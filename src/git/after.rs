//! The working tree after a run against the one before it.
//!
//! What was tracked *before* the run says where to look, and how files looked
//! *then* says which of them to read: nothing that an agent writes into the
//! index can hide a change.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::time::Duration;

use super::content::{Candidate, Contents, LARGE, Need};
use super::ignored::{self, IgnoredChange, Traces};
use super::index::{self, Entry};
use super::repository::{bounded, head_of};
use super::snapshot::{Before, Listed, Look, Trouble, listed, merged};
use super::sparse::Sparse;
use super::state::{GITLINK, State, States};
use super::worktree::{Found, WorkTree};

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
    pub(crate) ignored: Vec<(Vec<u8>, IgnoredChange)>,
    /// Repositories within this one; of each only its commit is known.
    pub(crate) nested: Vec<Vec<u8>>,
    /// How many files were not read, and count as changed.
    pub(crate) unread: u32,
    /// Why new files could not be looked for.
    pub(crate) unlisted: Option<String>,
}

/// A path to be read, with what it was before.
struct Open {
    candidate: Candidate,
    old: Option<State>,
}

struct Comparison<'a> {
    before: &'a Before,
    tree: WorkTree,
    states: States,
    ignored: Traces,
    /// What was tracked of new paths, though not checked out.
    sparse: HashMap<Vec<u8>, State>,
    found: Differences,
    open: Vec<Open>,
}

impl Before {
    /// Compares the tree as it is now with what was written down.
    pub(crate) fn compare(&self, until: Duration) -> Result<Differences, Trouble> {
        let (others, ignored) = (self.list(Listed::Others)?, self.list(Listed::Ignored)?);
        let mut comparison = Comparison {
            before: self,
            tree: WorkTree::open(&self.repository.root)?,
            states: self.states()?,
            ignored: self.ignored(),
            sparse: HashMap::new(),
            found: Differences::default(),
            open: Vec::new(),
        };
        comparison.tracked()?;
        let mut paths: BTreeSet<Vec<u8>> = comparison.states.keys().cloned().collect();
        match others.finish() {
            Ok(others) => {
                let plain = |path: &[u8]| path.strip_suffix(b"/").unwrap_or(path).to_owned();
                paths.extend(listed(&others).map(plain));
            }
            Err(error) => comparison.found.unlisted = Some(error.to_string()),
        }
        paths.extend(self.newly_tracked()?);
        let unknown = paths.iter().filter(|path| !comparison.states.contains_key(*path));
        comparison.sparse = Sparse::read(&self.git.file("sparse"))?.tracked(unknown, &self.git, until);
        paths.into_iter().for_each(|path| comparison.other(path));
        if let Ok(ignored) = ignored.finish() {
            let now = ignored::trace(&self.repository.root, &ignored);
            comparison.found.ignored = ignored::compare(&comparison.ignored, &now);
        }
        Ok(comparison.finish(until))
    }

    /// Paths that are in the index now and were not before: an agent may add
    /// what is ignored. An index that cannot be read any more adds none.
    fn newly_tracked(&self) -> io::Result<Vec<Vec<u8>>> {
        let (then, now) =
            (self.index_bytes()?, bounded(&self.repository.index(), 1 << 30).unwrap_or_default());
        if then == now {
            return Ok(Vec::new());
        }
        let mut known = HashSet::new();
        let format = self.store.format();
        let _ = index::read(&then, format, |entry| {
            known.insert(entry.path.to_owned());
        });
        let mut new = Vec::new();
        let _ = index::read(&now, format, |entry| {
            if !known.contains(entry.path) && !index::is_sparse(entry) {
                new.push(entry.path.to_owned());
            }
        });
        Ok(new)
    }
}

impl Comparison<'_> {
    /// Everything that was tracked before.
    fn tracked(&mut self) -> Result<(), Trouble> {
        let mut last = Vec::new();
        let bytes = self.before.index_bytes()?;
        index::read(&bytes, self.before.store.format(), |entry| {
            if last == entry.path {
                return;
            }
            last.clear();
            last.extend_from_slice(entry.path);
            if entry.mode == GITLINK {
                self.found.nested.push(entry.path.to_owned());
            }
            match self.states.remove(entry.path) {
                Some(old) => self.path(entry.path.to_owned(), old),
                None => {
                    let look = self.before.against_index(&mut self.tree, entry);
                    self.note(entry.path.to_owned(), Some(as_indexed(entry)), look);
                }
            }
        })?;
        Ok(())
    }

    /// A path that was not tracked before.
    fn other(&mut self, path: Vec<u8>) {
        match self.states.remove(&path).flatten().or_else(|| self.sparse.remove(&path)) {
            Some(old) => self.path(path, Some(old)),
            None => {
                let look = self.before.untracked(&mut self.tree, &path);
                match look {
                    // Rules changed, and show what was ignored before.
                    Look::Read(stat)
                        if self.before.is_older(&stat) && ignored::covers(&self.ignored, &path) => {}
                    // A repository without any commit.
                    Look::Gone if self.tree.look(&path) == Found::Directory => self.found.nested.push(path),
                    Look::Same | Look::Gone | Look::Nested(_) | Look::Read(_) => self.note(path, None, look),
                }
            }
        }
    }

    /// A path that was not as the index said, or in no index at all.
    fn path(&mut self, path: Vec<u8>, old: Option<State>) {
        if old.as_ref().is_some_and(State::is_nested) {
            self.found.nested.push(path.clone());
        }
        let look = match (self.tree.look(&path), &old) {
            (Found::Nothing, None) => Look::Same,
            (Found::Nothing, Some(_)) => Look::Gone,
            (Found::Directory, old) => {
                let was = old.as_ref().filter(|old| old.is_nested());
                match (head_of(&self.before.path(&path)), was) {
                    (Some(commit), Some(was)) if was.oid == Some(commit) => Look::Same,
                    (None, Some(_)) => Look::Same,
                    (Some(commit), _) => Look::Nested(commit),
                    (None, None) if old.is_none() => Look::Same,
                    (None, None) => Look::Gone,
                }
            }
            (Found::File(stat), old) => {
                let stat = self.before.as_git_sees(stat, old.as_ref().map_or(0o100644, |old| old.mode));
                let untouched = old.as_ref().filter(|old| old.stat == Some(stat));
                // What was not read then cannot be compared by being read now.
                let enough = |old: &State| self.before.is_settled(&stat) || old.oid.is_none();
                if untouched.is_some_and(enough) { Look::Same } else { Look::Read(stat) }
            }
        };
        self.note(path, old, look);
    }

    fn note(&mut self, path: Vec<u8>, old: Option<State>, look: Look) {
        match look {
            Look::Same => {}
            Look::Gone if old.is_none() => {}
            Look::Gone => self.found.changed.push(Changed { path, old, new: None }),
            Look::Nested(commit) => {
                self.found.nested.push(path.clone());
                self.found.changed.push(Changed { path, old, new: Some(State::nested(commit)) });
            }
            Look::Read(stat) => {
                let expected = old.as_ref().and_then(|old| old.oid);
                self.open.push(Open { candidate: Candidate { path, stat, expected }, old });
            }
        }
    }

    fn finish(mut self, until: Duration) -> Differences {
        let (candidates, olds): (Vec<_>, Vec<_>) =
            self.open.into_iter().map(|open| (open.candidate, open.old)).unzip();
        let Before { store, git, repository, .. } = self.before;
        let contents = Contents::new(store, Need::TELL, until);
        let (states, unread) =
            contents.read(&mut self.tree, &candidates, git, &repository.root, &self.before.index());
        self.found.unread = unread;
        for ((candidate, old), new) in candidates.into_iter().zip(olds).zip(states) {
            if !old.as_ref().is_some_and(|old| old.is_same(&new)) {
                self.found.changed.push(Changed { path: candidate.path, old, new: Some(new) });
            }
        }
        self.found.changed.sort_by(|a, b| a.path.cmp(&b.path));
        self.found.nested.sort();
        self.found.nested.dedup();
        self.found
    }
}

/// What the index said of a file that had not changed.
fn as_indexed(entry: &Entry<'_>) -> State {
    State {
        mode: entry.mode,
        oid: merged(entry).then_some(entry.oid),
        readable: u64::from(entry.size()) <= LARGE,
        stat: None,
        sha256: None,
    }
}
