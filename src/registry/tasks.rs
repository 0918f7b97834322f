//! Rows of the task table.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};

use crate::model::{AgentName, RunId, State, TaskId, Timestamp, Usage};
use crate::registry::queue::IS_NEXT;
use crate::registry::{Registry, RegistryError, migrations};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) seq: i64,
    pub(crate) id: TaskId,
    pub(crate) run_id: RunId,
    pub(crate) attempt: u32,
    pub(crate) state: State,
    pub(crate) agent: AgentName,
    pub(crate) alias: Option<String>,
    pub(crate) instruction: String,
    pub(crate) project: PathBuf,
    pub(crate) thread_id: Option<String>,
    /// The task that it resumes.
    pub(crate) parent_task_id: Option<String>,
    pub(crate) fingerprint: String,
    pub(crate) created_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) completed_at: Option<Timestamp>,
    pub(crate) code: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) usage_total: Option<Usage>,
    pub(crate) unread: bool,
    pub(crate) pinned: bool,
    /// How long to wait before asking for its state again.
    pub(crate) poll_frequency_ms: u32,
    /// For a queued task: the task that has to end before it starts.
    pub(crate) waits_for: Option<TaskId>,
}

/// The instruction is shortened for lists; the run directory has all of it.
const COLUMNS: &str = "seq, id, run_id, attempt, state, agent, alias, substr(instruction, 1, 400), project, thread_id, fingerprint, \
     created_at, started_at, completed_at, code, summary, usage_total, unread, pinned, parent_task_id, \
     poll_frequency_ms";

/// Selects rows; `rest` is what follows `FROM tasks`.
pub(super) fn select(
    connection: &Connection,
    rest: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Row>, RegistryError> {
    let waits_for = format!("CASE WHEN state = 'pending' AND NOT {IS_NEXT} THEN after_task END");
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS}, {waits_for} FROM tasks {rest}"))?;
    let rows = statement.query_map(values, read)?.collect::<Result<_, _>>()?;
    Ok(rows)
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let parsed = |index: usize, text: String, error: String| {
        rusqlite::Error::FromSqlConversionFailure(
            index,
            rusqlite::types::Type::Text,
            format!("{text}: {error}").into(),
        )
    };
    let id: String = row.get(1)?;
    let run: String = row.get(2)?;
    let agent: String = row.get(5)?;
    let usage: Option<String> = row.get(16)?;
    let waits_for: Option<String> = row.get(21)?;
    Ok(Row {
        seq: row.get(0)?,
        id: id.parse().map_err(|e: crate::model::BadId| parsed(1, id, e.to_string()))?,
        run_id: run.parse().map_err(|e: crate::model::BadId| parsed(2, run, e.to_string()))?,
        attempt: row.get(3)?,
        state: row.get(4)?,
        agent: agent.parse().map_err(|_| parsed(5, agent, "unknown agent".into()))?,
        alias: row.get(6)?,
        instruction: row.get(7)?,
        project: PathBuf::from(row.get::<_, String>(8)?),
        thread_id: row.get(9)?,
        fingerprint: row.get(10)?,
        created_at: row.get(11)?,
        started_at: row.get(12)?,
        completed_at: row.get(13)?,
        code: row.get(14)?,
        summary: row.get(15)?,
        usage_total: usage.and_then(|json| serde_json::from_str(&json).ok()),
        unread: row.get(17)?,
        pinned: row.get(18)?,
        parent_task_id: row.get(19)?,
        poll_frequency_ms: row.get(20)?,
        waits_for: waits_for.and_then(|id| id.parse().ok()),
    })
}

impl Registry {
    pub(crate) fn task(&self, id: &TaskId) -> Result<Option<Row>, RegistryError> {
        Ok(select(&self.connection, "WHERE id = ?1", [id.as_str()])?.pop())
    }

    /// The tasks that occupy a slot, oldest first.
    pub(crate) fn working(&self) -> Result<Vec<Row>, RegistryError> {
        select(&self.connection, "WHERE state IN ('working', 'input_required') ORDER BY seq", [])
    }

    /// The unfinished jobs of a coordinator.
    pub(crate) fn jobs_of(&self, parent: &TaskId) -> Result<Vec<Row>, RegistryError> {
        let rest = "WHERE parent_task_id = ?1 AND state IN ('pending', 'working', 'input_required')";
        select(&self.connection, rest, [parent.as_str()])
    }

    /// The first `most` queued tasks, in order.
    pub(crate) fn pending(&self, most: u32) -> Result<Vec<Row>, RegistryError> {
        select(&self.connection, "WHERE state = 'pending' ORDER BY seq LIMIT ?1", [most])
    }

    /// The newest finished tasks of `project`, or of all projects.
    pub(crate) fn finished(&self, project: Option<&str>, limit: u32) -> Result<Vec<Row>, RegistryError> {
        let mut rows = Vec::new();
        for state in State::ALL.into_iter().filter(|state| state.is_final()) {
            // One query per state, because the index yields each in order.
            rows.extend(match project {
                Some(project) => select(
                    &self.connection,
                    "WHERE project = ?1 AND state = ?2 ORDER BY completed_at DESC LIMIT ?3",
                    params![project, state, limit],
                )?,
                None => select(
                    &self.connection,
                    "WHERE state = ?1 ORDER BY seq DESC LIMIT ?2",
                    params![state, limit],
                )?,
            });
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.completed_at));
        rows.truncate(limit as usize);
        Ok(rows)
    }

    /// The number of finished tasks of `project`, or of all projects, up to `most`.
    pub(crate) fn count_finished(&self, project: Option<&str>, most: u32) -> Result<u32, RegistryError> {
        const FINISHED: &str = "state IN ('completed', 'failed', 'cancelled', 'timed_out')";
        // Each case has its own index, of which no more is read than needed.
        let place = if project.is_some() { "project = ?1" } else { "?1 IS NULL" };
        let rows = format!("SELECT 1 FROM tasks WHERE {place} AND {FINISHED} LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&format!("SELECT count(*) FROM ({rows})"))?;
        Ok(statement.query_row(params![project, most], |row| row.get(0))?)
    }

    /// The durations of the last completed runs of `agent` in `project`; with a `line`, only of those whose
    /// instruction is the same as far as a [`Row`] has it.
    pub(crate) fn run_durations(
        &self,
        project: &str,
        agent: AgentName,
        line: Option<&str>,
        most: u32,
    ) -> Result<Vec<Duration>, RegistryError> {
        let mut statement = self.connection.prepare_cached(
            // Only the newest tasks are examined, however many belong to other agents. The outer
            // query has no order of its own, so it stops at the limit.
            "SELECT completed_at - started_at FROM
               (SELECT agent, instruction, started_at, completed_at FROM tasks WHERE project = ?1 AND state = 'completed'
                ORDER BY completed_at DESC LIMIT 4 * ?3)
             WHERE agent = ?2 AND started_at IS NOT NULL AND (?4 IS NULL OR substr(instruction, 1, 400) = substr(?4, 1, 400))
             LIMIT ?3",
        )?;
        let millis =
            statement.query_map(params![project, agent.as_str(), most, line], |row| row.get::<_, i64>(0))?;
        let run_durations = |millis: i64| u64::try_from(millis).ok().map(Duration::from_millis);
        Ok(millis.collect::<Result<Vec<_>, _>>()?.into_iter().filter_map(run_durations).collect())
    }

    /// The unread finished tasks of `project`, newest first.
    pub(crate) fn unread(&self, project: &str, most: u32) -> Result<Vec<Row>, RegistryError> {
        let rest = "WHERE project = ?1 AND unread = 1 ORDER BY completed_at DESC LIMIT ?2";
        select(&self.connection, rest, params![project, most])
    }

    /// The number of unread tasks, up to `most`.
    pub(crate) fn count_unread(&self, project: &str, most: u32) -> Result<u32, RegistryError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT count(*) FROM (SELECT 1 FROM tasks WHERE project = ?1 AND unread = 1 LIMIT ?2)",
        )?;
        Ok(statement.query_row(params![project, most], |row| row.get(0))?)
    }

    /// Marks these tasks as read. Writes only if one is unread.
    pub(crate) fn mark_read(&mut self, ids: &[TaskId]) -> Result<(), RegistryError> {
        let marked = |id: &&TaskId| self.task(id).is_ok_and(|row| row.is_some_and(|row| row.unread));
        let ids: Vec<&TaskId> = ids.iter().filter(marked).collect();
        if ids.is_empty() {
            return Ok(());
        }
        self.transaction(|transaction| {
            for id in &ids {
                transaction.execute("UPDATE tasks SET unread = 0 WHERE id = ?1", [id.as_str()])?;
            }
            Ok(())
        })
    }

    /// Whether SQLite's quick check finds no error. It cannot be checked while the registry is busy or the disk full.
    pub(crate) fn is_sound(&self) -> Result<bool, RegistryError> {
        let found = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        match found.map_err(RegistryError::from) {
            Ok(found) => Ok(found == "ok"),
            Err(error @ (RegistryError::Busy(_) | RegistryError::Full(_))) => Err(error),
            Err(_) => Ok(false),
        }
    }

    pub(crate) fn count(&self) -> Result<i64, RegistryError> {
        Ok(self.connection.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0))?)
    }

    /// The latest time at which a task was submitted or ended.
    pub(crate) fn newest(&self) -> Result<Option<Timestamp>, RegistryError> {
        let newest = "SELECT max(coalesce(completed_at, created_at)) FROM tasks";
        Ok(self.connection.query_row(newest, [], |row| row.get(0))?)
    }

    /// The first tasks after `seq`, for iterating over all of them.
    pub(crate) fn after(&self, seq: i64, most: u32) -> Result<Vec<Row>, RegistryError> {
        select(&self.connection, "WHERE seq > ?1 ORDER BY seq LIMIT ?2", params![seq, most])
    }

    pub(crate) fn task_by_seq(&self, seq: i64) -> Result<Option<Row>, RegistryError> {
        Ok(select(&self.connection, "WHERE seq = ?1", [seq])?.pop())
    }

    /// Pins or unpins a task. Returns `false` if it does not exist.
    pub(crate) fn pin(&mut self, id: &TaskId, pinned: bool) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            let changed = transaction
                .execute("UPDATE tasks SET pinned = ?2 WHERE id = ?1", params![id.as_str(), pinned])?;
            Ok(changed == 1)
        })
    }

    /// Removes the row of a finished, unpinned task. Returns whether it did.
    pub(crate) fn remove(&mut self, id: &TaskId) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            let removed = transaction.execute(
                "DELETE FROM tasks WHERE id = ?1 AND pinned = 0
                 AND state IN ('completed', 'failed', 'cancelled', 'timed_out')",
                [id.as_str()],
            )?;
            Ok(removed == 1)
        })
    }

    /// Whether `run` has no row and will never have one.
    ///
    /// A submitter killed during its commit may have left a complete row in the log that nobody has
    /// read yet. Writing something overwrites it.
    pub(crate) fn is_unknown_for_good(&mut self, run: &RunId) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            let known: Option<i64> = transaction
                .query_row("SELECT seq FROM tasks WHERE run_id = ?1", [run.as_str()], |row| row.get(0))
                .optional()?;
            if known.is_none() {
                transaction.pragma_update(None, "user_version", migrations::VERSION)?;
            }
            Ok(known.is_none())
        })
    }
}

impl ToSql for State {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for State {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map_err(FromSqlError::other)
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_millis().into())
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Timestamp::from_millis)
    }
}
