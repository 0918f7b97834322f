//! Waits that a client polls. They survive the server that created them and do not affect the
//! tasks.

use rusqlite::{OptionalExtension, params};

use crate::model::Timestamp;
use crate::registry::{Registry, RegistryError};

/// A wait that a client may poll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) id: String,
    /// The request, or finally the answer, as JSON.
    pub(crate) request: String,
    pub(crate) created_at: Timestamp,
    pub(crate) cancelled: bool,
}

impl Registry {
    /// Stores `wait` and deletes those older than `since`.
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

    /// Replaces the request of `wait` by the answer `ended`, unless another process was faster.
    pub(crate) fn end_wait(&mut self, wait: &Wait, ended: &str) -> Result<(), RegistryError> {
        self.transaction(|transaction| {
            transaction.execute(
                "UPDATE waits SET request = ?2 WHERE id = ?1 AND request = ?3 AND cancelled = 0",
                params![wait.id, ended, wait.request],
            )?;
            Ok(())
        })
    }

    /// Cancels a wait. Returns `false` if it does not exist.
    pub(crate) fn cancel_wait(&mut self, id: &str) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            Ok(transaction.execute("UPDATE waits SET cancelled = 1 WHERE id = ?1", [id])? == 1)
        })
    }
}
