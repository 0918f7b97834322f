//! Pins captures and terminals, so that they are kept regardless of their age.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::host::Home;
use crate::host::files;
use crate::storage::cleanup_lock::MarkLock;
use crate::storage::file_names;
use crate::storage::survey::{OutputKind, StoredOutput, survey};
use crate::terminals;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PinState {
    Pinned,
    Unpinned,
}

/// The capture or terminal that `text` refers to. Searches the existing ones; user input never
/// becomes a path.
pub(crate) fn find(home: &Home, text: &str) -> Option<StoredOutput> {
    survey(home).into_iter().find(|output| output.is_called(text))
}

/// Sets or removes the mark, while holding the lock for marks. Returns whether that changed
/// anything.
pub(crate) fn mark(output: &StoredOutput, wanted: PinState, _alone: &MarkLock) -> io::Result<bool> {
    let path = mark_of(output);
    match (wanted, output.kept.pinned) {
        (PinState::Pinned, true) | (PinState::Unpinned, false) => return Ok(false),
        (PinState::Pinned, false) => drop(files::create_log(&path)?),
        (PinState::Unpinned, true) => fs::remove_file(&path)?,
    }
    files::sync_dir(&output.dir)?;
    Ok(true)
}

/// Whether it is marked now.
pub(crate) fn is_marked(output: &StoredOutput) -> bool {
    mark_of(output).symlink_metadata().is_ok()
}

fn mark_of(output: &StoredOutput) -> PathBuf {
    output.dir.join(match output.kind {
        OutputKind::Capture => file_names::pin_of(&output.name),
        OutputKind::Terminal => terminals::PIN.to_owned(),
    })
}
