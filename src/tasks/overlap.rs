//! Runs that work in one checkout at the same time tell each other so.
//!
//! While a run works, an empty file with its id stands in a directory of its
//! checkout's. Whoever comes leaves its own there first and then looks: of two
//! that come at once, at least one sees the other, and it tells both.

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
    mark: PathBuf,
}

impl<'a> Present<'a> {
    /// Enters the run in `dir`, which works in the checkout at `root`. Trouble
    /// with it costs the knowledge, never the run.
    pub(super) fn enter(dir: &'a RunDir, run: &RunId, root: &Path) -> Option<Self> {
        let marks = dir.checkouts().join(name(root));
        make(&dir.checkouts()).ok()?;
        let mark = marks.join(run.as_str());
        // Whoever leaves last removes the directory, perhaps before our eyes.
        let made = (0..3).any(|_| make(&marks).and_then(|()| files::create_log(&mark)).is_ok());
        let present = made.then_some(Self { dir, mark })?;
        for other in runs_in(&marks).into_iter().filter(|other| other != run) {
            present.meet(run, &other, &marks);
        }
        Some(present)
    }

    fn meet(&self, run: &RunId, other: &RunId, marks: &Path) {
        let theirs = self.dir.of(other);
        if lock::is_held(&theirs.lock()).unwrap_or(false) {
            let _ = tell(self.dir, other);
            let _ = tell(&theirs, run);
        } else {
            // Its supervisor was killed.
            let _ = fs::remove_file(marks.join(other.as_str()));
        }
    }

    /// Those that may have changed files while this run worked.
    pub(super) fn others(&self) -> Vec<Overlap> {
        let met = runs_in(&self.dir.overlapped());
        let request = |run: &RunId| self.dir.of(run).read_request().ok().flatten();
        met.iter()
            .filter_map(request)
            .filter(may_write)
            .map(|request| Overlap { task_id: request.task_id, run_id: request.run_id })
            .collect()
    }
}

impl Drop for Present<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.mark);
        // Fails, as it should, while somebody else is there.
        let _ = self.mark.parent().map(fs::remove_dir);
        let _ = fs::remove_dir_all(self.dir.overlapped());
    }
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
