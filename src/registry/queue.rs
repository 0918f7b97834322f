//! The queue: first come, first served, up to the limit. Tasks in the cloud have a limit and a line of their own. Any
//! process may claim the next task.

use rusqlite::{Connection, params};

use crate::host::Lock;
use crate::model::{Slot, Slots, State, Timestamp};
use crate::registry::tasks::select;
use crate::registry::{Registry, RegistryError, Row, progress_steps};

/// The condition that the task before it, if there is one, has ended.
pub(super) const IS_NEXT: &str = "(after_task IS NULL OR NOT EXISTS (SELECT 1 FROM tasks AS earlier
    WHERE earlier.id = tasks.after_task AND earlier.state IN ('pending', 'working', 'input_required')))";

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
        slots: Slots,
        now: Timestamp,
        mut take: impl FnMut(&Row) -> Option<Lock>,
    ) -> Result<Option<ClaimedTask>, RegistryError> {
        // Reading needs no write lock, and most of the time nothing is pending.
        if self.first_pending()?.is_none() {
            return Ok(None);
        }
        self.transaction(|transaction| {
            let Some(claimable) = claimable(transaction, slots)? else { return Ok(None) };
            let rest = format!("WHERE {claimable} ORDER BY seq LIMIT 64");
            let waiting = select(transaction, &rest, [])?;
            let Some((lock, mut row)) = waiting.into_iter().find_map(|row| Some((take(&row)?, row))) else {
                return Ok(None);
            };
            row.attempt += 1;
            row.state = State::Working;
            row.started_at = Some(now);
            transaction.execute(
                "UPDATE tasks SET state = 'working', attempt = ?2, started_at = ?3, updated_at = ?3, progress_steps = ?4
                 WHERE seq = ?1",
                params![row.seq, row.attempt, now, progress_steps::before_progress(row.state)],
            )?;
            Ok(Some(ClaimedTask { row, lock }))
        })
    }

    /// Returns a claimed but unstarted task to the queue, unless it was claimed again meanwhile.
    pub(crate) fn return_to_queue(&mut self, row: &Row, now: Timestamp) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            let changed = transaction.execute(
                "UPDATE tasks SET state = 'pending', started_at = NULL, updated_at = ?3, progress_steps = ?4
                 WHERE id = ?1 AND attempt = ?2 AND state = 'working'",
                params![row.id.as_str(), row.attempt, now, progress_steps::before_progress(State::Pending)],
            )?;
            Ok(changed == 1)
        })
    }

    /// Gives a working task to a new supervisor, which starts it as another attempt. `None` if
    /// another process was faster.
    pub(crate) fn reclaim(&mut self, row: &Row, now: Timestamp) -> Result<Option<u32>, RegistryError> {
        self.transaction(|transaction| {
            let changed = transaction.execute(
                "UPDATE tasks SET attempt = attempt + 1, updated_at = ?3
                 WHERE id = ?1 AND attempt = ?2 AND state = 'working'",
                params![row.id.as_str(), row.attempt, now],
            )?;
            Ok((changed == 1).then_some(row.attempt + 1))
        })
    }

    /// Undoes [`reclaim`](Self::reclaim) of `row`, because no supervisor could be started.
    pub(crate) fn undo_reclaim(&mut self, row: &Row) -> Result<(), RegistryError> {
        self.transaction(|transaction| {
            transaction.execute(
                "UPDATE tasks SET attempt = ?2 WHERE id = ?1 AND attempt = ?2 + 1 AND state = 'working'",
                params![row.id.as_str(), row.attempt],
            )?;
            Ok(())
        })
    }

    /// When a working task was last given a supervisor.
    pub(crate) fn last_claim(&self, row: &Row) -> Result<Timestamp, RegistryError> {
        let mut statement = self.connection.prepare_cached("SELECT updated_at FROM tasks WHERE id = ?1")?;
        Ok(statement.query_row([row.id.as_str()], |row| row.get(0))?)
    }

    /// Whether a queued task can be claimed.
    pub(crate) fn can_claim(&self, slots: Slots) -> Result<bool, RegistryError> {
        let Some(claimable) = claimable(&self.connection, slots)? else { return Ok(false) };
        let found = format!("SELECT 1 FROM tasks WHERE {claimable}");
        Ok(self.connection.prepare_cached(&found)?.exists([])?)
    }

    fn first_pending(&self) -> Result<Option<Row>, RegistryError> {
        Ok(select(&self.connection, "WHERE state = 'pending' ORDER BY seq LIMIT 1", [])?.pop())
    }
}

/// The condition for queued tasks that may start now; `None` if none may.
fn claimable(connection: &Connection, slots: Slots) -> Result<Option<String>, RegistryError> {
    let local = match taken(connection, Slot::Local)? < slots.local {
        true => Some("origin = 'local'"),
        // What takes no slot waits for none.
        false if slots.local > 0 => Some("origin = 'local' AND takes_slot = 0"),
        false => None,
    };
    let cloud = (taken(connection, Slot::Cloud)? < slots.cloud).then_some("origin = 'cloud'");
    let kinds: Vec<_> = [local, cloud].into_iter().flatten().collect();
    Ok((!kinds.is_empty()).then(|| format!("state = 'pending' AND ({}) AND {IS_NEXT}", kinds.join(" OR "))))
}

/// The number of used slots.
pub(super) fn taken(connection: &Connection, slot: Slot) -> Result<u32, RegistryError> {
    let kind = in_slot(slot);
    let taken = format!("SELECT count(*) FROM tasks WHERE state IN ('working', 'input_required') AND {kind}");
    Ok(connection.prepare_cached(&taken)?.query_row([], |row| row.get(0))?)
}

/// The condition for tasks that occupy or wait for `slot`.
pub(super) fn in_slot(slot: Slot) -> &'static str {
    match slot {
        Slot::Local => "origin = 'local' AND takes_slot = 1",
        Slot::Cloud => "origin = 'cloud'",
    }
}
