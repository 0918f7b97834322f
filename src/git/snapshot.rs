//! Takes a snapshot of the working tree: a copy of the index, plus every file that differs from it.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::changed_content::{Candidate, ContentReader, ReadBudget};
use crate::git::commits;
use crate::git::file_state::{self, GITLINK, State, States};
use crate::git::file_times;
use crate::git::filters;
use crate::git::home_in_checkout;
use crate::git::ignored::{self, Traces};
use crate::git::index::{self, Entry, IndexError};
use crate::git::index_copy;
use crate::git::object::{Oid, Store};
use crate::git::other_worktrees;
use crate::git::repository::{Head, Left, Repository, head_of};
use crate::git::runner::{Git, PendingAnswer};
use crate::git::side_git::{Installed, SideGit};
use crate::git::tree_walk::{PathEntry, Stat, Time, WorkTree};
use crate::host::BoundedRunError;
use crate::host::{clock, files};

/// Time limit for git to list untracked files.
const LISTING: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub(crate) enum SnapshotError {
    #[error("no repository at `{}`", .0.display())]
    NoRepository(PathBuf),
    #[error("the checkout no longer exists")]
    Gone,
    #[error("the snapshot from before the run is incomplete: `{}` is missing", .0.display())]
    Forgotten(PathBuf),
    #[error("git is not installed in a system directory")]
    NoGit,
    #[error("the repository uses an unknown object format")]
    UnknownFormat,
    #[error("git did not answer: {0}")]
    Git(#[from] BoundedRunError),
    #[error(transparent)]
    Index(#[from] IndexError),
    #[error("the index is far larger than its entries need")]
    LargeIndex,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The tree before a run. Everything large is in a scratch directory, which is removed when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct TreeBefore {
    pub(super) repository: Repository,
    pub(super) git: Git,
    pub(super) store: Store,
    pub(super) scratch: PathBuf,
    /// When the snapshot began.
    pub(super) taken_at: Time,
    /// When the index was written.
    pub(super) written: Time,
    pub(super) file_mode: bool,
    /// Whether links are supported; otherwise git stores them as files with the target.
    pub(super) links: bool,
    pub(crate) head: Head,
    /// The branches of other worktrees.
    pub(super) elsewhere: HashSet<String>,
    /// The names of the other worktrees.
    pub(super) trees: HashSet<Vec<u8>>,
    /// The path of our own home, if it is in this tree.
    pub(super) own: Option<Vec<u8>>,
    /// Number of files that were not read.
    pub(crate) unread: u32,
    /// The first of them.
    pub(crate) first_unread: Option<Vec<u8>>,
    /// Number of paths that could not even be examined.
    pub(crate) unseen: u32,
    /// Why untracked files are unknown.
    pub(crate) unlisted: Option<String>,
}

impl TreeBefore {
    /// Takes a snapshot of the tree at `root` in the directory `scratch`. Both `scratch` and `ours`
    /// belong to us.
    pub(crate) fn take(
        root: &Path,
        scratch: &Path,
        ours: &Path,
        installed: &Installed,
        until: Duration,
    ) -> Result<Self, SnapshotError> {
        let repository = Repository::at(root).ok_or_else(|| SnapshotError::NoRepository(root.to_owned()))?;
        Self::take_of(repository, scratch, ours, installed, until)
    }

    /// Like [`take`](Self::take), whatever the `.git` of the tree says now.
    pub(crate) fn take_of(
        repository: Repository,
        scratch: &Path,
        ours: &Path,
        installed: &Installed,
        until: Duration,
    ) -> Result<Self, SnapshotError> {
        let taken_at = now();
        let SideGit { scratch, git, format, settings } =
            SideGit::settle(&repository, scratch, installed, until)?;
        let written = index_copy::take(&repository, &git, format, until)?;
        files::write_in_place(git.file("references"), commits::known(&repository))?;
        let store = Store::at(&git.objects(), format);
        let head = repository.head();
        let others = repository.other_trees();
        let own = home_in_checkout::below(&repository.root, ours);
        let mut before = Self {
            elsewhere: other_worktrees::branches(&others, &head),
            trees: others.iter().map(|other| other.name(&repository)).collect(),
            head,
            repository,
            git,
            store,
            scratch: scratch.keep(),
            taken_at,
            written,
            file_mode: settings.file_mode,
            links: settings.links,
            own,
            unread: 0,
            first_unread: None,
            unseen: 0,
            unlisted: None,
        };
        before.write_states(until)?;
        // Without this record, only this process can use the snapshot.
        let _ = before.keep();
        Ok(before)
    }

    fn write_states(&mut self, until: Duration) -> Result<(), SnapshotError> {
        let (others, ignored) = (self.list(Listing::Others, until)?, self.list(Listing::Ignored, until)?);
        let mut tree = WorkTree::open(&self.repository.root)?;
        let mut states = States::new();
        let mut candidates = Vec::new();
        let mut unseen = 0;
        let bytes = self.index_bytes()?;
        let filters = self.ask_filters(&mut tree, &bytes, until);
        index::read(&bytes, self.store.format(), |entry| {
            let path = entry.path;
            if self.is_own(path) {
                return;
            }
            match self.against_index(&mut tree, entry) {
                Look::Same | Look::Outside => {}
                Look::Gone => drop(states.insert(path.to_owned(), None)),
                Look::Unseen => unseen += 1,
                Look::Nested(commit) => drop(states.insert(path.to_owned(), Some(State::nested(commit)))),
                Look::Read(stat) => {
                    let expected = merged(entry).then_some(entry.oid);
                    candidates.push(Candidate { expected, ..Candidate::new(path.to_owned(), stat) });
                }
            }
        })?;
        // In an unfinished merge, a path has up to three entries.
        candidates.dedup_by(|a, b| a.path == b.path);
        // Collect all of git's answers before reading files, which may take longer than git is
        // given.
        let (others, ignored) = (others.finish(), ignored.finish().ok());
        self.unlisted = others.as_ref().err().map(ToString::to_string);
        let (others, ignored) =
            (self.without_own(others.unwrap_or_default()), ignored.map(|ignored| self.without_own(ignored)));
        let filtered = filters.and_then(|talk| talk.finish().ok()).map(|output| filters::parse(&output));
        for path in listed(&others) {
            match self.untracked(&mut tree, path) {
                Look::Read(stat) => {
                    candidates.push(Candidate::new(path.to_owned(), stat));
                }
                Look::Nested(commit) => {
                    let path = path.strip_suffix(b"/").unwrap_or(path);
                    states.insert(path.to_owned(), Some(State::nested(commit)));
                }
                Look::Unseen => unseen += 1,
                Look::Same | Look::Gone | Look::Outside => {}
            }
        }
        if let Some(filtered) = filtered {
            files::write_in_place(self.git.file("elsewhere"), filtered.elsewhere.join(&0))?;
            let known: HashSet<Vec<u8>> = candidates.iter().map(|one| one.path.clone()).collect();
            let only =
                |path: &Vec<u8>| !known.contains(path) && !states.contains_key(path) && !self.is_own(path);
            for path in filtered.rewritten.into_iter().filter(only) {
                if let PathEntry::File(stat) = tree.look(&path) {
                    let stat = self.as_git_sees(stat, 0o100644);
                    candidates.push(Candidate::new(path, stat));
                }
            }
        }
        let contents = ContentReader::new(&self.store, ReadBudget::KEEP, until);
        let paths = candidates.iter().map(|candidate| candidate.path.as_slice());
        let conversion = self.conversion(paths, vec![self.index()], until);
        let (read, unread) = contents.read(&mut tree, &candidates, &conversion);
        self.store.show()?;
        let is_unread = |(state, _): &(&State, &Candidate)| state.oid.is_none();
        let first = read.iter().zip(&candidates).find(is_unread).map(|(_, candidate)| candidate.path.clone());
        let paths = candidates.into_iter().map(|candidate| candidate.path);
        states.extend(paths.zip(read.into_iter().map(Some)));
        file_state::write(&self.git.file("states"), &states)?;
        if let Some(ignored) = ignored {
            let traces = ignored::trace(&self.repository.root, &ignored, self.own_path().as_deref());
            files::write_in_place(self.git.file("ignored"), ignored::serialize(&traces))?;
        }
        (self.unread, self.unseen) = (unread, unseen);
        self.first_unread = first.filter(|_| unread > 0);
        Ok(())
    }

    /// Compares the file of an entry with the index.
    pub(super) fn against_index(&self, tree: &mut WorkTree, entry: &Entry<'_>) -> Look {
        match (entry.mode & 0o170000, tree.look(entry.path)) {
            // Deliberately not checked out, before and now.
            (_, PathEntry::Nothing) if entry.skipped => Look::Outside,
            (_, PathEntry::Unseen) => Look::Unseen,
            (GITLINK, PathEntry::Directory) => match head_of(&self.path(entry.path)) {
                Some(commit) if commit != entry.oid => Look::Nested(commit),
                Some(_) | None => Look::Same,
            },
            (_, PathEntry::Directory) => head_of(&self.path(entry.path)).map_or(Look::Gone, Look::Nested),
            (_, PathEntry::Nothing) => Look::Gone,
            (_, PathEntry::File(stat)) => {
                let stat = self.as_git_sees(stat, entry.mode);
                let clean = merged(entry) && stat.mode == entry.mode && entry.is_clean(&stat, self.written);
                if clean { Look::Same } else { Look::Read(stat) }
            }
        }
    }

    /// Examines an untracked path.
    pub(super) fn untracked(&self, tree: &mut WorkTree, path: &[u8]) -> Look {
        match tree.look(path.strip_suffix(b"/").unwrap_or(path)) {
            PathEntry::File(stat) => Look::Read(self.as_git_sees(stat, 0o100644)),
            PathEntry::Directory => head_of(&self.path(path)).map_or(Look::Gone, Look::Nested),
            PathEntry::Nothing => Look::Gone,
            PathEntry::Unseen => Look::Unseen,
        }
    }

    /// If executable bits or links are not supported, the file keeps its recorded mode.
    pub(super) fn as_git_sees(&self, stat: Stat, mode: u32) -> Stat {
        let kept = match mode & 0o170000 {
            0o100000 => !self.file_mode,
            0o120000 => !self.links,
            _ => false,
        };
        if kept && stat.mode & 0o170000 == 0o100000 { Stat { mode, ..stat } } else { stat }
    }

    /// Whether a file with unchanged metadata is certainly unchanged.
    pub(super) fn is_settled(&self, stat: &Stat) -> bool {
        // File system clocks are coarse and may be slightly off.
        stat.ctime.0 + 2 < self.taken_at.0 && stat.mtime.0 + 2 < self.taken_at.0
    }

    /// Whether a file that was ignored was not touched since.
    pub(super) fn is_older(&self, stat: &Stat) -> bool {
        stat.ctime <= self.since()
    }

    pub(super) fn list(&self, which: Listing, until: Duration) -> Result<PendingAnswer, BoundedRunError> {
        let until = until.min(clock::monotonic() + LISTING);
        let args = match which {
            Listing::Others => ["ls-files", "-z", "--others", "--exclude-standard"].as_slice(),
            Listing::Ignored => {
                ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"].as_slice()
            }
        };
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        self.git.begin(&args, &self.repository.root, &self.index(), Vec::new(), until)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.repository.root
    }

    /// What is left of the repository.
    pub(crate) fn left(&self) -> Left {
        self.repository.left()
    }

    /// Whether references are stored in a form that cannot be read here.
    pub(crate) fn has_unread_references(&self) -> bool {
        self.repository.has_unread_references()
    }

    pub(super) fn states(&self) -> io::Result<States> {
        file_state::read(&self.git.file("states"))
    }

    /// `None` if it is unknown what is ignored.
    pub(super) fn ignored(&self) -> Option<Traces> {
        files::read(&self.git.file("ignored")).ok().and_then(|bytes| ignored::parse(&bytes))
    }

    /// Files older than this were not touched after the snapshot.
    pub(crate) fn since(&self) -> Time {
        file_times::surely_before(self.taken_at)
    }

    /// Our copy of the index.
    pub(super) fn index(&self) -> PathBuf {
        self.git.file("index")
    }

    pub(super) fn index_bytes(&self) -> io::Result<Vec<u8>> {
        match files::read(&self.index()) {
            // Nothing was ever added.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    pub(super) fn path(&self, path: &[u8]) -> PathBuf {
        self.repository.root.join(OsStr::from_bytes(path))
    }
}

impl Drop for TreeBefore {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Result of examining a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Same,
    /// Tracked but not checked out.
    Outside,
    Gone,
    /// A nested repository on this commit.
    Nested(Oid),
    /// Its content must be read.
    Read(Stat),
    /// It cannot be examined.
    Unseen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    /// Neither tracked nor ignored.
    Others,
    Ignored,
}

pub(super) fn merged(entry: &Entry<'_>) -> bool {
    entry.stage == 0 && !entry.intended
}

/// The paths of a NUL-separated answer.
pub(super) fn listed(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|&byte| byte == 0).filter(|path| !path.is_empty())
}

fn now() -> Time {
    let millis = clock::now().as_millis();
    (millis.div_euclid(1000), u32::try_from(millis.rem_euclid(1000)).unwrap_or(0) * 1_000_000)
}
