//! Two versions of the program on one registry.

use std::fs;
use std::path::Path;
use std::thread;

use rusqlite::Connection;

use crate::phase::Phase;
use crate::support::agent::playing;

/// The first format, as it was.
const FIRST: &str = "
  CREATE TABLE tasks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, run_id TEXT NOT NULL UNIQUE,
    attempt INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL CHECK (state IN ('pending', 'working', 'input_required', 'completed', 'failed', 'cancelled', 'timed_out')),
    agent TEXT NOT NULL, origin TEXT NOT NULL CHECK (origin IN ('local', 'cloud')), external_id TEXT, alias TEXT,
    instruction TEXT NOT NULL, project TEXT NOT NULL, working_dir TEXT NOT NULL, user_id TEXT NOT NULL, thread_id TEXT,
    parent_task_id TEXT, idempotency_key TEXT, fingerprint TEXT NOT NULL, created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL, started_at INTEGER, completed_at INTEGER, last_event_at INTEGER,
    keep_alive_until INTEGER, progress_steps TEXT, code TEXT, exit_code INTEGER, summary TEXT, usage_total TEXT,
    unread INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0, metadata TEXT
  ) STRICT;
  CREATE UNIQUE INDEX tasks_by_key ON tasks (project, idempotency_key) WHERE idempotency_key IS NOT NULL;
  PRAGMA user_version = 1;
";
const COLUMNS: &str = "seq, id, run_id, attempt, state, agent, origin, external_id, alias, instruction, project, working_dir, \
   user_id, thread_id, parent_task_id, idempotency_key, fingerprint, created_at, updated_at, started_at, completed_at, \
   last_event_at, keep_alive_until, progress_steps, code, exit_code, summary, usage_total, unread, pinned, metadata";

/// A home with five finished tasks and one that waits.
fn used() -> Phase {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    (0..5).for_each(|_| drop(phase.submit(&task)));
    phase.settle();
    phase.limit(0);
    phase.submit(&task);
    phase
}

/// Puts the registry into one file, without a log beside it.
fn close(path: &Path) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "wal_checkpoint", "truncate").unwrap();
    drop(connection);
    assert!(!path.with_extension("db-wal").exists());
}

fn version(path: &Path) -> i64 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn the_first_format_is_migrated_once_by_eight_at_a_time() {
    let phase = used();
    let (path, old) = (phase.env.registry(), phase.env.home().join("first.db"));
    let before = phase.rows();
    let known = version(&path);
    let connection = Connection::open(&old).unwrap();
    connection.execute_batch(FIRST).unwrap();
    connection.execute("ATTACH ?1 AS new", [path.to_str().unwrap()]).unwrap();
    connection
        .execute_batch(&format!("INSERT INTO main.tasks ({COLUMNS}) SELECT {COLUMNS} FROM new.tasks"))
        .unwrap();
    drop(connection);
    close(&path);
    fs::rename(&old, &path).unwrap();
    make_private(&path);
    assert_eq!(version(&path), 1);

    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| phase.env.expect(0, &["status", "--all", "--json"]));
        }
    });
    assert_eq!(version(&path), known);
    assert_eq!(phase.rows(), before);
    let filled = "SELECT count(*) FROM tasks WHERE status = state AND poll_frequency_ms = 15000";
    let filled: u32 = Connection::open(&path).unwrap().query_row(filled, [], |row| row.get(0)).unwrap();
    assert_eq!(filled as usize, before.len());
    println!("schema: rows={}, migrated from 1 to {known} by 8 processes at once", before.len());
    phase.close("first format");
}

#[test]
fn a_registry_from_the_future_is_refused_and_left_as_it_is() {
    for mode in ["wal", "delete"] {
        let phase = used();
        let path = phase.env.registry();
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        connection.pragma_update(None, "journal_mode", mode).unwrap();
        drop(connection);
        close(&path);
        let (before, task) = (fs::read(&path).unwrap(), phase.rows_if_any()[0].id.clone());
        close(&path);
        let commands: [&[&str]; 10] = [
            &["status"],
            &["run", "--agent", "command", "true"],
            &["wait", &task],
            &["results", &task],
            &["cancel", &task],
            &["logs", &task],
            &["cleanup"],
            &["pin", &task],
            &["doctor"],
            &["doctor", "--rebuild"],
        ];
        for args in commands {
            let ran = phase.env.expect(6, args);
            let text = format!("{}{}", ran.stdout, ran.stderr);
            assert!(text.contains("newer"), "{args:?}: {text}");
            assert!(fs::read(&path).unwrap() == before, "{args:?} changed the {mode} file");
        }
        println!("schema: version 99 ({mode}) refused by {} commands", commands.len());
    }
}

fn make_private(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}
