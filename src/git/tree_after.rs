//! Compares the working tree after a run with the snapshot before it.
//!
//! The index and the file metadata from *before* the run decide which paths are compared and which
//! files are read, so nothing that an agent writes into the index can hide a change.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use crate::git::changed_content::{Candidate, ContentReader, LARGE, ReadBudget};
use crate::git::differences::{Changed, Differences};
use crate::git::file_state::{GITLINK, State, States};
use crate::git::ignored;
use crate::git::ignored::Traces;
use crate::git::ignored_changes::parent_dirs;
use crate::git::index;
use crate::git::index::Entry;
use crate::git::index_changes::{IndexKnowledge, IndexNow};
use crate::git::not_checked_out;
use crate::git::not_checked_out::FileLocation;
use crate::git::rename_candidates::RemovedSizes;
use crate::git::repository::head_of;
use crate::git::reverted_paths::Directories;
use crate::git::snapshot::{Listing, Look, SnapshotError, TreeBefore, listed, merged};
use crate::git::sparse::Sparse;
use crate::git::tree_walk::{PathEntry, Stat, WorkTree};

/// A path to be read, with its state before.
struct PendingRead {
    candidate: Candidate,
    old: Option<State>,
    /// The size differs.
    surely_changed: bool,
}

struct Comparison<'a> {
    before: &'a TreeBefore,
    tree: WorkTree,
    states: States,
    ignored: Option<Traces>,
    /// Entries of new paths that were tracked but not checked out.
    sparse: HashMap<Vec<u8>, State>,
    now: IndexNow,
    /// Whether git may convert files.
    converts: bool,
    /// Paths added to the index.
    staged: HashSet<Vec<u8>>,
    /// Where files were before, if their states do not say it.
    were: HashMap<Vec<u8>, FileLocation>,
    /// Files whose content git does not have.
    elsewhere: HashSet<Vec<u8>>,
    /// Nested repositories before the run, each with a slash.
    nested_before: HashSet<Vec<u8>>,
    nested: BTreeSet<Vec<u8>>,
    found: Differences,
    open: Vec<PendingRead>,
    gone: RemovedSizes,
    directories: Directories,
}

impl TreeBefore {
    /// Compares the current tree with the snapshot.
    pub(crate) fn compare(&self, until: Duration) -> Result<Differences, SnapshotError> {
        if !self.repository.root.is_dir() {
            return Err(SnapshotError::Gone);
        }
        let written = [self.scratch.clone(), self.git.file("states")];
        if let Some(missing) = written.into_iter().find(|path| !path.exists()) {
            return Err(SnapshotError::Forgotten(missing));
        }
        let (others, ignored) = (self.list(Listing::Others, until)?, self.list(Listing::Ignored, until)?);
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
            gone: RemovedSizes::default(),
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
    /// Examines everything that was tracked before.
    fn tracked(&mut self) -> Result<(), SnapshotError> {
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
                    self.were.insert(entry.path.to_owned(), FileLocation::CheckedOut { indexed });
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

    /// An unchanged file. If it was added to the index again, git may store it in another form now.
    fn again(&mut self, path: &[u8], mode: u32) -> Look {
        match self.is_restaged(path).then(|| self.tree.look(path)) {
            Some(PathEntry::File(stat)) => Look::Read(self.before.as_git_sees(stat, mode)),
            Some(PathEntry::Directory | PathEntry::Nothing | PathEntry::Unseen) | None => Look::Same,
        }
    }

    fn is_restaged(&self, path: &[u8]) -> bool {
        self.converts && self.now.restaged.contains(path)
    }

    /// A path that was tracked but not checked out, before and now.
    fn outside(&mut self, path: &[u8], old: State) {
        match self.now.keeps(path, &old) {
            Some(true) => {}
            Some(false) => {
                self.were.insert(path.to_owned(), FileLocation::Outside);
                self.note(path.to_owned(), Some(old), None, Look::Gone);
            }
            None => self.found.outside_unknown = true,
        }
    }

    /// A path that was not tracked before, at least not by name.
    fn other(&mut self, path: Vec<u8>) {
        self.directories.note(&path);
        let outside = self.sparse.remove(&path);
        match self.states.remove(&path).flatten().or_else(|| outside.clone()) {
            Some(old) => {
                if outside.is_some() {
                    self.were.insert(path.clone(), FileLocation::Outside);
                }
                self.path(path, Some(old));
            }
            None => {
                let look = self.before.untracked(&mut self.tree, &path);
                let ignored =
                    |path: &[u8]| self.ignored.as_ref().is_some_and(|all| ignored::covers(all, path));
                // A path added to the index is new to git, however old the file is.
                let is_older = |stat: &Stat| self.before.is_older(stat) && !self.staged.contains(&path);
                match look {
                    Look::Gone if self.now.skipped.contains_key(&path) => {
                        let new = self.now.skipped.remove(&path);
                        self.found.changed.push(Changed { path, old: None, new });
                    }
                    // The rules changed and reveal what was ignored before.
                    Look::Read(stat) if is_older(&stat) && ignored(&path) => {}
                    // It may have existed before.
                    Look::Read(stat) if is_older(&stat) && self.before.unlisted.is_some() => {}
                    // A repository without a commit.
                    Look::Gone if self.tree.look(&path) == PathEntry::Directory => {
                        self.nested.insert(path);
                    }
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

    /// A former nested repository. Git knew of it when it listed files, so it listed none inside.
    fn forgotten(&mut self, path: &[u8]) -> Look {
        if !self.before.is_empty(path) {
            self.found.dissolved.insert(path.to_owned());
        }
        Look::Gone
    }

    /// Records a path that was a nested repository before.
    fn nested_at(&mut self, path: &[u8]) {
        self.nested.insert(path.to_owned());
        self.nested_before.insert([path, b"/"].concat());
    }

    /// Whether this path is listed only because its directory is no longer a repository.
    fn dissolves(&mut self, path: &[u8]) -> bool {
        let dir = parent_dirs(path)
            .find(|dir| self.nested_before.contains(*dir))
            .map(|dir| dir[..dir.len() - 1].to_owned());
        let dissolves = dir.is_some();
        self.found.dissolved.extend(dir);
        dissolves
    }

    /// A path that differed from the index, or was not in it.
    fn path(&mut self, path: Vec<u8>, old: Option<State>) {
        if old.as_ref().is_some_and(State::is_nested) {
            self.nested_at(&path);
        }
        let look = match (self.tree.look(&path), &old) {
            (PathEntry::Unseen, _) => Look::Unseen,
            (PathEntry::Nothing, None) => Look::Same,
            (PathEntry::Nothing, Some(_)) => Look::Gone,
            (PathEntry::Directory, old) => {
                let was = old.as_ref().filter(|old| old.is_nested());
                match (head_of(&self.before.path(&path)), was) {
                    (Some(commit), Some(was)) if was.oid == Some(commit) => Look::Same,
                    (None, Some(_)) => Look::Same,
                    (Some(commit), _) => Look::Nested(commit),
                    (None, None) if old.is_none() => Look::Same,
                    (None, None) => Look::Gone,
                }
            }
            (PathEntry::File(stat), old) => {
                let stat = self.before.as_git_sees(stat, old.as_ref().map_or(0o100644, |old| old.mode));
                let untouched = old.as_ref().filter(|old| old.stat == Some(stat));
                // A file that was not read then cannot be compared by reading it now.
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

    /// `size` is the recorded one, in the width of an index.
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
                self.open.push(PendingRead {
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
        // Attributes can make a binary-looking file text and the other way round.
        if !self.before.has_attributes(self.open.iter().map(|open| open.candidate.path.as_slice())) {
            self.gone.settle();
            for PendingRead { candidate, old, .. } in &mut self.open {
                candidate.alone = old.is_none() && !self.gone.may_have_become(candidate.stat.size);
            }
        }
        let (candidates, olds): (Vec<_>, Vec<_>) =
            self.open.into_iter().map(|open| (open.candidate, (open.old, open.surely_changed))).unzip();
        let TreeBefore { store, repository, .. } = self.before;
        let contents = ContentReader::new(store, ReadBudget::TELL, until);
        let paths = candidates.iter().map(|candidate| candidate.path.as_slice());
        let deciding = match self.now.reading {
            IndexKnowledge::All => vec![repository.index(), self.before.index()],
            IndexKnowledge::Same | IndexKnowledge::Part => vec![self.before.index()],
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
        let was =
            |path: &[u8]| self.were.get(path).copied().unwrap_or(FileLocation::CheckedOut { indexed: None });
        (self.found.changed, self.found.hidden) =
            not_checked_out::resolve_missing(std::mem::take(&mut self.found.changed), was, kept);
        self.found.no_index = self.now.trouble;
        self.found.changed.sort_by(|a, b| a.path.cmp(&b.path));
        self.found.unseen.sort();
        (self.found.nested, self.found.inside) = self.before.touched_within(&self.nested);
        self.found
    }
}

/// The state of an unchanged file according to the index.
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

/// The directory that git could not open, if it says so.
fn shut(complaint: &str) -> Option<String> {
    let line = complaint.lines().find_map(|line| line.strip_prefix("warning: could not open directory "))?;
    Some(format!("git could not open {line}"))
}
