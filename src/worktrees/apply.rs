//! Brings the changes of a run into the user's checkout as it is, uncommitted changes included.
//!
//! The merge happens in our own objects. Only its files are written, after all of them were found unchanged; index,
//! `HEAD` and stash stay as they are. What was there is kept in the run directory, for `undo`.

use std::collections::BTreeSet;
use std::fs;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::context::WorktreeError;
use crate::git::{Installed, Merged, NewCommit, Oid, Repository, TreeBefore, TreeChange, Unkept};
use crate::host::files::{self, Durability};
use crate::host::{Env, Lock, clock};
use crate::runs::RunDir;
use crate::worktrees::exchange::{self, Exchange, Finished, at, copy_entry, exists};
use crate::worktrees::owner::LONGEST;
use crate::worktrees::parent_dirs::{find, reach};

/// Beside both sides of a change: all of it was written.
const DONE: &str = "done";
const GITLINK: u32 = 0o160000;

/// What a run changed.
#[derive(Debug, Clone)]
pub(crate) enum ChangeSource {
    /// What the second commit has over the first.
    Commits(Oid, Oid),
    /// A file with a diff.
    Patch(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    /// Only tells what would happen.
    DryRun,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppliedFile {
    pub(crate) path: Vec<u8>,
    /// `added`, `modified` or `deleted`.
    pub(crate) change: &'static str,
}

/// A file that keeps the changes from being applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub(crate) path: Vec<u8>,
    pub(crate) reason: &'static str,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) files: Vec<AppliedFile>,
    /// With any of these, nothing was changed.
    pub(crate) conflicts: Vec<Conflict>,
}

/// Applies `source` to the checkout at `root`. The caller holds the [`lock`].
pub(crate) fn apply(
    env: &Env,
    dir: &RunDir,
    root: &Path,
    source: &ChangeSource,
    mode: Mode,
) -> Result<Applied, WorktreeError> {
    let until = clock::monotonic() + LONGEST;
    let checkout = Checkout::at(env, dir, root, until)?;
    let (before, whole, left_out) = checkout.look("applying")?;
    let merged = match source {
        ChangeSource::Commits(base, head) => {
            let now = clock::now().as_millis().div_euclid(1000);
            let ours = NewCommit { tree: whole, parents: &[*base], message: "uncommitted", at: now };
            before.merge(*base, before.commit(&ours, until)?, *head, until)?
        }
        ChangeSource::Patch(patch) => before.apply_patch(files::read(patch)?, until)?,
    };
    let tree = match merged {
        Merged::Clean(tree) => tree,
        Merged::Conflicts(paths) => return Ok(conflicts(paths, "both sides changed it")),
    };
    let changes = before.tree_changes(whole, tree, until)?;
    if let Some(refused) = refused(&changes, &left_out) {
        return Ok(refused);
    }
    let paths: Vec<Vec<u8>> = changes.iter().map(|change| change.path.clone()).collect();
    let (old, new) = (before.git().file("old"), before.git().file("new"));
    files::create_dir(&old)?;
    files::create_dir(&new)?;
    let made: Vec<&[u8]> =
        changes.iter().filter(|change| change.new_mode != 0).map(|change| change.path.as_slice()).collect();
    before.stage(tree, &made, &new, until)?;
    let replaced = || changes.iter().filter(|change| change.old_mode != 0).map(|change| &change.path);
    let missing: Vec<Vec<u8>> = replaced().filter(|path| !exists(root, path)).cloned().collect();
    if !missing.is_empty() {
        return Ok(conflicts(missing, "it is not checked out"));
    }
    for path in replaced() {
        copy_entry(&at(root, path), &reach(&old, path)?)?;
        keep_permissions(&old, &new, path)?;
    }
    let exchange = Exchange { root, old: &old, new: &new, paths: &paths, finished: Finished::Refused };
    let unexpected = exchange.unexpected();
    if !unexpected.is_empty() {
        return Ok(conflicts(unexpected, "a file that git ignores or does not track is in its place"));
    }
    if mode == Mode::Write && !changes.is_empty() {
        // What was copied is what was merged.
        let (again, now, _) = checkout.look("checking")?;
        drop(again);
        if now != whole {
            return Err(WorktreeError::Moving(root.to_owned()));
        }
        keep(&dir.applied(), &old, &new)?;
        let (old, new) = (dir.applied().join("old"), dir.applied().join("new"));
        let exchange = Exchange { old: &old, new: &new, ..exchange };
        if let Err(error) = exchange.run() {
            if exchange.unexpected().is_empty() {
                // All is as it was.
                fs::remove_dir_all(dir.applied())?;
            }
            return Err(error.into());
        }
        files::write(&dir.applied().join(DONE), &[], Durability::Synced)?;
    }
    Ok(Applied { files: changes.iter().map(applied).collect(), conflicts: Vec::new() })
}

/// Whether the last [`apply`] was killed while it wrote. Only [`undo`] knows then what was there before.
pub(crate) fn is_unfinished(dir: &RunDir) -> bool {
    let kept = dir.applied();
    kept.join("old").is_dir() && !kept.join(DONE).exists()
}

/// Puts back what the last [`apply`] replaced, if all of it still is as that left it. The caller holds the [`lock`].
pub(crate) fn undo(dir: &RunDir, root: &Path) -> Result<Applied, WorktreeError> {
    let kept = dir.applied();
    if !kept.is_dir() {
        return Err(WorktreeError::NothingToUndo);
    }
    // The other way round.
    let (old, new) = (kept.join("new"), kept.join("old"));
    let paths: BTreeSet<Vec<u8>> =
        exchange::files_below(&old).into_iter().chain(exchange::files_below(&new)).collect();
    let paths: Vec<Vec<u8>> = paths.into_iter().collect();
    let exchange = Exchange { root, old: &old, new: &new, paths: &paths, finished: Finished::Accepted };
    exchange.sweep();
    let unexpected = exchange.unexpected();
    if !unexpected.is_empty() {
        return Ok(conflicts(unexpected, "it was changed since"));
    }
    exchange.run()?;
    let change = |path: &Vec<u8>| match (exists(&old, path), exists(&new, path)) {
        (true, true) => "modified",
        (false, _) => "added",
        (true, false) => "deleted",
    };
    let files = paths.iter().map(|path| AppliedFile { path: path.clone(), change: change(path) }).collect();
    fs::remove_dir_all(kept)?;
    Ok(Applied { files, conflicts: Vec::new() })
}

/// One at a time brings changes into checkouts, or commits or removes the worktree of a run that has ended.
pub(crate) fn lock(home: &Path) -> Result<Lock, WorktreeError> {
    Lock::take(&home.join("apply.lock"))?.ok_or(WorktreeError::Busy)
}

/// Like [`lock`], but waits until nobody else holds it.
pub(crate) fn wait_for_lock(home: &Path) -> Result<Lock, WorktreeError> {
    Ok(Lock::wait_for(&home.join("apply.lock"))?)
}

struct Checkout<'a> {
    repository: Repository,
    dir: &'a RunDir,
    installed: Installed,
    until: Duration,
}

impl<'a> Checkout<'a> {
    fn at(env: &Env, dir: &'a RunDir, root: &Path, until: Duration) -> Result<Self, WorktreeError> {
        let repository = Repository::at(root).ok_or_else(|| WorktreeError::NoRepository(root.to_owned()))?;
        let installed = Installed::find(env, env.get("PATH"), &[root])?;
        Ok(Self { repository, dir, installed, until })
    }

    /// The checkout as a tree, and the files that are too large to be in it.
    fn look(&self, scratch: &str) -> Result<(TreeBefore, Oid, Vec<Vec<u8>>), WorktreeError> {
        let (repository, scratch) = (self.repository.clone(), self.dir.file(scratch));
        let before = TreeBefore::take_of(repository, &scratch, self.dir.home(), &self.installed, self.until)?;
        let whole = before.whole_tree(Unkept::LeftOut, self.until)?;
        Ok((before, whole.tree, whole.left_out))
    }
}

/// Gives a file the permissions of the one that it replaces. Git only knows whether it can be executed.
fn keep_permissions(old: &Path, new: &Path, path: &[u8]) -> Result<(), WorktreeError> {
    let (Some(before), Some(after)) = (find(old, path), find(new, path)) else { return Ok(()) };
    if before.is_file() && after.is_file() {
        let (before, runs) = (before.permissions().mode() & 0o777, after.permissions().mode() & 0o100 != 0);
        let mode = match (before & 0o100 != 0, runs) {
            (false, true) => before | (before & 0o444) >> 2,
            (true, false) => before & !0o111,
            _ => before,
        };
        fs::set_permissions(at(new, path), Permissions::from_mode(mode))?;
    }
    Ok(())
}

/// Keeps both sides of a change, in place of those of an earlier one.
fn keep(place: &Path, old: &Path, new: &Path) -> Result<(), WorktreeError> {
    let _ = fs::remove_dir_all(place);
    files::create_dir(place)?;
    fs::rename(new, place.join("new"))?;
    // Last: without it there is nothing to put back.
    Ok(fs::rename(old, place.join("old"))?)
}

fn conflicts(paths: Vec<Vec<u8>>, reason: &'static str) -> Applied {
    let conflict = |path| Conflict { path, reason };
    Applied { files: Vec::new(), conflicts: paths.into_iter().map(conflict).collect() }
}

/// What is not merged: submodules, and files that are too large.
fn refused(changes: &[TreeChange], left_out: &[Vec<u8>]) -> Option<Applied> {
    let find = |is: &dyn Fn(&TreeChange) -> bool| {
        changes.iter().filter(|change| is(change)).map(|change| change.path.clone()).collect::<Vec<_>>()
    };
    let submodules = find(&|change| [change.old_mode, change.new_mode].contains(&GITLINK));
    let large = find(&|change| left_out.contains(&change.path));
    let found = [conflicts(submodules, "it is a submodule"), conflicts(large, "it is too large to compare")];
    let conflicts: Vec<Conflict> = found.into_iter().flat_map(|found| found.conflicts).collect();
    (!conflicts.is_empty()).then_some(Applied { files: Vec::new(), conflicts })
}

fn applied(change: &TreeChange) -> AppliedFile {
    let kind = match (change.old_mode, change.new_mode) {
        (0, _) => "added",
        (_, 0) => "deleted",
        _ => "modified",
    };
    AppliedFile { path: change.path.clone(), change: kind }
}
