//! Finds runs that work in the same checkout at the same time.
//!
//! While a run works, an empty file with its id stands in a directory for each checkout that it can write to:
//! its own, and those of its `add_dirs`. A run first adds its own file and then looks at the others. Of two
//! that start at the same time at least one sees the other, and leaves a note for it. A checkout nested in
//! another one is also part of that one.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::agents::Edits;
use crate::evidence::Overlap;
use crate::host::{files, lock, paths};
use crate::model::{Request, RunId, Sandbox};
use crate::runs::RunDir;

/// A run's entries for its checkouts, removed when dropped.
#[derive(Debug)]
pub(crate) struct Present<'a> {
    dir: &'a RunDir,
    roots: Vec<PathBuf>,
    marks: Vec<PathBuf>,
}

impl<'a> Present<'a> {
    /// Enters the run in `dir`; `None` if it works in no checkout. Errors cost the knowledge, never the run.
    pub(crate) fn enter(dir: &'a RunDir, request: &Request) -> Option<Self> {
        let present = Self::of(dir, request)?;
        files::ensure_dir(&dir.checkouts()).ok()?;
        for mark in &present.marks {
            let place = mark.parent()?;
            // The last run to leave removes the directory, perhaps just now.
            if !(0..3).any(|_| files::ensure_dir(place).and_then(|()| files::create_log(mark)).is_ok()) {
                return None;
            }
        }
        for mark in present.others_there(&request.run_id) {
            present.meet(&request.run_id, &mark);
        }
        Some(present)
    }

    /// The entries of a run that was killed. Runs that are there now may have changed something since, so
    /// they are included.
    pub(crate) fn left_behind(dir: &'a RunDir, request: &Request) -> Option<Self> {
        let present = Self::of(dir, request)?;
        for other in present.others_there(&request.run_id).iter().filter_map(|mark| run_of(mark)) {
            if lock::is_held(&dir.of(&other).lock()).unwrap_or(false) {
                let _ = tell(dir, &other);
            }
        }
        Some(present)
    }

    fn of(dir: &'a RunDir, request: &Request) -> Option<Self> {
        let roots = roots(request);
        let mark = |root: &PathBuf| dir.checkouts().join(name(root)).join(request.run_id.as_str());
        let marks = roots.iter().map(mark).collect();
        (!roots.is_empty()).then_some(Self { dir, roots, marks })
    }

    /// The files of all other runs, in any checkout.
    fn others_there(&self, run: &RunId) -> Vec<PathBuf> {
        let places = fs::read_dir(self.dir.checkouts()).into_iter().flatten().flatten();
        let marks = |place: fs::DirEntry| {
            let runs = runs_in(&place.path()).into_iter().filter(|other| other != run);
            runs.map(move |other| place.path().join(other.as_str())).collect::<Vec<_>>()
        };
        places.flat_map(marks).collect()
    }

    fn meet(&self, run: &RunId, mark: &Path) {
        let Some(other) = run_of(mark) else { return };
        let theirs = self.dir.of(&other);
        if !lock::is_held(&theirs.lock()).unwrap_or(false) {
            // Its supervisor was killed.
            let _ = fs::remove_file(mark);
        } else if theirs.read_request().ok().flatten().is_some_and(|request| self.shares(&request)) {
            let _ = tell(self.dir, &other);
            let _ = tell(&theirs, run);
            // It left just now, and nobody else will read the note.
            if !mark.exists() {
                let _ = fs::remove_dir_all(theirs.overlapped());
            }
        }
    }

    /// Whether that run can reach a checkout that this one can reach.
    fn shares(&self, request: &Request) -> bool {
        let touch = |one: &PathBuf, two: &PathBuf| one.starts_with(two) || two.starts_with(one);
        roots(request).iter().any(|theirs| self.roots.iter().any(|ours| touch(ours, theirs)))
    }

    /// The runs that may have changed files while this run worked.
    pub(crate) fn others(&self) -> Vec<Overlap> {
        let met = runs_in(&self.dir.overlapped());
        let request = |run: &RunId| self.dir.of(run).read_request().ok().flatten();
        met.iter()
            .filter_map(request)
            .filter(|request| may_write(request) && self.shares(request))
            .map(|request| Overlap { task_id: request.task_id, run_id: request.run_id })
            .collect()
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        for mark in &self.marks {
            let _ = fs::remove_file(mark);
            // Fails, as it should, if another run is still there.
            let _ = mark.parent().map(fs::remove_dir);
        }
        let _ = fs::remove_dir_all(self.dir.overlapped());
    }
}

/// The checkouts that a run can write to: its own and those of its `add_dirs`, or the directories themselves
/// outside a checkout.
fn roots(request: &Request) -> Vec<PathBuf> {
    let beside = request.add_dirs.iter().filter(|_| may_write(request));
    let beside = beside.map(|dir| paths::git_root(dir).unwrap_or_else(|| dir.clone()));
    let all: BTreeSet<PathBuf> = request.git_root.iter().cloned().chain(beside).collect();
    all.into_iter().collect()
}

fn run_of(mark: &Path) -> Option<RunId> {
    mark.file_name()?.to_str()?.parse().ok()
}

/// Whether a run that was submitted after `run` works or worked in the checkout at `tree`, or it is a worktree that
/// delegator made for one.
pub(crate) fn is_anothers(dir: &RunDir, run: &RunId, tree: &Path) -> bool {
    let tree = fs::canonicalize(tree).unwrap_or_else(|_| tree.to_owned());
    if fs::canonicalize(dir.home()).is_ok_and(|home| tree.starts_with(home)) {
        return true;
    }
    let runs = dir.of(run).path().parent().map(runs_in).unwrap_or_default();
    // Run ids begin with the time of submission.
    let later = runs.range(run.clone()..).filter(|other| *other != run);
    let request = |other: &RunId| dir.of(other).read_request().ok().flatten();
    later.filter_map(request).any(|request| request.git_root.is_some_and(|root| root == tree))
}

/// Leaves a note about `other` with the run in `dir`.
fn tell(dir: &RunDir, other: &RunId) -> io::Result<()> {
    files::ensure_dir(&dir.overlapped())?;
    files::create_log(&dir.overlapped().join(other.as_str())).map(drop)
}

fn runs_in(dir: &Path) -> BTreeSet<RunId> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether nothing prevents the run from writing.
pub(crate) fn may_write(request: &Request) -> bool {
    let abilities = request.agent.abilities();
    match abilities.edits {
        Edits::Replayed => false,
        // Without a sandbox it may do what its user may.
        Edits::Reported | Edits::Unreported => {
            let is_held = abilities.has_own_sandbox || request.jail.is_some();
            !is_held || request.sandbox != Sandbox::ReadOnly
        }
    }
}

fn name(root: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let sum = Sha256::digest(root.as_os_str().as_bytes());
    sum.iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}
