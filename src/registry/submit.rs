//! Taking a task in: once per key, in order, started at once where there is room.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use crate::host::Lock;
use crate::model::{Request, State, TaskId, ThreadId};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row};

/// How often the registry may be found replaced while one task is taken in.
const MOST_REPLACED: u32 = 5;

/// A task about to be taken in. Its directory exists and its lock is held, so
/// that nobody takes it for abandoned.
#[derive(Debug)]
pub(crate) struct Submission<'a> {
    pub(crate) request: &'a Request,
    pub(crate) lock: Lock,
    pub(crate) limit: u32,
    /// Give back an identical task that is still open and no older than this.
    pub(crate) same_within: Option<Duration>,
}

#[derive(Debug)]
pub(crate) enum Submitted {
    /// There was room: the caller holds the claim and must start it.
    Claimed { lock: Lock, attempt: u32 },
    /// It waits its turn.
    Queued,
    /// The same key with the same arguments: the task of then.
    Existing(Row),
    /// The same key with other arguments.
    Conflict(Row),
    /// The thread to go on with is in use.
    Busy(Row),
}

impl Registry {
    pub(crate) fn submit(&mut self, submission: Submission<'_>) -> Result<Submitted, RegistryError> {
        let Submission { request, lock, limit, same_within } = submission;
        let fingerprint = fingerprint(request);
        let mut lock = Some(lock);
        for _ in 0..MOST_REPLACED {
            let submitted = self.transaction(|transaction| {
                take_in(transaction, request, &fingerprint, limit, same_within, &mut lock)
            })?;
            // What went to a file that is nobody's any more is not taken in.
            if !self.renew()? {
                return Ok(submitted);
            }
            if let Submitted::Claimed { lock: held, .. } = submitted {
                lock = Some(held);
            }
        }
        Err(self.keeps_moving())
    }
}

fn take_in(
    transaction: &Connection,
    request: &Request,
    fingerprint: &str,
    limit: u32,
    same_within: Option<Duration>,
    lock: &mut Option<Lock>,
) -> Result<Submitted, RegistryError> {
    if is_in(transaction, &request.task_id)? {
        // Whoever made the registry anew meanwhile has made this row from the directory.
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
    let claimed = lock.is_some() && has_room(transaction, limit)?;
    let state = if claimed { State::Working } else { State::Pending };
    insert(transaction, request, fingerprint, state)?;
    // The lock of a task that waits is free before its row can be
    // seen: whoever comes next can claim it, even if we die here.
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

/// Room is a free slot with nobody waiting for it.
fn has_room(connection: &Connection, limit: u32) -> Result<bool, RegistryError> {
    let waiting: Option<i64> = connection
        .prepare_cached("SELECT seq FROM tasks WHERE state = 'pending' LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(waiting.is_none() && crate::registry::queue::taken(connection)? < limit)
}

/// An identical task that was taken in a moment ago and is still open.
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

/// A task that is going on with `thread` right now.
fn busy_with(connection: &Connection, thread: &ThreadId) -> Result<Option<Row>, RegistryError> {
    let rest = "WHERE thread_id = ?1 AND state IN ('pending', 'working', 'input_required') LIMIT 1";
    Ok(select(connection, rest, [thread.as_str()])?.pop())
}

pub(super) fn by_key(connection: &Connection, request: &Request) -> Result<Option<Row>, RegistryError> {
    let Some(key) = &request.idempotency_key else { return Ok(None) };
    let project = request.project().to_string_lossy();
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
           user_id, thread_id, parent_task_id, idempotency_key, fingerprint, created_at, updated_at, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 'local', ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?15, ?16)",
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
        resume.and_then(|resume| Some(resume.parent_task_id.as_ref()?.as_str())),
        request.idempotency_key,
        fingerprint,
        request.created_at,
        claimed.then_some(request.created_at),
    ])?;
    Ok(())
}

/// A hash over what was asked, without what is new in every request.
pub(crate) fn fingerprint(request: &Request) -> String {
    let mut asked = serde_json::to_value(request).unwrap_or_default();
    if let Some(fields) = asked.as_object_mut() {
        for name in [
            "task_id",
            "run_id",
            "created_at",
            "home",
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
        if let Some(resume) = fields.get_mut("resume").and_then(|resume| resume.as_object_mut()) {
            // The thread is what counts. How much it had used, and which of
            // its tasks is the newest, is another matter the second time.
            resume.shift_remove("usage_before");
            resume.shift_remove("parent_task_id");
        }
    }
    Sha256::digest(asked.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}
