//! The queue: first come, first served, up to the limit. Any process may claim the next task.

use rusqlite::{Connection, params};

use crate::host::Lock;
use crate::model::{State, Timestamp};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row};

/// A task that the caller must start.
#[derive(Debug)]
pub(crate) struct ClaimedTask {
    pub(crate) row: Row,
    pub(crate) lock: Lock,
}

impl Registry {
    /// Claims the first pending task for which `take` returns the lock, if there is a free slot.
    /// The lock is taken before the claim is visible.
    pub(crate) fn claim(
        &mut self,
        limit: u32,
        now: Timestamp,
        mut take: impl FnMut(&Row) -> Option<Lock>,
    ) -> Result<Option<ClaimedTask>, RegistryError> {
        // Reading needs no write lock, and most of the time nothing is pending.
        if self.first_pending()?.is_none() {
            return Ok(None);
        }
        self.transaction(|transaction| {
            if taken(transaction)? >= limit {
                return Ok(None);
            }
            let waiting = select(transaction, "WHERE state = 'pending' ORDER BY seq LIMIT 64", [])?;
            let Some((lock, mut row)) = waiting.into_iter().find_map(|row| Some((take(&row)?, row))) else {
                return Ok(None);
            };
            row.attempt += 1;
            row.state = State::Working;
            row.started_at = Some(now);
            transaction.execute(
                "UPDATE tasks SET state = 'working', attempt = ?2, started_at = ?3, updated_at = ?3 WHERE seq = ?1",
                params![row.seq, row.attempt, now],
            )?;
            Ok(Some(ClaimedTask { row, lock }))
        })
    }

    /// Returns a claimed but unstarted task to the queue, unless it was claimed again meanwhile.
    pub(crate) fn return_to_queue(&mut self, row: &Row, now: Timestamp) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            let changed = transaction.execute(
                "UPDATE tasks SET state = 'pending', started_at = NULL, updated_at = ?3
                 WHERE id = ?1 AND attempt = ?2 AND state = 'working'",
                params![row.id.as_str(), row.attempt, now],
            )?;
            Ok(changed == 1)
        })
    }

    fn first_pending(&self) -> Result<Option<Row>, RegistryError> {
        Ok(select(&self.connection, "WHERE state = 'pending' ORDER BY seq LIMIT 1", [])?.pop())
    }
}

/// The number of used slots.
pub(super) fn taken(connection: &Connection) -> Result<u32, RegistryError> {
    let mut statement = connection
        .prepare_cached("SELECT count(*) FROM tasks WHERE state IN ('working', 'input_required')")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
