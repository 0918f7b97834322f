//! Records promises: one line for every acknowledged submission and every reported final state,
//! written afterwards and never changed.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub struct Journal {
    path: PathBuf,
}

/// The content of a journal.
#[derive(Debug, Default)]
pub struct Entries {
    /// The directory in which fake agents record what they did.
    pub side: Option<PathBuf>,
    pub acknowledged: Vec<Acknowledged>,
    /// Task and final state, as reported to somebody.
    pub finals: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledged {
    pub task_id: String,
    pub run_id: String,
    /// The idempotency key, if given.
    pub key: Option<String>,
}

impl Journal {
    /// Starts a journal for agents that record in `side`.
    pub fn create(path: &Path, side: &Path) -> Journal {
        let journal = Journal { path: path.to_owned() };
        journal.append(&json!({ "side": side }));
        journal
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn acknowledged(&self, task_id: &str, run_id: &str, key: Option<&str>) {
        self.append(&json!({ "acknowledged": task_id, "run_id": run_id, "key": key }));
    }

    pub fn told_final(&self, task_id: &str, state: &str) {
        self.append(&json!({ "final": task_id, "state": state }));
    }

    /// One write per line, because several threads may share a journal.
    fn append(&self, entry: &Value) {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.path).unwrap();
        file.write_all(format!("{entry}\n").as_bytes()).unwrap();
    }
}

impl Entries {
    pub fn read(path: &Path) -> io::Result<Entries> {
        let mut entries = Entries::default();
        for line in fs::read_to_string(path)?.lines() {
            let entry: Value = serde_json::from_str(line)?;
            let text = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
            if let Some(side) = text("side") {
                entries.side = Some(side.into());
            } else if let (Some(task_id), Some(run_id)) = (text("acknowledged"), text("run_id")) {
                entries.acknowledged.push(Acknowledged { task_id, run_id, key: text("key") });
            } else if let (Some(task), Some(state)) = (text("final"), text("state")) {
                entries.finals.push((task, state));
            } else {
                return Err(io::Error::new(io::ErrorKind::InvalidData, format!("unknown entry {line}")));
            }
        }
        Ok(entries)
    }
}
