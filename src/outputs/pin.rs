//! Captures and terminals that are kept whatever their age, by a mark beside
//! them.

use std::fs;
use std::io;

use super::cleaning::Cleaning;
use super::names;
use super::survey::{Kind, Output, survey};
use crate::host::files;
use crate::host::paths::Home;
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

/// Sets the mark, or takes it away. Who cleans up cannot be at it meanwhile.
/// Returns whether that changed anything.
pub(crate) fn mark(output: &Output, wanted: Wanted, _alone: &Cleaning) -> io::Result<bool> {
    let name = match output.kind {
        Kind::Capture => names::pin_of(&output.name),
        Kind::Terminal => terminals::PIN.to_owned(),
    };
    let path = output.dir.join(name);
    match (wanted, output.kept.pinned) {
        (Wanted::Pinned, true) | (Wanted::Unpinned, false) => return Ok(false),
        (Wanted::Pinned, false) => drop(files::create_log(&path)?),
        (Wanted::Unpinned, true) => fs::remove_file(&path)?,
    }
    files::sync_dir(&output.dir)?;
    Ok(true)
}
