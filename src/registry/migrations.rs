//! The schema and its migrations.
//!
//! Two versions of the program may share a file, so a migration only adds. All missing migrations
//! run in one transaction.

use rusqlite::Connection;

use crate::model::State;
use crate::registry::RegistryError;

/// The current format.
pub(crate) const VERSION: i64 = 6;

pub(super) fn apply(connection: &Connection, found: i64) -> Result<(), RegistryError> {
    if found >= VERSION {
        return Ok(());
    }
    if found < 1 {
        connection.execute_batch(&tasks_table())?;
    }
    if found < 2 {
        connection.execute_batch(QUEUE_INDEXES)?;
    }
    if found < 3 {
        connection.execute_batch(CLIENT_TABLES)?;
    }
    if found < 4 {
        connection.execute_batch(SLOTS)?;
    }
    if found < 5 {
        connection.execute_batch(STATUS_FOR_OTHERS)?;
    }
    if found < 6 {
        connection.execute_batch("ALTER TABLE tasks ADD COLUMN after_task TEXT;")?;
    }
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(())
}

/// Times are milliseconds since the epoch. `seq` is the order of submission.
fn tasks_table() -> String {
    let states: Vec<_> = State::ALL.iter().map(|state| format!("'{state}'")).collect();
    format!(
        "CREATE TABLE tasks (
           seq INTEGER PRIMARY KEY AUTOINCREMENT,
           id TEXT NOT NULL UNIQUE,
           run_id TEXT NOT NULL UNIQUE,
           attempt INTEGER NOT NULL DEFAULT 0,
           state TEXT NOT NULL CHECK (state IN ({})),
           agent TEXT NOT NULL,
           origin TEXT NOT NULL CHECK (origin IN ('local', 'cloud')),
           external_id TEXT,
           alias TEXT,
           instruction TEXT NOT NULL,
           project TEXT NOT NULL,
           working_dir TEXT NOT NULL,
           user_id TEXT NOT NULL,
           thread_id TEXT,
           parent_task_id TEXT,
           idempotency_key TEXT,
           fingerprint TEXT NOT NULL,
           created_at INTEGER NOT NULL,
           updated_at INTEGER NOT NULL,
           started_at INTEGER,
           completed_at INTEGER,
           last_event_at INTEGER,
           keep_alive_until INTEGER,
           progress_steps TEXT,
           code TEXT,
           exit_code INTEGER,
           summary TEXT,
           usage_total TEXT,
           unread INTEGER NOT NULL DEFAULT 0,
           pinned INTEGER NOT NULL DEFAULT 0,
           metadata TEXT
         ) STRICT;
         CREATE UNIQUE INDEX tasks_by_key ON tasks (project, idempotency_key) WHERE idempotency_key IS NOT NULL;",
        states.join(", ")
    )
}

/// For clients: unread results, identical open requests, and waits that survive a server.
const CLIENT_TABLES: &str = "
  CREATE INDEX tasks_unread ON tasks (project, completed_at) WHERE unread = 1;
  CREATE INDEX tasks_open ON tasks (fingerprint) WHERE state IN ('pending', 'working', 'input_required');
  CREATE TABLE waits (
    id TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0
  ) STRICT;
";

/// Coordinators take no slot.
const SLOTS: &str = "ALTER TABLE tasks ADD COLUMN takes_slot INTEGER NOT NULL DEFAULT 1;";

/// For other programs that read the file: the state in the words of the `codex` tool, and how often to look.
const STATUS_FOR_OTHERS: &str = "
  ALTER TABLE tasks ADD COLUMN status TEXT GENERATED ALWAYS AS (
    CASE state WHEN 'input_required' THEN 'working' WHEN 'cancelled' THEN 'canceled' WHEN 'timed_out' THEN 'failed'
      ELSE state END) VIRTUAL;
  ALTER TABLE tasks ADD COLUMN poll_frequency_ms INTEGER NOT NULL DEFAULT 15000;
";

const QUEUE_INDEXES: &str = "
  CREATE INDEX tasks_by_state ON tasks (state, seq);
  CREATE INDEX tasks_by_project ON tasks (project, state, completed_at);
  CREATE INDEX tasks_by_thread ON tasks (thread_id) WHERE thread_id IS NOT NULL;
  CREATE INDEX tasks_by_alias ON tasks (alias) WHERE alias IS NOT NULL;
";
