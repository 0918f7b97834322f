//! The working tree after a run against the one before it.
//!
//! What was tracked *before* the run says where to look, and how files looked
//! *then* says which of them to read: nothing that an agent writes into the
//! index can hide a change.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use crate::git::changed_content::{Candidate, Contents, LARGE, Need};
use crate::git::differences::{Changed, Differences};
use crate::git::file_state::{GITLINK, State, States};
use crate::git::ignored;
use crate::git::ignored::Traces;
use crate::git::ignored_changes::above;
use crate::git::index;
use crate::git::index::Entry;
use crate::git::index_changes::{IndexNow, Reading};
use crate::git::not_checked_out;
use crate::git::not_checked_out::Was;
use crate::git::rename_candidates::Gone;
use crate::git::repository::head_of;
use crate::git::reverted_paths::Directories;
use crate::git::snapshot::{Before, Listed, Look, Trouble, listed, merged};
use crate::git::sparse::Sparse;
use crate::git::tree_walk::{Found, Stat, WorkTree};

/// A path to be read, with what it was before.
struct Open {
    candidate: Candidate,
    old: Option<State>,
    /// By its size.
    surely_changed: bool,
}

struct Comparison<'a> {
    before: &'a Before,
    tree: WorkTree,
    states: States,
    ignored: Option<Traces>,
    /// What was tracked of new paths, though not checked out.
    sparse: HashMap<Vec<u8>, State>,
    now: IndexNow,
    /// Whether git may keep a file in another form than it has here.
    converts: bool,
    /// What was added to the index.
    staged: HashSet<Vec<u8>>,
    /// Where the files of paths were, as far as that says more than their states.
    were: HashMap<Vec<u8>, Was>,
    /// Files whose content git does not have.
    elsewhere: HashSet<Vec<u8>>,
    /// Repositories that were within this one, each with a slash.
    nested_before: HashSet<Vec<u8>>,
    nested: BTreeSet<Vec<u8>>,
    found: Differences,
    open: Vec<Open>,
    gone: Gone,
    directories: Directories,
}

impl Before {
    /// Compares the tree as it is now with what was written down.
    pub(crate) fn compare(&self, until: Duration) -> Result<Differences, Trouble> {
        if !self.repository.root.is_dir() {
            return Err(Trouble::Gone);
        }
        let written = [self.scratch.clone(), self.git.file("states")];
        if let Some(missing) = written.into_iter().find(|path| !path.exists()) {
            return Err(Trouble::Forgotten(missing));
        }
        let (others, ignored) = (self.list(Listed::Others, until)?, self.list(Listed::Ignored, until)?);
        let mut comparison = Comparison {
            before: self,
            tree: WorkTree::open(&self.repository.root)?,
            states: self.states()?,
            ignored: self.ignored(),
            sparse: HashMap::new(),
            now: self.index_now(until)?,
            converts: false,
            staged: HashSet::new(),
            were: HashMap::new(),
            elsewhere: self.kept_elsewhere(),
            nested_before: HashSet::new(),
            nested: BTreeSet::new(),
            found: Differences::default(),
            open: Vec::new(),
            gone: Gone::default(),
            directories: Directories::default(),
        };
        let known: HashSet<Vec<u8>> = comparison
            .states
            .iter()
            .filter(|(_, state)| state.is_some())
            .map(|(path, _)| path.clone())
            .collect();
        comparison.converts = self.may_convert() || comparison.now.has_lists() || self.has_list();
        comparison.tracked()?;
        let mut paths: BTreeSet<Vec<u8>> = comparison.states.keys().cloned().collect();
        match others.finish_both() {
            Ok((others, complaint)) => {
                let plain = |path: &[u8]| path.strip_suffix(b"/").unwrap_or(path).to_owned();
                paths.extend(listed(&others).map(plain));
                comparison.found.unlisted = shut(&complaint);
            }
            Err(error) => comparison.found.unlisted = Some(error.to_string()),
        }
        let ignored = ignored.finish().ok().map(|ignored| self.without_own(ignored));
        let new = std::mem::take(&mut comparison.now.new);
        paths.extend(new.iter().cloned());
        paths.extend(comparison.now.then.keys().cloned());
        comparison.staged.extend(new);
        let unknown = paths.iter().filter(|path| !comparison.states.contains_key(*path));
        let sparse = Sparse::read(&self.git.file("sparse"))?.tracked(unknown, self, until);
        comparison.found.outside_unknown |= sparse.is_none();
        comparison.sparse = sparse.unwrap_or_default();
        comparison.sparse.extend(std::mem::take(&mut comparison.now.then));
        let others = paths.into_iter().filter(|path| !self.is_own(path));
        others.for_each(|path| comparison.other(path));
        let before = comparison.ignored.take();
        let mut found = comparison.finish(until);
        let ignored = before.zip(ignored);
        found.ignored = ignored.map(|(then, now)| self.compare_ignored(&then, &now, &found.changed, &known));
        Ok(found)
    }
}

impl Comparison<'_> {
    /// Everything that was tracked before.
    fn tracked(&mut self) -> Result<(), Trouble> {
        let mut last = Vec::new();
        let bytes = self.before.index_bytes()?;
        index::read(&bytes, self.before.store.format(), |entry| {
            if last == entry.path || self.before.is_own(entry.path) {
                return;
            }
            last.clear();
            last.extend_from_slice(entry.path);
            self.directories.note(entry.path);
            let is_forgotten = self.now.unlinked.contains(entry.path) && !self.is_repository(entry.path);
            if entry.mode == GITLINK && !is_forgotten {
                self.nested_at(entry.path);
            }
            match self.states.remove(entry.path) {
                Some(old) => {
                    let indexed = merged(entry).then_some(entry.oid);
                    self.were.insert(entry.path.to_owned(), Was::CheckedOut { indexed });
                    self.path(entry.path.to_owned(), old);
                }
                None => {
                    let look = self.before.against_index(&mut self.tree, entry);
                    let look = match look {
                        Look::Same if is_forgotten => self.forgotten(entry.path),
                        Look::Same => self.again(entry.path, entry.mode),
                        look => look,
                    };
                    let old = as_indexed(entry, self.elsewhere.contains(entry.path));
                    let size = u64::from(entry.size());
                    match look {
                        Look::Outside => self.outside(entry.path, old),
                        look => self.note(entry.path.to_owned(), Some(old), Some(size), look),
                    }
                }
            }
        })?;
        Ok(())
    }

    /// A file that is what it was. Git may have been told of it anew, and keep it
    /// in another form since.
    fn again(&mut self, path: &[u8], mode: u32) -> Look {
        match self.is_restaged(path).then(|| self.tree.look(path)) {
            Some(Found::File(stat)) => Look::Read(self.before.as_git_sees(stat, mode)),
            Some(Found::Directory | Found::Nothing | Found::Unseen) | None => Look::Same,
        }
    }

    fn is_restaged(&self, path: &[u8]) -> bool {
        self.converts && self.now.restaged.contains(path)
    }

    /// A path that was tracked and not checked out, and is not now.
    fn outside(&mut self, path: &[u8], old: State) {
        match self.now.keeps(path, &old) {
            Some(true) => {}
            Some(false) => {
                self.were.insert(path.to_owned(), Was::Outside);
                self.note(path.to_owned(), Some(old), None, Look::Gone);
            }
            None => self.found.outside_unknown = true,
        }
    }

    /// A path that was not tracked before, at least not by its name.
    fn other(&mut self, path: Vec<u8>) {
        self.directories.note(&path);
        let outside = self.sparse.remove(&path);
        match self.states.remove(&path).flatten().or_else(|| outside.clone()) {
            Some(old) => {
                if outside.is_some() {
                    self.were.insert(path.clone(), Was::Outside);
                }
                self.path(path, Some(old));
            }
            None => {
                let look = self.before.untracked(&mut self.tree, &path);
                let ignored =
                    |path: &[u8]| self.ignored.as_ref().is_some_and(|all| ignored::covers(all, path));
                // What is added to the index is new to git, however old it is.
                let is_older = |stat: &Stat| self.before.is_older(stat) && !self.staged.contains(&path);
                match look {
                    Look::Gone if self.now.skipped.contains_key(&path) => {
                        let new = self.now.skipped.remove(&path);
                        self.found.changed.push(Changed { path, old: None, new });
                    }
                    // Rules changed, and show what was ignored before.
                    Look::Read(stat) if is_older(&stat) && ignored(&path) => {}
                    // It may well have been there.
                    Look::Read(stat) if is_older(&stat) && self.before.unlisted.is_some() => {}
                    // A repository without any commit.
                    Look::Gone if self.tree.look(&path) == Found::Directory => drop(self.nested.insert(path)),
                    Look::Read(_) if self.dissolves(&path) => {}
                    Look::Same
                    | Look::Outside
                    | Look::Gone
                    | Look::Nested(_)
                    | Look::Read(_)
                    | Look::Unseen => {
                        self.note(path, None, None, look);
                    }
                }
            }
        }
    }

    fn is_repository(&self, path: &[u8]) -> bool {
        head_of(&self.before.path(path)).is_some()
    }

    /// A repository was here that git was told to forget. Git was asked for files
    /// while it still knew of it, and did not look for any in there.
    fn forgotten(&mut self, path: &[u8]) -> Look {
        if !self.before.is_empty(path) {
            self.found.dissolved.insert(path.to_owned());
        }
        Look::Gone
    }

    /// A repository was here before.
    fn nested_at(&mut self, path: &[u8]) {
        self.nested.insert(path.to_owned());
        self.nested_before.insert([path, b"/"].concat());
    }

    /// Whether this is shown only because what it is in ceased to be a repository.
    fn dissolves(&mut self, path: &[u8]) -> bool {
        let dir = above(path)
            .find(|dir| self.nested_before.contains(*dir))
            .map(|dir| dir[..dir.len() - 1].to_owned());
        let dissolves = dir.is_some();
        self.found.dissolved.extend(dir);
        dissolves
    }

    /// A path that was not as the index said, or in no index at all.
    fn path(&mut self, path: Vec<u8>, old: Option<State>) {
        if old.as_ref().is_some_and(State::is_nested) {
            self.nested_at(&path);
        }
        let look = match (self.tree.look(&path), &old) {
            (Found::Unseen, _) => Look::Unseen,
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
                if untouched.is_some_and(enough) && !self.is_restaged(&path) {
                    Look::Same
                } else {
                    Look::Read(stat)
                }
            }
        };
        let size = old.as_ref().and_then(|old| old.stat).map(|stat| stat.size);
        self.note(path, old, size, look);
    }

    /// `size` is what it had, in the width of an index.
    fn note(&mut self, path: Vec<u8>, old: Option<State>, size: Option<u64>, look: Look) {
        match look {
            Look::Same | Look::Outside => {}
            Look::Unseen => self.found.unseen.push(path),
            Look::Gone if old.is_none() => {}
            Look::Gone => {
                self.gone.note(old.as_ref(), size);
                self.found.changed.push(Changed { path, old, new: None });
            }
            Look::Nested(commit) => {
                self.nested.insert(path.clone());
                self.found.changed.push(Changed { path, old, new: Some(State::nested(commit)) });
            }
            Look::Read(stat) => {
                let expected = old.as_ref().and_then(|old| old.oid);
                let surely_changed = size.is_none_or(|size| size as u32 != stat.size as u32);
                self.open.push(Open {
                    candidate: Candidate {
                        expected,
                        restaged: self.now.restaged.contains(&path),
                        ..Candidate::new(path, stat)
                    },
                    old,
                    surely_changed,
                });
            }
        }
    }

    fn finish(mut self, until: Duration) -> Differences {
        // By attribute, what looks binary may be text and the other way round.
        if !self.before.has_attributes(self.open.iter().map(|open| open.candidate.path.as_slice())) {
            self.gone.settle();
            for Open { candidate, old, .. } in &mut self.open {
                candidate.alone = old.is_none() && !self.gone.may_have_become(candidate.stat.size);
            }
        }
        let (candidates, olds): (Vec<_>, Vec<_>) =
            self.open.into_iter().map(|open| (open.candidate, (open.old, open.surely_changed))).unzip();
        let Before { store, repository, .. } = self.before;
        let contents = Contents::new(store, Need::TELL, until);
        let paths = candidates.iter().map(|candidate| candidate.path.as_slice());
        let deciding = match self.now.reading {
            Reading::All => vec![repository.index(), self.before.index()],
            Reading::Same | Reading::Part => vec![self.before.index()],
        };
        let conversion = self.before.conversion(paths, deciding, until);
        let (states, _) = contents.read(&mut self.tree, &candidates, &conversion);
        for ((candidate, (old, surely_changed)), new) in candidates.into_iter().zip(olds).zip(states) {
            let unread = |old: &State| new.oid.is_none() || old.oid.is_none();
            let unknown = old.as_ref().is_some_and(|old| unread(old) && old.mode == new.mode);
            if unknown && !surely_changed {
                self.found.unseen.push(candidate.path);
            } else if !old.as_ref().is_some_and(|old| old.is_same(&new)) {
                self.found.changed.push(Changed { path: candidate.path, old, new: Some(new) });
            } else {
                self.found.put_back = self.found.put_back.max(Some(candidate.stat.ctime));
            }
        }
        let since = self.before.since();
        let removed = self.directories.last_removal(&repository.root, since);
        self.found.put_back = self.found.put_back.filter(|at| *at > since).max(removed);
        let gone = self.found.changed.iter().filter(|one| one.new.is_none()).map(|one| &one.path);
        let sparse = self.now.sparse.tracked(gone, self.before, until);
        self.found.outside_unknown |= sparse.is_none();
        let sparse = sparse.unwrap_or_default();
        let kept = |path: &[u8]| self.now.skipped.get(path).or_else(|| sparse.get(path));
        let was = |path: &[u8]| self.were.get(path).copied().unwrap_or(Was::CheckedOut { indexed: None });
        (self.found.changed, self.found.hidden) =
            not_checked_out::settled(std::mem::take(&mut self.found.changed), was, kept);
        self.found.no_index = self.now.trouble;
        self.found.changed.sort_by(|a, b| a.path.cmp(&b.path));
        self.found.unseen.sort();
        (self.found.nested, self.found.inside) = self.before.touched_within(&self.nested);
        self.found
    }
}

/// What the index said of a file that had not changed.
fn as_indexed(entry: &Entry<'_>, is_elsewhere: bool) -> State {
    State {
        mode: entry.mode,
        oid: merged(entry).then_some(entry.oid),
        readable: u64::from(entry.size()) <= LARGE && !is_elsewhere,
        stat: None,
        sha256: None,
        counted: None,
    }
}

/// Which directory git could not look into, where it says so.
fn shut(complaint: &str) -> Option<String> {
    let line = complaint.lines().find_map(|line| line.strip_prefix("warning: could not open directory "))?;
    Some(format!("it could not open {line}"))
}
