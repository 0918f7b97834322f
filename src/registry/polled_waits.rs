//! Waits that a client polls instead of holding a call open. They outlive the
//! server that made them; the tasks they wait for know nothing of them.

use rusqlite::{OptionalExtension, params};

use crate::model::Timestamp;
use crate::registry::{Registry, RegistryError};

/// A wait somebody may come back for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) id: String,
    /// What was asked for, or what was answered in the end, as JSON.
    pub(crate) request: String,
    pub(crate) created_at: Timestamp,
    pub(crate) cancelled: bool,
}

impl Registry {
    /// Keeps `wait`, and forgets those from before `since`.
    pub(crate) fn keep_wait(&mut self, wait: &Wait, since: Timestamp) -> Result<(), RegistryError> {
        self.transaction(|transaction| {
            transaction.execute("DELETE FROM waits WHERE created_at < ?1", [since])?;
            transaction.execute(
                "INSERT INTO waits (id, request, created_at, cancelled) VALUES (?1, ?2, ?3, ?4)",
                params![wait.id, wait.request, wait.created_at, wait.cancelled],
            )?;
            Ok(())
        })
    }

    pub(crate) fn wait(&self, id: &str) -> Result<Option<Wait>, RegistryError> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT id, request, created_at, cancelled FROM waits WHERE id = ?1")?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Wait {
                id: row.get(0)?,
                request: row.get(1)?,
                created_at: row.get(2)?,
                cancelled: row.get(3)?,
            })
        };
        Ok(statement.query_row([id], read).optional()?)
    }

    /// Puts `ended` in the place of what `wait` was asked for, unless somebody
    /// was faster.
    pub(crate) fn end_wait(&mut self, wait: &Wait, ended: &str) -> Result<(), RegistryError> {
        self.transaction(|transaction| {
            transaction.execute(
                "UPDATE waits SET request = ?2 WHERE id = ?1 AND request = ?3 AND cancelled = 0",
                params![wait.id, ended, wait.request],
            )?;
            Ok(())
        })
    }

    /// Gives up a wait; `false` when there is none.
    pub(crate) fn cancel_wait(&mut self, id: &str) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            Ok(transaction.execute("UPDATE waits SET cancelled = 1 WHERE id = ?1", [id])? == 1)
        })
    }
}
