//! Captures and terminals that are kept whatever their age, by a mark beside
//! them.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::host::Home;
use crate::host::files;
use crate::storage::cleanup_lock::Marking;
use crate::storage::file_names;
use crate::storage::survey::{Kind, Output, survey};
use crate::terminals;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Pinned,
    Unpinned,
}

/// The capture or terminal that `text` means. Found among those there are:
/// no path is made of what somebody wrote.
pub(crate) fn find(home: &Home, text: &str) -> Option<Output> {
    survey(home).into_iter().find(|output| output.is_called(text))
}

/// Sets the mark, or takes it away. Nobody removes anything meanwhile.
/// Returns whether that changed anything.
pub(crate) fn mark(output: &Output, wanted: Wanted, _alone: &Marking) -> io::Result<bool> {
    let path = mark_of(output);
    match (wanted, output.kept.pinned) {
        (Wanted::Pinned, true) | (Wanted::Unpinned, false) => return Ok(false),
        (Wanted::Pinned, false) => drop(files::create_log(&path)?),
        (Wanted::Unpinned, true) => fs::remove_file(&path)?,
    }
    files::sync_dir(&output.dir)?;
    Ok(true)
}

/// Whether it has one now.
pub(crate) fn is_marked(output: &Output) -> bool {
    mark_of(output).symlink_metadata().is_ok()
}

fn mark_of(output: &Output) -> PathBuf {
    output.dir.join(match output.kind {
        Kind::Capture => file_names::pin_of(&output.name),
        Kind::Terminal => terminals::PIN.to_owned(),
    })
}
