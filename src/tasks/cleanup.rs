//! Removes what has been kept long enough, and restores rows that were lost.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::config::Config;
use crate::context::{Context, TaskError};
use crate::execution::{pending_dirs, pump};
use crate::host::{Home, clock, files};
use crate::model::{TaskId, Timestamp};
use crate::reading::is_alive;
use crate::registry::{Registry, RegistryError, Row, SearchScope};
use crate::runs::{Expired, RetainedRun, RetentionPolicy, RunDir, expired};
use crate::storage::{self, CleanupLock, OutputTotals, Storage};

/// Another cleanup is usually done by then.
const PATIENCE: Duration = Duration::from_secs(2);
/// A patch is made within half a minute; what is older was left by a process that died.
const OLDEST_DIFF: Duration = Duration::from_secs(3600);
/// How many rows to read at a time.
const SOME: u32 = 500;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CleanupRequest {
    /// Replaces the configured age of runs.
    pub(crate) older_than: Option<Duration>,
    /// Report what would be removed, and remove nothing.
    pub(crate) dry_run: bool,
}

#[derive(Debug)]
pub(crate) struct Cleaned {
    /// Tasks whose supervisor had died. A dry run leaves them as they are.
    pub(crate) stuck: Vec<TaskId>,
    pub(crate) found: Vec<TaskId>,
    /// Those of `found` whose result the client that started them has not fetched.
    pub(crate) unread: Vec<TaskId>,
    pub(crate) removed: Vec<TaskId>,
    pub(crate) oldest: Option<Timestamp>,
    /// Directories without a task, left by a submitter that died.
    pub(crate) abandoned: u32,
    pub(crate) bytes_before: u64,
    pub(crate) bytes_after: u64,
    pub(crate) runs: OutputTotals,
    pub(crate) outputs: Storage,
    /// Expired only by the wall clock, which is not trusted now.
    pub(crate) in_doubt: u64,
    /// Bytes above `retention_bytes` that are kept because clients have not read the results.
    pub(crate) awaited_excess: u64,
    /// Another cleanup was running, so this one removed nothing.
    pub(crate) busy: bool,
}

/// Removes the old runs in the caller's scope; others' runs are neither removed nor mentioned. Captures and
/// terminals belong to no project and are removed by the configured age.
pub(crate) fn cleanup(context: &mut Context, ask: CleanupRequest) -> Result<Cleaned, TaskError> {
    // Do not remove anything by an outdated configured age.
    context.config = Config::load(&context.env)?;
    let (scope, project) = (context.scope, context.project());
    let own = |row: &Row| scope == SearchScope::Everywhere || row.project == project;
    let working: Vec<Row> = context.registry.working()?.into_iter().filter(own).collect();
    let (abandoned, stuck) = match ask.dry_run {
        true => (0, working.iter().filter(|row| is_stuck(context, row)).map(|row| row.id.clone()).collect()),
        false => recover(context, &working)?,
    };
    let cleaning = if ask.dry_run { None } else { begin(context, PATIENCE)? };
    let cleaned = clean(context, ask, cleaning.as_ref())?;
    Ok(Cleaned { stuck, abandoned, ..cleaned })
}

/// Whether a recovery would end the task as lost: its supervisor is dead, and no other can go on with it.
fn is_stuck(context: &Context, row: &Row) -> bool {
    let dir = context.dir(&row.run_id);
    let has_begun = dir.started().exists() && !dir.result().exists();
    has_begun && row.agent.abilities().work.is_child() && !is_alive(&dir)
}

/// Ends what died. Returns how many directories nobody owned, and which of the tasks were ended.
fn recover(context: &mut Context, working: &[Row]) -> Result<(u32, Vec<TaskId>), TaskError> {
    // Before the pump, which does the same without counting.
    let abandoned = pending_dirs::sweep(context)?;
    pump(context)?;
    let mut ended = Vec::new();
    for row in working {
        if context.registry.task(&row.id)?.is_some_and(|now| now.code.as_deref() == Some("LOST")) {
            ended.push(row.id.clone());
        }
    }
    Ok((abandoned, ended))
}

/// Removes the scratch of patches that were never finished.
fn remove_old_diffs(home: &Home, now: Timestamp) {
    for entry in fs::read_dir(home.diffs()).into_iter().flatten().flatten() {
        if files::modified_at(&entry.path()).is_some_and(|made| made.is_past(OLDEST_DIFF, now)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the last cleanup was an hour ago. Takes one look at the disk.
pub(crate) fn is_due(home: &Home) -> bool {
    storage::until_due(storage::last_cleaned(home), clock::now()).is_zero()
}

/// Cleans up everything if the last cleanup was an hour ago and none is running. Returns whether it did.
pub(crate) fn cleanup_if_due(context: &mut Context) -> Result<bool, TaskError> {
    if !is_due(&context.home) {
        return Ok(false);
    }
    context.config = Config::load(&context.env)?;
    // Whoever held the lock may have just cleaned up, or failed to.
    let Some(cleaning) = begin(context, Duration::ZERO)?.filter(|_| is_due(&context.home)) else {
        return Ok(false);
    };
    clean(context, CleanupRequest::default(), Some(&cleaning))?;
    Ok(true)
}

pub(crate) fn begin(context: &Context, patience: Duration) -> Result<Option<CleanupLock>, TaskError> {
    CleanupLock::begin(&context.home, patience).map_err(TaskError::write(context.home.cleanup_lock()))
}

/// Cleans up, or only reports if we do not hold the lock.
fn clean(
    context: &mut Context,
    ask: CleanupRequest,
    cleaning: Option<&CleanupLock>,
) -> Result<Cleaned, TaskError> {
    if let (Some(cleaning), SearchScope::Everywhere) = (cleaning, context.scope) {
        // Noted first, so that a cleanup that crashes does not crash again at once.
        cleaning.note(clock::now()).map_err(TaskError::write(context.home.cleanup_lock()))?;
    }
    if cleaning.is_some() {
        remove_old_diffs(&context.home, clock::now());
    }
    let project = context.project();
    let own = |row: &Row| context.scope == SearchScope::Everywhere || row.project == project;
    let runs = measured(&context.registry, &context.home, own)?;
    let now = storage::read_trusted_clock(&context.home, context.registry.newest()?, cleaning);
    let bytes_before = runs.iter().map(|run| run.bytes).sum();
    let age = ask.older_than.unwrap_or(context.config.retention_age());
    let policy = RetentionPolicy { age, bytes: context.config.retention_bytes };
    let Expired { runs: old, awaited_excess } = expired(&runs, policy, now.believed);
    let output_policy = storage::RetentionPolicy {
        age: context.config.output_age(),
        compress: context.config.compress_large,
    };
    let in_doubt = if now.is_doubted() {
        let outputs = |now| storage::look(&context.home, output_policy, now).expired();
        let by_wall = expired(&runs, policy, now.wall).runs.len() as u64 + outputs(now.wall);
        by_wall.saturating_sub(old.len() as u64 + outputs(now.believed))
    } else {
        0
    };
    let mut rows = Vec::new();
    for &seq in &old {
        rows.extend(context.registry.task_by_seq(seq)?);
    }
    let mut removed = Vec::new();
    for row in rows.iter().filter(|_| cleaning.is_some()) {
        if remove(context, row)? {
            removed.push(row);
        }
    }
    let awaited: HashSet<i64> = runs.iter().filter(|run| run.awaited).map(|run| run.seq).collect();
    let gone: HashSet<i64> = removed.iter().map(|row| row.seq).collect();
    let stock = stock(&runs, old.len(), |run| gone.contains(&run.seq));
    let outputs = match cleaning {
        Some(cleaning) => storage::sweep(&context.home, output_policy, now.believed, cleaning),
        None => storage::look(&context.home, output_policy, now.believed),
    };
    Ok(Cleaned {
        stuck: Vec::new(),
        removed: removed.iter().map(|row| row.id.clone()).collect(),
        oldest: runs.iter().filter_map(|run| run.finished_at).min(),
        abandoned: 0,
        bytes_before,
        bytes_after: stock.bytes,
        runs: stock,
        outputs,
        in_doubt,
        awaited_excess,
        busy: cleaning.is_none() && !ask.dry_run,
        unread: rows.iter().filter(|row| awaited.contains(&row.seq)).map(|row| row.id.clone()).collect(),
        found: rows.into_iter().map(|row| row.id).collect(),
    })
}

/// What keeps the runs above their configured size, in one line.
pub(crate) fn awaited_note(
    home: &Home,
    registry: &Registry,
    config: &Config,
) -> Result<Option<String>, RegistryError> {
    let runs = measured(registry, home, |_| true)?;
    let now = storage::read_trusted_clock(home, registry.newest()?, None).believed;
    let policy = RetentionPolicy { age: config.retention_age(), bytes: config.retention_bytes };
    Ok(describe_awaited(expired(&runs, policy, now).awaited_excess))
}

pub(crate) fn describe_awaited(excess: u64) -> Option<String> {
    let kept = "results that MCP clients have not read are kept for their full time";
    (excess > 0).then(|| format!("runs take {excess} bytes more than `retention_bytes`: {kept}"))
}

/// The runs whose row is `own`, for the retention rules.
fn measured(
    registry: &Registry,
    home: &Home,
    own: impl Fn(&Row) -> bool,
) -> Result<Vec<RetainedRun>, RegistryError> {
    let (mut runs, mut last) = (Vec::new(), 0);
    let worktrees = fs::read_dir(home.worktrees()).into_iter().flatten().flatten();
    let worktrees: HashSet<OsString> = worktrees.map(|entry| entry.file_name()).collect();
    loop {
        let rows = registry.after(last, SOME)?;
        let Some(end) = rows.last() else { return Ok(runs) };
        last = end.seq;
        runs.extend(rows.iter().filter(|row| own(row)).map(|row| {
            let dir = RunDir::at(home.run(&row.run_id));
            let (files, bytes) = size(dir.path());
            let by_client = || dir.read_request().is_ok_and(|found| found.is_some_and(|it| it.by_client));
            RetainedRun {
                seq: row.seq,
                created_at: row.created_at,
                finished_at: row.completed_at.filter(|_| row.state.is_final()),
                pinned: row.pinned,
                holds_work: worktrees.contains(OsStr::new(row.id.as_str())),
                awaited: row.unread && by_client(),
                files,
                bytes,
            }
        }));
    }
}

/// Removes a finished run. Returns `false` if somebody has pinned or removed it.
fn remove(context: &mut Context, row: &Row) -> Result<bool, TaskError> {
    // First the row, with a note: if we die in between, the next process finishes the removal, and no row
    // ever points nowhere.
    let failed = TaskError::write(context.home.unsettled());
    let note = pending_dirs::note(context, &row.run_id).map_err(failed)?;
    let removed = context.registry.remove(&row.id)?;
    if removed {
        let _ = fs::remove_dir_all(context.dir(&row.run_id).path());
    }
    note.settle();
    Ok(removed)
}

/// What is left after the cleanup.
fn stock(runs: &[RetainedRun], expired: usize, is_gone: impl Fn(&RetainedRun) -> bool) -> OutputTotals {
    let (gone, there): (Vec<&RetainedRun>, Vec<&RetainedRun>) = runs.iter().partition(|run| is_gone(run));
    let count = |is: &dyn Fn(&RetainedRun) -> bool| there.iter().filter(|run| is(run)).count() as u64;
    OutputTotals {
        count: there.len() as u64,
        files: there.iter().map(|run| run.files).sum(),
        bytes: there.iter().map(|run| run.bytes).sum(),
        oldest: there.iter().filter_map(|run| run.finished_at).min(),
        pinned: count(&|run| run.pinned),
        live: count(&|run| run.finished_at.is_none()),
        expired: expired as u64,
        removed: gone.len() as u64,
        bytes_saved: gone.iter().map(|run| run.bytes).sum(),
        ..OutputTotals::default()
    }
}

/// The number of files in a directory and their total size.
fn size(dir: &Path) -> (u64, u64) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| entry.metadata().ok()).filter(fs::Metadata::is_file);
    files.fold((0, 0), |(files, bytes), found| (files + 1, bytes + found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_run_is_that_of_its_files() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), b"12345").unwrap();
        assert_eq!(size(dir.path()), (1, 5));
        assert_eq!(size(&dir.path().join("none")), (0, 0));
    }
}
