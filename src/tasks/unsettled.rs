//! Directories that have no row yet, or none any more.
//!
//! A submitter leaves a note before it makes a directory and takes it away
//! once the row is there; a cleaner leaves one before it removes a row. Who
//! finds a note whose run nobody holds finishes the job: what was never
//! promised, or is no longer wanted, goes, with the values it holds.

use std::fs;
use std::io;

use crate::host::files::{self, Durability};
use crate::host::lock::Lock;
use crate::model::RunId;
use crate::tasks::{Context, TaskError};

/// Leaves a note about `run`.
pub(super) fn note(context: &Context, run: &RunId) -> io::Result<()> {
    let notes = context.home.unsettled();
    match files::create_dir(&notes) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    files::write(&notes.join(run.as_str()), b"", Durability::Whole)
}

/// Takes it away again.
pub(super) fn settle(context: &Context, run: &RunId) {
    // One that stays is read again, and then found to be settled.
    let _ = fs::remove_file(context.home.unsettled().join(run.as_str()));
}

/// Removes the directories that nobody owns. Returns how many there were.
pub(super) fn sweep(context: &mut Context) -> Result<u32, TaskError> {
    let Ok(entries) = fs::read_dir(context.home.unsettled()) else { return Ok(0) };
    let runs: Vec<RunId> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let mut removed = 0;
    for run in runs {
        let dir = context.dir(&run);
        // Held while it is removed: a submitter that comes to lock it now
        // finds that it lost it, before it says anything to anybody.
        let held = if dir.path().exists() { Lock::take(&dir.lock()).ok().flatten() } else { None };
        if held.is_none() && dir.path().exists() {
            continue;
        }
        let unknown = context.registry.while_unknown(&run, || {
            let _ = fs::remove_dir_all(dir.path());
        })?;
        removed += u32::from(unknown && held.is_some());
        settle(context, &run);
    }
    Ok(removed)
}
