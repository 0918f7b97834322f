//! Directories that have no row yet, or none any more.
//!
//! A submitter leaves a note before it makes a directory and takes it away
//! once the row is there; a cleaner leaves one before it removes a row. Its
//! writer holds the note locked for as long as it is at it: who finds one that
//! nobody holds finishes the job. What was never promised, or is no longer
//! wanted, goes, with the values it holds.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::context::{Context, TaskError};
use crate::host::Lock;
use crate::host::files;
use crate::model::RunId;

/// A note, held.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    lock: Lock,
}

/// Leaves a note about `run`.
pub(crate) fn note(context: &Context, run: &RunId) -> io::Result<Note> {
    let notes = context.home.unsettled();
    files::ensure_dir(&notes)?;
    let path = notes.join(run.as_str());
    loop {
        // Somebody may find it before it is locked, and settle it.
        if let Some(lock) = Lock::take_note(&path)?.filter(|lock| lock.is_at(&path)) {
            return Ok(Note { path, lock });
        }
    }
}

impl Note {
    /// Gives the note a second name, the lock of the run that it is about, which
    /// is another lock of the same file: one less to make and to free. Where a
    /// file has one name only, there are two.
    pub(crate) fn also_at(&self, path: &Path) -> io::Result<Option<Lock>> {
        let _ = fs::hard_link(&self.path, path);
        Lock::take(path)
    }

    /// Takes it away again: directory and row are both there, or both gone.
    pub(crate) fn settle(self) {
        // One that stays is read again, and then found to be settled.
        let _ = fs::remove_file(&self.path);
        drop(self.lock);
    }
}

/// Takes away the note about a run whose directory and row are both there.
pub(crate) fn forget(context: &Context, run: &RunId) {
    let _ = fs::remove_file(context.home.unsettled().join(run.as_str()));
}

/// Removes the directories that nobody owns. Returns how many there were.
pub(crate) fn sweep(context: &mut Context) -> Result<u32, TaskError> {
    let Ok(entries) = fs::read_dir(context.home.unsettled()) else { return Ok(0) };
    let runs: Vec<RunId> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let mut removed = 0;
    for run in runs {
        let path = context.home.unsettled().join(run.as_str());
        let held = Lock::take_existing_note(&path).ok().flatten().filter(|lock| lock.is_at(&path));
        let Some(lock) = held else { continue };
        let dir = context.dir(&run);
        let was_there = dir.path().exists();
        // Whoever held the note is dead: nobody else makes a row of this run.
        if context.registry.is_unknown_for_good(&run)? {
            let _ = fs::remove_dir_all(dir.path());
            removed += u32::from(was_there);
        }
        Note { path, lock }.settle();
    }
    Ok(removed)
}
