//! Runs that work in one checkout at the same time tell each other so.
//!
//! While a run works, an empty file with its id stands in a directory of its
//! checkout's. Whoever comes leaves its own there first and then looks: of two
//! that come at once, at least one sees the other, and it tells both. A checkout
//! within another one is part of that as well.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::evidence::Overlap;
use crate::host::{files, lock};
use crate::model::{AgentName, Request, RunId, Sandbox};
use crate::runs::RunDir;

/// A run's place among those that share its checkout, left when dropped.
#[derive(Debug)]
pub(super) struct Present<'a> {
    dir: &'a RunDir,
    root: PathBuf,
    marks: Vec<PathBuf>,
}

impl<'a> Present<'a> {
    /// Enters the run in `dir`, which works in the checkout at `root`. Trouble
    /// with it costs the knowledge, never the run.
    pub(super) fn enter(dir: &'a RunDir, run: &RunId, root: &Path) -> Option<Self> {
        make(&dir.checkouts()).ok()?;
        let places: Vec<PathBuf> = checkouts(root).map(|root| dir.checkouts().join(name(root))).collect();
        let root = root.to_owned();
        let present =
            Self { dir, root, marks: places.iter().map(|place| place.join(run.as_str())).collect() };
        for (place, mark) in places.iter().zip(&present.marks) {
            // Whoever leaves last removes the directory, perhaps before our eyes.
            if !(0..3).any(|_| make(place).and_then(|()| files::create_log(mark)).is_ok()) {
                return None;
            }
        }
        for place in &places {
            for other in runs_in(place).into_iter().filter(|other| other != run) {
                present.meet(run, &other, place);
            }
        }
        Some(present)
    }

    /// The place of a run that was killed. Whoever is there now may have changed
    /// something since, and is named with those that it met.
    pub(super) fn left_behind(dir: &'a RunDir, run: &RunId, root: &Path) -> Self {
        let places: Vec<PathBuf> = checkouts(root).map(|root| dir.checkouts().join(name(root))).collect();
        let here = |other: &RunId| other != run && lock::is_held(&dir.of(other).lock()).unwrap_or(false);
        for other in places.iter().flat_map(|place| runs_in(place)).filter(here) {
            let _ = tell(dir, &other);
        }
        Self {
            dir,
            root: root.to_owned(),
            marks: places.iter().map(|place| place.join(run.as_str())).collect(),
        }
    }

    fn meet(&self, run: &RunId, other: &RunId, marks: &Path) {
        let theirs = self.dir.of(other);
        if lock::is_held(&theirs.lock()).unwrap_or(false) {
            let _ = tell(self.dir, other);
            let _ = tell(&theirs, run);
            // It left in the meantime, and nobody else will read that.
            if !marks.join(other.as_str()).exists() {
                let _ = fs::remove_dir_all(theirs.overlapped());
            }
        } else {
            // Its supervisor was killed.
            let _ = fs::remove_file(marks.join(other.as_str()));
        }
    }

    /// Those that may have changed files while this run worked.
    pub(super) fn others(&self) -> Vec<Overlap> {
        let met = runs_in(&self.dir.overlapped());
        let request = |run: &RunId| self.dir.of(run).read_request().ok().flatten();
        // Two may be within a third and have nothing to do with each other.
        let shares = |request: &Request| {
            let root = request.git_root.as_deref();
            root.is_some_and(|root| root.starts_with(&self.root) || self.root.starts_with(root))
        };
        met.iter()
            .filter_map(request)
            .filter(|request| may_write(request) && shares(request))
            .map(|request| Overlap { task_id: request.task_id, run_id: request.run_id })
            .collect()
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        for mark in &self.marks {
            let _ = fs::remove_file(mark);
            // Fails, as it should, while somebody else is there.
            let _ = mark.parent().map(fs::remove_dir);
        }
        let _ = fs::remove_dir_all(self.dir.overlapped());
    }
}

/// The checkout at `root`, and those that it is in.
fn checkouts(root: &Path) -> impl Iterator<Item = &Path> {
    let around = root.ancestors().skip(1).filter(|dir| dir.join(".git").exists());
    std::iter::once(root).chain(around)
}

/// Leaves a note about `other` with the run in `dir`.
fn tell(dir: &RunDir, other: &RunId) -> io::Result<()> {
    make(&dir.overlapped())?;
    files::create_log(&dir.overlapped().join(other.as_str())).map(drop)
}

fn runs_in(dir: &Path) -> BTreeSet<RunId> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether something keeps the run from writing.
fn may_write(request: &Request) -> bool {
    match request.agent {
        AgentName::Codex => request.sandbox != Sandbox::ReadOnly,
        // Without a jail it may do what its user may.
        AgentName::Command => request.jail.is_none() || request.sandbox != Sandbox::ReadOnly,
        AgentName::Replay => false,
    }
}

fn make(dir: &Path) -> io::Result<()> {
    match files::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn name(root: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let sum = Sha256::digest(root.as_os_str().as_bytes());
    sum.iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}
