//! Rows from run directories, when the registry was lost.

use std::fs;

use rusqlite::{Connection, ErrorCode, params};

use super::submit::{fingerprint, insert};
use super::{RegistryError, finish};
use crate::host::lock;
use crate::host::paths::Home;
use crate::model::{RunId, State};
use crate::runs::RunDir;

/// Fills a new registry from the directories there are, oldest first. One that
/// cannot be read is left alone: it is still there for the owner.
pub(super) fn fill(connection: &Connection, home: &Home) -> Result<(), RegistryError> {
    let Ok(entries) = fs::read_dir(home.runs()) else { return Ok(()) };
    let mut runs: Vec<RunId> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    runs.sort();
    for run in runs {
        restore(connection, &RunDir::at(home.run(&run)))?;
    }
    Ok(())
}

/// A run that had started is working until recovery looks at its lock; one
/// that had not waits again.
fn restore(connection: &Connection, dir: &RunDir) -> Result<(), RegistryError> {
    let Ok(Some(request)) = dir.read_request() else { return Ok(()) };
    let started = dir.read_started().ok().flatten();
    // While the run works, a record may be anybody's.
    let is_held = lock::is_held(&dir.lock()).unwrap_or(true);
    let result = dir.read_result().ok().flatten().filter(|_| !is_held);
    let state = if started.is_some() || result.is_some() { State::Working } else { State::Pending };
    match insert(connection, &request, &fingerprint(&request), state) {
        // A second directory under one key: its submitter died before it had
        // removed what was never taken in.
        Err(RegistryError::Sql(error))
            if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) =>
        {
            return Ok(());
        }
        inserted => inserted?,
    }
    let attempt = result.as_ref().map(|result| result.attempt).or(started.map(|started| started.attempt));
    let attempt = attempt.unwrap_or(0);
    connection.execute(
        "UPDATE tasks SET attempt = ?2, pinned = ?3 WHERE id = ?1",
        params![request.task_id.as_str(), attempt, dir.pin().exists()],
    )?;
    if let Some(result) = result {
        finish::finish(connection, &result, attempt, result.finished_at)?;
    }
    Ok(())
}
