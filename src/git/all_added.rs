//! Makes a tree, a commit or a patch of everything in a working tree, as if all of it had been added.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::git::file_state::{GITLINK, State};
use crate::git::index;
use crate::git::linked_worktree::set_index;
use crate::git::object::Oid;
use crate::git::repository::Repository;
use crate::git::runner::{Git, PendingAnswer};
use crate::git::snapshot::{self, Listing, SnapshotError, TreeBefore};

/// Why a working tree has no tree of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AllAddedError {
    #[error("the repository has no commit")]
    NoCommit,
    #[error("{0} files could not be read")]
    Unread(u32),
    #[error("`{}` is too large or could not be read", String::from_utf8_lossy(.0).escape_debug())]
    Unreadable(Vec<u8>),
    #[error("untracked files are unknown: {0}")]
    Unlisted(String),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl From<io::Error> for AllAddedError {
    fn from(error: io::Error) -> Self {
        Self::Snapshot(error.into())
    }
}

/// What becomes of files that the snapshot did not keep, because they are large or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unkept {
    Refused,
    /// They stay as they are in the index, and are named.
    LeftOut,
    /// Git stores them now.
    Stored,
}

/// The working tree as a tree of git's, in our objects.
#[derive(Debug)]
pub(crate) struct WholeTree {
    pub(crate) tree: Oid,
    pub(crate) left_out: Vec<Vec<u8>>,
}

impl TreeBefore {
    /// The changes since the last commit, staged or not, with untracked files, as a patch that git applies. Empty if
    /// there are none. Nested repositories are left out.
    pub(crate) fn uncommitted(&self, until: Duration) -> Result<Vec<u8>, AllAddedError> {
        let commit = self.head.commit.ok_or(AllAddedError::NoCommit)?.to_string();
        self.add_all(Unkept::Refused, until)?;
        let args = ["diff-index", "--cached"].into_iter().chain(PATCH).chain([commit.as_str()]);
        Ok(self.ask_all(&args.collect::<Vec<_>>(), Vec::new(), until)?)
    }

    /// Nested repositories stay as they are in the index.
    pub(crate) fn whole_tree(&self, unkept: Unkept, until: Duration) -> Result<WholeTree, AllAddedError> {
        let left_out = self.add_all(unkept, until)?;
        Ok(WholeTree { tree: self.write_tree(until)?, left_out })
    }

    /// The repositories in the working tree whose work would be lost with it, because `base` does not have their commit.
    /// `tree` is the working tree.
    pub(crate) fn nested_repositories(
        &self,
        base: Oid,
        tree: Oid,
        until: Duration,
    ) -> Result<BTreeSet<Vec<u8>>, AllAddedError> {
        let changes = self.tree_changes(base, tree, until)?.into_iter();
        let added = changes.filter(|change| change.new_mode == GITLINK).map(|change| change.path);
        let moved =
            self.states()?.into_iter().filter(|(_, state)| state.as_ref().is_some_and(State::is_nested));
        // Git names an untracked repository, even one without a commit, by its directory.
        let listed = self.list(Listing::Others, until).and_then(PendingAnswer::finish);
        let listed = listed.map_err(SnapshotError::from)?;
        let untracked =
            snapshot::listed(&listed).filter_map(|path| path.strip_suffix(b"/").map(<[u8]>::to_owned));
        let all = added.chain(moved.map(|(path, _)| path)).chain(untracked);
        Ok(all.filter(|path| self.path(path).is_dir() && !self.is_empty(path)).collect())
    }

    /// The tree of the index in which everything is added.
    pub(super) fn write_tree(&self, until: Duration) -> Result<Oid, SnapshotError> {
        let args = ["write-tree", "--missing-ok"].map(OsStr::new);
        let asked = self.git.begin_to_write(&args, self.root(), &self.all_added(), Vec::new(), until)?;
        named(&asked.finish()?)
    }

    /// An index in which everything is added.
    pub(crate) fn all_added(&self) -> PathBuf {
        self.git.file("all-added")
    }

    /// Asks our git about the working tree with everything added.
    pub(crate) fn ask_all(
        &self,
        args: &[&str],
        input: Vec<u8>,
        until: Duration,
    ) -> Result<Vec<u8>, SnapshotError> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        Ok(self.git.ask(&args, self.root(), &self.all_added(), input, until)?)
    }

    /// Writes an object that git makes of `bytes`.
    pub(crate) fn write_commit(&self, bytes: Vec<u8>, until: Duration) -> Result<Oid, SnapshotError> {
        let args = ["hash-object", "-t", "commit", "-w", "--stdin"].map(OsStr::new);
        let asked = self.git.begin_to_write(&args, self.root(), &self.all_added(), bytes, until)?;
        named(&asked.finish()?)
    }

    /// Makes the index with everything added the index of the linked worktree.
    pub(crate) fn show_all_added(&self, linked: &Repository, until: Duration) -> Result<(), SnapshotError> {
        // Fails if a file differs from the index, as one does that git stores in another form.
        let _ = self.ask_all(&["update-index", "-q", "--refresh"], Vec::new(), until);
        set_index(linked, &self.all_added())
    }

    pub(crate) fn git(&self) -> &Git {
        &self.git
    }

    /// Returns the files that were left out.
    fn add_all(&self, unkept: Unkept, until: Duration) -> Result<Vec<Vec<u8>>, AllAddedError> {
        if let Some(reason) = &self.unlisted {
            return Err(AllAddedError::Unlisted(reason.clone()));
        }
        if self.unseen > 0 {
            return Err(AllAddedError::Unread(self.unseen));
        }
        match fs::copy(self.index(), self.all_added()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            Ok(_) | Err(_) => {}
        }
        let (entries, left_out) = self.entries(unkept, until)?;
        self.store.show()?;
        self.ask_all(&["update-index", "-z", "--index-info"], entries, until)?;
        Ok(left_out)
    }

    /// What differs from the index, as `update-index` reads it, and the files that are left out.
    fn entries(&self, unkept: Unkept, until: Duration) -> Result<(Vec<u8>, Vec<Vec<u8>>), AllAddedError> {
        let mut lines = Vec::new();
        let mut add = |path: &[u8], mode: u32, oid: &str| {
            lines.extend(format!("{mode:o} {oid}\t").into_bytes());
            lines.extend(path);
            lines.push(0);
        };
        let none = "0".repeat(self.store.format().bytes() * 2);
        let mut rest = Vec::new();
        for (path, state) in self.states()? {
            match state {
                None => add(&path, 0, &none),
                Some(state) if state.is_nested() => {}
                Some(State { oid: Some(oid), readable: true, mode, .. }) => {
                    add(&path, mode, &oid.to_string())
                }
                Some(state) => rest.push((path, state)),
            }
        }
        // The content of such a file is kept elsewhere, as by Git LFS, and did not change.
        let recorded = self.recorded()?;
        rest.retain(|(path, state)| state.oid.is_none() || recorded.get(path) != state.oid.as_ref());
        let mut left_out = Vec::new();
        match unkept {
            Unkept::Refused => {
                if let Some((path, _)) = rest.pop() {
                    return Err(AllAddedError::Unreadable(path));
                }
            }
            Unkept::LeftOut => left_out.extend(rest.into_iter().map(|(path, _)| path)),
            Unkept::Stored => {
                // Git would follow a link.
                let (links, rest): (Vec<_>, Vec<_>) =
                    rest.into_iter().partition(|(_, state)| state.mode == 0o120000);
                for (path, state) in links {
                    let target = fs::read_link(self.path(&path))?;
                    add(&path, state.mode, &self.store.blob(target.as_os_str().as_bytes())?.to_string());
                }
                let paths: Vec<&[u8]> = rest.iter().map(|(path, _)| path.as_slice()).collect();
                let conversion = self.conversion(paths.iter().copied(), vec![self.index()], until);
                let stored = conversion.kept(&paths);
                for (at, (path, state)) in rest.iter().enumerate() {
                    let Some(oid) = stored.get(at).copied().flatten() else {
                        return Err(AllAddedError::Unreadable(path.clone()));
                    };
                    add(path, state.mode, &oid.to_string());
                }
            }
        }
        Ok((lines, left_out))
    }

    fn recorded(&self) -> Result<HashMap<Vec<u8>, Oid>, SnapshotError> {
        let mut all = HashMap::new();
        index::read(&self.index_bytes()?, self.store.format(), |entry| {
            all.insert(entry.path.to_owned(), entry.oid);
        })?;
        Ok(all)
    }
}

/// How a patch is written.
pub(super) const PATCH: [&str; 8] = [
    "-p",
    "--binary",
    "--full-index",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=all",
];

/// The object that git printed.
pub(super) fn named(output: &[u8]) -> Result<Oid, SnapshotError> {
    let text = String::from_utf8_lossy(output);
    let line = text.lines().next().unwrap_or_default();
    Oid::from_hex(line).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData).into())
}
