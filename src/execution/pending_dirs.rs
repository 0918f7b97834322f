//! Run directories that have no row yet, or no longer have one.
//!
//! A submitter writes a note before it creates a directory and removes the note once the row exists; a
//! cleanup writes one before it removes a row. The writer holds the note locked until it is done. Whoever
//! finds an unlocked note finishes the job: a directory that was never acknowledged, or is no longer wanted,
//! is removed with the environment values in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::context::{Context, TaskError};
use crate::host::Lock;
use crate::host::files;
use crate::model::RunId;

/// A note, held locked.
#[derive(Debug)]
pub(crate) struct Note {
    path: PathBuf,
    lock: Lock,
}

/// Writes a note about `run`.
pub(crate) fn note(context: &Context, run: &RunId) -> io::Result<Note> {
    let notes = context.home.unsettled();
    files::ensure_dir(&notes)?;
    let path = notes.join(run.as_str());
    loop {
        // Another process may find and settle it before it is locked.
        if let Some(lock) = Lock::take_note(&path)?.filter(|lock| lock.is_at(&path)) {
            return Ok(Note { path, lock });
        }
    }
}

impl Note {
    /// Gives the note a second name as the run's lock file. That lock covers another byte of the same file,
    /// which saves creating and freeing a file. On file systems without hard links there are two files.
    pub(crate) fn also_at(&self, path: &Path) -> io::Result<Option<Lock>> {
        let _ = fs::hard_link(&self.path, path);
        Lock::take(path)
    }

    /// Removes the note: directory and row both exist, or both do not.
    pub(crate) fn settle(self) {
        // A note that stays is read again later and then found to be settled.
        let _ = fs::remove_file(&self.path);
        drop(self.lock);
    }
}

/// Removes the note about a run whose directory and row both exist.
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
        // The process that held the note is dead, so nobody else creates a row for this run.
        if context.registry.is_unknown_for_good(&run)? {
            let _ = fs::remove_dir_all(dir.path());
            removed += u32::from(was_there);
        }
        Note { path, lock }.settle();
    }
    Ok(removed)
}
