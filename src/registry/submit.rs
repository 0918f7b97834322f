//! Accepts a task: once per key, in order, and started at once if there is a free slot.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

use crate::host::Lock;
use crate::model::{POLL_FREQUENCY_MS, Request, Slot, Slots, State, TaskId, ThreadId};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row, progress_steps, queue};

/// How often the registry may be replaced during one submission.
const MOST_REPLACED: u32 = 5;

/// A task to be accepted. Its directory exists and its lock is held, so that nobody considers it
/// abandoned.
#[derive(Debug)]
pub(crate) struct Submission<'a> {
    pub(crate) request: &'a Request,
    pub(crate) lock: Lock,
    pub(crate) slots: Slots,
    /// Return an identical open task that is no older than this.
    pub(crate) same_within: Option<Duration>,
}

#[derive(Debug)]
pub(crate) enum Submitted {
    /// There is a free slot: the caller holds the claim and must start the task.
    Claimed { lock: Lock, attempt: u32 },
    /// The task waits its turn.
    Queued,
    /// Same key and arguments: the earlier task.
    Existing(Row),
    /// Same key, other arguments.
    Conflict(Row),
    /// The thread to resume is in use.
    Busy(Row),
}

impl Registry {
    pub(crate) fn submit(&mut self, submission: Submission<'_>) -> Result<Submitted, RegistryError> {
        let Submission { request, lock, slots, same_within } = submission;
        let fingerprint = fingerprint(request);
        let mut lock = Some(lock);
        for _ in 0..MOST_REPLACED {
            let submitted = self.transaction(|transaction| {
                take_in(transaction, request, &fingerprint, slots, same_within, &mut lock)
            })?;
            // A row written to a replaced file does not count.
            if !self.reopen_if_replaced()? {
                return Ok(submitted);
            }
            if let Submitted::Claimed { lock: held, .. } = submitted {
                lock = Some(held);
            }
        }
        Err(self.replaced_repeatedly())
    }

    /// The task of `project` that was accepted under `key`.
    pub(crate) fn find_by_key(&self, project: &Path, key: &str) -> Result<Option<Row>, RegistryError> {
        with_key(&self.connection, &project.to_string_lossy(), key)
    }
}

fn take_in(
    transaction: &Connection,
    request: &Request,
    fingerprint: &str,
    slots: Slots,
    same_within: Option<Duration>,
    lock: &mut Option<Lock>,
) -> Result<Submitted, RegistryError> {
    if is_in(transaction, &request.task_id)? {
        // The registry was recreated meanwhile, with this row from the directory.
        drop(lock.take());
        return Ok(Submitted::Queued);
    }
    if let Some(row) = by_key(transaction, request)? {
        return Ok(if row.fingerprint == fingerprint {
            Submitted::Existing(row)
        } else {
            Submitted::Conflict(row)
        });
    }
    if let Some(within) = same_within
        && let Some(row) = same(transaction, request, fingerprint, within)?
    {
        return Ok(Submitted::Existing(row));
    }
    if let Some(resume) = &request.resume
        && let Some(row) = busy_with(transaction, &resume.thread_id)?
    {
        return Ok(Submitted::Busy(row));
    }
    // Whether the task before it has completed is decided when it is claimed from the queue.
    let claimed = lock.is_some()
        && request.after.is_none()
        && match request.work.slot() {
            Some(Slot::Local) => has_room(transaction, Slot::Local, slots.local)?,
            Some(Slot::Cloud) => has_room(transaction, Slot::Cloud, slots.cloud)?,
            None => slots.local > 0,
        };
    let state = if claimed { State::Working } else { State::Pending };
    insert(transaction, request, fingerprint, state)?;
    // The lock of a queued task is released before its row is visible, so that anybody can claim it
    // even if we die here.
    match lock.take_if(|_| claimed) {
        Some(lock) => Ok(Submitted::Claimed { lock, attempt: 1 }),
        None => {
            drop(lock.take());
            Ok(Submitted::Queued)
        }
    }
}

fn is_in(connection: &Connection, id: &TaskId) -> Result<bool, RegistryError> {
    Ok(connection.prepare_cached("SELECT 1 FROM tasks WHERE id = ?1")?.exists([id.as_str()])?)
}

/// Whether there is a free slot that no task waits for.
fn has_room(connection: &Connection, slot: Slot, limit: u32) -> Result<bool, RegistryError> {
    let kind = queue::in_slot(slot);
    let waits = format!("SELECT 1 FROM tasks WHERE state = 'pending' AND {kind} AND {}", queue::IS_NEXT);
    Ok(!connection.prepare_cached(&waits)?.exists([])? && queue::taken(connection, slot)? < limit)
}

/// A recent identical task that is still open.
fn same(
    connection: &Connection,
    request: &Request,
    fingerprint: &str,
    within: Duration,
) -> Result<Option<Row>, RegistryError> {
    let rest = "WHERE fingerprint = ?1 AND project = ?2 AND created_at >= ?3
                AND state IN ('pending', 'working', 'input_required') ORDER BY seq LIMIT 1";
    let since = request.created_at.as_millis() - i64::try_from(within.as_millis()).unwrap_or(i64::MAX);
    let project = request.project().to_string_lossy();
    Ok(select(connection, rest, params![fingerprint, project, since])?.pop())
}

/// An open task that uses `thread`.
fn busy_with(connection: &Connection, thread: &ThreadId) -> Result<Option<Row>, RegistryError> {
    let rest = "WHERE thread_id = ?1 AND state IN ('pending', 'working', 'input_required') LIMIT 1";
    Ok(select(connection, rest, [thread.as_str()])?.pop())
}

pub(super) fn by_key(connection: &Connection, request: &Request) -> Result<Option<Row>, RegistryError> {
    let Some(key) = &request.idempotency_key else { return Ok(None) };
    let project = request.project().to_string_lossy();
    with_key(connection, &project, key)
}

fn with_key(connection: &Connection, project: &str, key: &str) -> Result<Option<Row>, RegistryError> {
    Ok(select(connection, "WHERE project = ?1 AND idempotency_key = ?2", params![project, key])?.pop())
}

pub(super) fn insert(
    connection: &Connection,
    request: &Request,
    fingerprint: &str,
    state: State,
) -> Result<(), RegistryError> {
    let claimed = state == State::Working;
    let mut statement = connection.prepare_cached(
        "INSERT INTO tasks (id, run_id, attempt, state, agent, origin, alias, instruction, project, working_dir,
           user_id, thread_id, parent_task_id, idempotency_key, fingerprint, created_at, updated_at, started_at,
           takes_slot, progress_steps, poll_frequency_ms, after_task)
         VALUES (?1, ?2, ?3, ?4, ?5, ?17, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15, ?16, ?18, ?19, ?20, ?21)",
    )?;
    let resume = request.resume.as_ref();
    statement.execute(params![
        request.task_id.as_str(),
        request.run_id.as_str(),
        u32::from(claimed),
        state,
        request.agent.as_str(),
        request.alias,
        request.task,
        request.project().to_string_lossy(),
        request.cwd.to_string_lossy(),
        request.user,
        resume.map(|resume| resume.thread_id.as_str()),
        resume
            .and_then(|resume| resume.parent_task_id.as_ref())
            .or(request.job_of.as_ref())
            .map(TaskId::as_str),
        request.idempotency_key,
        fingerprint,
        request.created_at,
        claimed.then_some(request.created_at),
        if request.work == crate::model::WorkKind::Hosted { "cloud" } else { "local" },
        request.work.slot() == Some(Slot::Local),
        progress_steps::before_progress(state),
        POLL_FREQUENCY_MS,
        request.after.as_ref().map(TaskId::as_str),
    ])?;
    Ok(())
}

/// A hash of the request without the fields that differ in every request.
pub(crate) fn fingerprint(request: &Request) -> String {
    let mut asked = serde_json::to_value(request).unwrap_or_default();
    if let Some(fields) = asked.as_object_mut() {
        for name in [
            "task_id",
            "run_id",
            "created_at",
            "home",
            "by_client",
            "within",
            "env_names",
            "program",
            "jail",
            "kill_level",
            "max_stream_bytes",
            "inline",
            "user",
        ] {
            fields.shift_remove(name);
        }
        if let Some(worktree) = &request.worktree {
            // Each task has a worktree of its own, and the checkout may have new commits the second time.
            let within = request.cwd.strip_prefix(&worktree.path).unwrap_or(&request.cwd);
            fields.insert("cwd".into(), worktree.repository.join(within).to_string_lossy().into());
            fields.insert("git_root".into(), worktree.repository.to_string_lossy().into());
            fields.insert("worktree".into(), true.into());
        }
        if let Some(resume) = fields.get_mut("resume").and_then(|resume| resume.as_object_mut()) {
            // Only the thread counts; its usage and newest task differ the second time.
            resume.shift_remove("usage_before");
            resume.shift_remove("parent_task_id");
        }
    }
    Sha256::digest(asked.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}
