//! Pins and unpins runs, captures and terminals. What is pinned is never removed.

use std::fs;
use std::io;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::host::files;
use crate::reading::find;
use crate::registry::Row;
use crate::storage::{self, MarkLock, OutputKind, PinState};
use crate::terminals::{self, TerminalError};

/// A cleanup may have much to remove.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pinnable {
    Run,
    Capture,
    Terminal,
}

#[derive(Debug)]
pub(crate) struct Pinned {
    pub(crate) what: Pinnable,
    /// How it is referred to.
    pub(crate) name: String,
    /// It was not so before.
    pub(crate) changed: bool,
}

/// Pins or unpins whatever `reference` means.
pub(crate) fn pin(context: &mut Context, reference: &str, wanted: PinState) -> Result<Pinned, TaskError> {
    let reference = reference.trim();
    if storage::find(&context.home, reference).is_some() {
        return pin_output(context, reference, wanted);
    }
    match find(context, reference) {
        Ok(row) => pin_run(context, reference, &row, wanted),
        // It may be the name of a terminal, or the beginning of its id.
        Err(TaskError::NotFound(_)) => match terminals::find(&context.home, reference, None) {
            Ok(terminal) => pin_output(context, terminal.id.as_str(), wanted),
            Err(TerminalError::NotFound(_)) => Err(TaskError::NothingToPin(reference.to_owned())),
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(error),
    }
}

fn pin_run(context: &mut Context, reference: &str, row: &Row, wanted: PinState) -> Result<Pinned, TaskError> {
    let is_wanted = wanted == PinState::Pinned;
    let mark = context.dir(&row.run_id).pin();
    let failed = || TaskError::write(&mark);
    // The row decides. The mark only matters if the registry is lost, so it must not exist without the row.
    if !is_wanted {
        forget(&mark).map_err(failed())?;
    }
    if !context.registry.pin(&row.id, is_wanted)? {
        return Err(TaskError::NotFound(reference.to_owned()));
    }
    if is_wanted {
        files::create_log(&mark).map_err(failed())?;
        files::sync_dir(context.dir(&row.run_id).path()).map_err(failed())?;
    }
    let changed = row.pinned != is_wanted;
    Ok(Pinned { what: Pinnable::Run, name: row.id.to_string(), changed })
}

fn pin_output(context: &Context, reference: &str, wanted: PinState) -> Result<Pinned, TaskError> {
    let failed = TaskError::write(context.home.marks_lock());
    let marking = MarkLock::begin(&context.home, PATIENCE).map_err(failed)?;
    let Some(marking) = marking else { return Err(TaskError::CleaningUp) };
    // From here on nobody removes it; somebody may have just before.
    let output = storage::find(&context.home, reference);
    let output = output.ok_or_else(|| TaskError::NothingToPin(reference.to_owned()))?;
    let failed = TaskError::write(context.home.root());
    let changed = storage::mark(&output, wanted, &marking).map_err(failed)?;
    let what = match output.kind {
        OutputKind::Capture => Pinnable::Capture,
        OutputKind::Terminal => Pinnable::Terminal,
    };
    Ok(Pinned { what, name: output.name, changed })
}

fn forget(mark: &std::path::Path) -> io::Result<()> {
    match fs::remove_file(mark) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
