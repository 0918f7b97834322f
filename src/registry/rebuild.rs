//! Compares the registry with the run directories and restores missing rows.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::host::Home;
use crate::host::clock;
use crate::host::{Lock, lock};
use crate::model::{FailureCode, Fault, Outcome, Request, RunId, RunResult, State};
use crate::registry::submit::{by_key, fingerprint, insert};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row, finish};
use crate::runs::RunDir;

/// How the registry and the run directories differ.
#[derive(Debug)]
pub(crate) struct RegistryDifferences {
    pub(crate) runs_without_row: usize,
    /// Tasks whose run directory is gone, except those that ended as lost.
    pub(crate) rows_without_run: Vec<Row>,
}

impl Registry {
    pub(crate) fn differences(&self) -> Result<RegistryDifferences, RegistryError> {
        let home = self.home();
        let mut runs_without_row = 0;
        // Read directories before rows: a task submitted meanwhile then has both.
        for run in without_row(&self.connection, home)? {
            // A note means that a process is about to create the row or remove the directory.
            // Checking before and after makes sure that none is missed.
            let is_unsettled = || note(home, &run) != Note::None;
            if is_unsettled() || has_row(&self.connection, &run)? || is_unsettled() {
                continue;
            }
            runs_without_row += usize::from(request(&RunDir::at(home.run(&run))).is_some());
        }
        Ok(RegistryDifferences { runs_without_row, rows_without_run: without_run(&self.connection, home)? })
    }

    /// Creates a row for every run without one, and removes the rows of finished tasks without a
    /// directory. Returns the numbers of both.
    pub(crate) fn repair(&mut self) -> Result<(usize, usize), RegistryError> {
        let (home, kept_for) = (self.home().clone(), self.kept_for);
        self.transaction(|transaction| {
            let restored = fill(transaction, &home, kept_for)?;
            let mut removed = 0;
            for row in without_run(transaction, &home)?.iter().filter(|row| row.state.is_final()) {
                removed += transaction.execute("DELETE FROM tasks WHERE seq = ?1", [row.seq])?;
            }
            Ok((restored, removed))
        })
    }
}

/// Creates a row for every acknowledged run without one, oldest first. A run with an unreadable
/// request is left for its owner. Results are kept for `kept_for`.
pub(super) fn fill(connection: &Connection, home: &Home, kept_for: Duration) -> Result<usize, RegistryError> {
    let mut runs: Vec<(Note, RunDir)> = without_row(connection, home)?
        .into_iter()
        .map(|run| (note(home, &run), RunDir::at(home.run(&run))))
        .filter(|(note, dir)| was_acknowledged(dir, *note))
        .collect();
    // The newest run gets the idempotency key, since its id was the last answer. Unacknowledged
    // runs come last: their submitters will report the run that has the key.
    runs.reverse();
    runs.sort_by_key(|(note, _)| *note == Note::Held);
    let mut keys = HashSet::new();
    let mut wanted = Vec::new();
    for (note, dir) in runs {
        let Some(request) = request(&dir) else { continue };
        let key = request.idempotency_key.as_ref().map(|key| (request.project().to_owned(), key.clone()));
        let has_key = key.is_none_or(|key| keys.insert(key)) && by_key(connection, &request)?.is_none();
        if has_key || note != Note::Held {
            wanted.push((dir, has_key));
        }
    }
    wanted.sort_by(|(one, _), (other, _)| one.path().cmp(other.path()));
    for (dir, has_key) in &wanted {
        restore(connection, dir, *has_key, kept_for)?;
    }
    Ok(wanted.len())
}

/// Whether the run's id was reported to somebody, or may be at any moment.
///
/// A submitter removes its note before it answers. A note that nobody holds belongs to a submitter
/// or cleaner that died.
fn was_acknowledged(dir: &RunDir, note: Note) -> bool {
    match note {
        Note::None => true,
        Note::Held => !dir.result().exists(),
        Note::Left => dir.started().exists() && !dir.result().exists(),
    }
}

/// Creates the row of a run. It is working if it had started or its lock is held, until recovery
/// checks that lock; otherwise it is pending. Without `has_key`, a later run has its key, and it
/// must not start any more.
fn restore(
    connection: &Connection,
    dir: &RunDir,
    has_key: bool,
    kept_for: Duration,
) -> Result<(), RegistryError> {
    let Some(mut request) = request(dir) else { return Ok(()) };
    let fingerprint = fingerprint(&request);
    let started = dir.read_started().ok().flatten();
    if !has_key {
        request.idempotency_key = None;
        if started.is_none() {
            give_up(dir, &request);
        }
    }
    // While the run works, anybody may have written a result.
    let is_held = lock::is_held(&dir.lock()).unwrap_or(true);
    let result = dir.read_result().ok().flatten().filter(|_| !is_held);
    let works = started.is_some() || result.is_some() || is_held;
    let state = if works { State::Working } else { State::Pending };
    insert(connection, &request, &fingerprint, state)?;
    let attempt =
        result.as_ref().map(|result| result.attempt).or(started.as_ref().map(|started| started.attempt));
    let attempt = attempt.unwrap_or(0);
    connection.execute(
        "UPDATE tasks SET attempt = ?2, pinned = ?3, started_at = ?4 WHERE id = ?1",
        params![
            request.task_id.as_str(),
            attempt,
            dir.pin().exists(),
            started.map(|started| started.started_at)
        ],
    )?;
    if let Some(result) = result {
        finish::finish(connection, dir, &result, attempt, kept_for)?;
    }
    Ok(())
}

/// Seals an unstarted run that another one has replaced.
fn give_up(dir: &RunDir, request: &Request) {
    if let Ok(Some(_held)) = Lock::take(&dir.lock())
        && matches!(dir.read_result(), Ok(None))
    {
        let fault =
            Fault::new(FailureCode::Lost, "its row was lost, and its key was used again before it started")
                .hint("start the task again under another key");
        let outcome = Outcome::Failed { fault };
        let (task, run) = (request.task_id.clone(), request.run_id.clone());
        // If this fails, the next look tries again.
        let _ = dir.seal(&RunResult::bare(task, run, 0, outcome, clock::now()));
        let _ = dir.delete_env();
    }
}

/// The request of a run, if it names that run.
fn request(dir: &RunDir) -> Option<Request> {
    let request = dir.read_request().ok().flatten()?;
    (dir.path().file_name()? == request.run_id.as_str()).then_some(request)
}

/// The runs with a directory but without a row, oldest first.
fn without_row(connection: &Connection, home: &Home) -> Result<Vec<RunId>, RegistryError> {
    let mut runs = run_dirs(home).map_err(|source| RegistryError::Runs { path: home.runs(), source })?;
    let mut statement = connection.prepare("SELECT run_id FROM tasks")?;
    let known: HashSet<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    runs.retain(|run| !known.contains(run.as_str()));
    runs.sort();
    Ok(runs)
}

/// The names of all run directories. Only "not found" counts as none: a failing disk has lost nothing.
fn run_dirs(home: &Home) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(home.runs()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        runs.extend(entry?.file_name().to_str().and_then(|name| name.parse::<RunId>().ok()));
    }
    Ok(runs)
}

/// The tasks without a run directory, except those that ended as lost.
fn without_run(connection: &Connection, home: &Home) -> Result<Vec<Row>, RegistryError> {
    let mut rows = select(connection, "WHERE code IS NOT 'LOST' ORDER BY seq", [])?;
    rows.retain(|row| {
        let dir = RunDir::at(home.run(&row.run_id));
        // Only "not found" counts: a failing disk has lost nothing.
        [dir.request(), dir.result()].iter().all(|file| file.try_exists().is_ok_and(|exists| !exists))
    });
    // A cleaner removes the row first, so check once more.
    let mut still = Vec::new();
    for row in rows {
        if has_row(connection, &row.run_id)? {
            still.push(row);
        }
    }
    Ok(still)
}

fn has_row(connection: &Connection, run: &RunId) -> Result<bool, RegistryError> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM tasks WHERE run_id = ?1")?;
    Ok(statement.exists([run.as_str()])?)
}

/// The state of a note about a run of which directory or row may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Note {
    None,
    /// Its writer is still at work.
    Held,
    /// Its writer died.
    Left,
}

fn note(home: &Home, run: &RunId) -> Note {
    let path = home.unsettled().join(run.as_str());
    match Lock::take_existing_note(&path) {
        Ok(Some(lock)) if lock.is_at(&path) => Note::Left,
        Ok(None) => Note::Held,
        Ok(Some(_)) | Err(_) => Note::None,
    }
}
