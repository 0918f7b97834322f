//! Removes what has been kept long enough, and rebuilds what was lost.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::host::env::Env;
use crate::host::paths::Home;
use crate::host::{clock, files};
use crate::model::{TaskId, Timestamp};
use crate::registry::{Registry, RegistryError, Row, Scope};
use crate::runs::{Kept, Policy, expired};
use crate::tasks::{Context, TaskError, pump, unsettled};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CleanupAsk {
    /// Instead of the configured age.
    pub(crate) older_than: Option<Duration>,
    /// Say what would go; remove nothing.
    pub(crate) dry_run: bool,
}

#[derive(Debug)]
pub(crate) struct Cleaned {
    pub(crate) recovered: Vec<TaskId>,
    pub(crate) found: Vec<TaskId>,
    pub(crate) removed: Vec<TaskId>,
    pub(crate) oldest: Option<Timestamp>,
    /// Directories without a task: somebody died while submitting.
    pub(crate) abandoned: u32,
    pub(crate) bytes_before: u64,
    pub(crate) bytes_after: u64,
}

/// Removes the old runs that are in the caller's scope: nobody tidies up, or
/// learns of, what belongs to others.
pub(crate) fn cleanup(context: &mut Context, ask: CleanupAsk) -> Result<Cleaned, TaskError> {
    let (scope, project) = (context.scope, context.project());
    let own = |row: &Row| scope == Scope::Everywhere || row.project == project;
    let working: Vec<TaskId> =
        context.registry.working()?.into_iter().filter(own).map(|row| row.id).collect();
    // Before the pump, which does the same and does not count.
    let abandoned = unsettled::sweep(context)?;
    pump(context)?;
    let mut recovered = Vec::new();
    for id in working {
        if context.registry.task(&id)?.is_some_and(|row| row.code.as_deref() == Some("LOST")) {
            recovered.push(id);
        }
    }
    let rows: Vec<Row> = context.registry.all()?.into_iter().filter(own).collect();
    let runs: Vec<Kept> = rows
        .iter()
        .map(|row| Kept {
            task: row.id.clone(),
            finished_at: row.completed_at.filter(|_| row.state.is_final()),
            pinned: row.pinned,
            bytes: size(context.dir(&row.run_id).path()),
        })
        .collect();
    let bytes_before = runs.iter().map(|run| run.bytes).sum();
    let age = ask.older_than.unwrap_or(context.config.retention_age());
    let found = expired(&runs, Policy { age, bytes: context.config.retention_bytes }, clock::now());
    let oldest = runs.iter().filter_map(|run| run.finished_at).min();
    let mut cleaned = Cleaned {
        recovered,
        removed: Vec::new(),
        oldest,
        abandoned,
        bytes_before,
        bytes_after: bytes_before,
        found,
    };
    if ask.dry_run {
        return Ok(cleaned);
    }
    let sizes: HashMap<&TaskId, u64> = runs.iter().map(|run| (&run.task, run.bytes)).collect();
    let found: HashSet<TaskId> = cleaned.found.iter().cloned().collect();
    for row in rows.iter().filter(|row| found.contains(&row.id)) {
        // The row first, with a note: whoever dies in between leaves something
        // that the next one finishes, never a row that points nowhere.
        let failed = TaskError::write(context.home.unsettled());
        let note = unsettled::note(context, &row.run_id).map_err(failed)?;
        if context.registry.remove(&row.id)? {
            let _ = fs::remove_dir_all(context.dir(&row.run_id).path());
            cleaned.bytes_after -= sizes.get(&row.id).copied().unwrap_or(0);
            cleaned.removed.push(row.id.clone());
        }
        note.settle();
    }
    Ok(cleaned)
}

fn size(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|found| found.len())
        .sum()
}

/// Sets the damaged registry aside and makes a new one from the directories.
/// Returns how many tasks it has.
pub(crate) fn rebuild(env: &Env) -> Result<usize, TaskError> {
    let home = Home::open(env)?;
    match Registry::open(&home) {
        // One from a newer program is not damaged: that program is using it.
        Err(error @ RegistryError::Newer { .. }) => return Err(error.into()),
        // Others may be writing to it at this moment.
        Ok(registry) if registry.is_sound() => return Err(TaskError::NothingToRebuild),
        Ok(_) | Err(_) => {}
    }
    let damaged = home.registry();
    let stamp = clock::now().run_stamp();
    for suffix in ["", "-wal", "-shm"] {
        let mut from = damaged.clone().into_os_string();
        from.push(suffix);
        let mut to = damaged.clone().into_os_string();
        to.push(format!(".damaged-{stamp}{suffix}"));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(TaskError::Write { path: from.into(), source: error });
            }
            _ => {}
        }
    }
    files::sync_dir(home.root()).map_err(TaskError::write(home.root()))?;
    Ok(Registry::open(&home)?.all()?.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_run_is_that_of_its_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), b"12345").unwrap();
        assert_eq!(size(dir.path()), 5);
        assert_eq!(size(&dir.path().join("none")), 0);
    }
}
