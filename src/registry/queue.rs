//! Who runs next: first come, first served, never more than the limit, and
//! nobody in charge. Whoever looks may claim.

use rusqlite::{Connection, params};

use crate::host::Lock;
use crate::model::{State, Timestamp};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row};

/// A task that is now ours to start.
#[derive(Debug)]
pub(crate) struct Claimed {
    pub(crate) row: Row,
    pub(crate) lock: Lock,
}

impl Registry {
    /// Claims the first waiting task that `take` gives the lock of, if there
    /// is a free slot. The lock is taken before the claim can be seen.
    pub(crate) fn claim(
        &mut self,
        limit: u32,
        now: Timestamp,
        mut take: impl FnMut(&Row) -> Option<Lock>,
    ) -> Result<Option<Claimed>, RegistryError> {
        // Looking costs no write lock; most looks find nothing to do.
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
            Ok(Some(Claimed { row, lock }))
        })
    }

    /// Puts a claimed task back that was never started. Fenced by attempt.
    pub(crate) fn put_back(&mut self, row: &Row, now: Timestamp) -> Result<bool, RegistryError> {
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

/// How many slots are taken.
pub(super) fn taken(connection: &Connection) -> Result<u32, RegistryError> {
    let mut statement = connection
        .prepare_cached("SELECT count(*) FROM tasks WHERE state IN ('working', 'input_required')")?;
    Ok(statement.query_row([], |row| row.get(0))?)
}
