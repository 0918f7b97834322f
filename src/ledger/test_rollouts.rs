//! Test homes with a Codex record of a thread.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::model::Timestamp;

pub(crate) const THREAD: &str = "01a1e42f-f448-77f1-aa66-5b7e5d109407";
const FOLDER: &str = "sessions/2026/11/16";

/// A command of a record: command line, exit code, directory, end time.
pub(crate) type Command<'a> = (&'a str, i64, &'a str, i64);

pub(crate) fn line((words, exit_code, cwd, completed_at_ms): &Command) -> String {
    let command = ["/bin/bash", "-lc", words];
    let item = json!({ "type": "CommandExecution", "id": "c", "command": command, "cwd": cwd, "exit_code": exit_code });
    let payload = json!({ "type": "item_completed", "thread_id": THREAD, "item": item, "completed_at_ms": completed_at_ms });
    let timestamp = Timestamp::from_millis(*completed_at_ms);
    format!("{}\n", json!({ "timestamp": timestamp, "type": "event_msg", "payload": payload }))
}

pub(crate) fn home_of(record: &str) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(FOLDER).join(format!("rollout-2026-11-16T11-48-30-{THREAD}.jsonl"));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, record).unwrap();
    (home, file)
}

/// A home with a record of these commands, between other lines.
pub(crate) fn home(commands: &[Command]) -> (tempfile::TempDir, PathBuf) {
    let beside = |command| format!("{{\"type\":\"world_state\"}}\n{}no json\n", line(command));
    home_of(&commands.iter().map(beside).collect::<String>())
}
