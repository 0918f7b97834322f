//! Ends tasks: writes the final state once.

use std::time::Duration;

use rusqlite::{Connection, params};

use crate::model::{Exit, RunResult, Timestamp};
use crate::registry::{Registry, RegistryError, Row, progress_steps};
use crate::runs::RunDir;

impl Registry {
    /// Finishes the row from the sealed result, which is the only one of its run, whichever attempt
    /// wrote it. Has no effect on a final row or if `attempt` is no longer the row's. Returns
    /// whether it did anything.
    pub(crate) fn finish(&mut self, result: &RunResult, attempt: u32) -> Result<bool, RegistryError> {
        let dir = RunDir::at(self.home().run(&result.run_id));
        let kept_for = self.kept_for;
        self.transaction(|transaction| finish(transaction, &dir, result, attempt, kept_for))
    }

    /// Ends a task whose directory is gone, so that nothing can be sealed.
    pub(crate) fn finish_without_directory(
        &mut self,
        row: &Row,
        now: Timestamp,
    ) -> Result<bool, RegistryError> {
        self.transaction(|transaction| {
            let changed = transaction.execute(
                "UPDATE tasks SET state = 'failed', code = 'LOST', summary = 'the run directory is gone',
                   completed_at = ?3, updated_at = ?3, unread = 1
                 WHERE id = ?1 AND attempt = ?2 AND state IN ('pending', 'working', 'input_required')",
                params![row.id.as_str(), row.attempt, now],
            )?;
            Ok(changed == 1)
        })
    }
}

pub(super) fn finish(
    connection: &Connection,
    dir: &RunDir,
    result: &RunResult,
    attempt: u32,
    kept_for: Duration,
) -> Result<bool, RegistryError> {
    let keep_until = result.finished_at.later(u64::try_from(kept_for.as_millis()).unwrap_or(u64::MAX));
    let total = result.usage_total.and_then(|usage| serde_json::to_string(&usage).ok());
    let metadata = serde_json::json!({ "model": result.model, "warnings": result.warnings }).to_string();
    let mut statement = connection.prepare_cached(
        "UPDATE tasks SET attempt = ?2, state = ?3, code = ?4, exit_code = ?5, summary = ?6, thread_id = coalesce(?7, thread_id),
           completed_at = ?8, updated_at = ?8, last_event_at = ?9, keep_alive_until = ?10,
           progress_steps = coalesce(?11, progress_steps), usage_total = ?12, metadata = ?13, started_at = ?14,
           external_id = ?16,
           -- A job is read with its plan.
           unread = NOT EXISTS (SELECT 1 FROM tasks AS plan WHERE plan.id = tasks.parent_task_id AND plan.agent = 'autopilot')
         WHERE id = ?1 AND attempt = ?15 AND state IN ('pending', 'working', 'input_required')",
    )?;
    let changed = statement.execute(params![
        result.task_id.as_str(),
        result.attempt,
        result.state(),
        result.outcome.code().map(|code| code.as_str()),
        result.exit.and_then(exit_code),
        result.summary,
        result.thread_id,
        result.finished_at,
        result.progress.as_ref().and_then(|progress| progress.last_event_at),
        keep_until,
        result.progress.as_ref().map(progress_steps::of),
        total,
        metadata,
        result.started_at,
        attempt,
        dir.external_id(),
    ])?;
    Ok(changed == 1)
}

fn exit_code(exit: Exit) -> Option<i32> {
    match exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) => None,
    }
}
