//! What is on disk of a terminal.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// The directory of one terminal.
pub struct Recording(pub PathBuf);

/// An entry of `times.idx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub millis: u64,
    pub offset: u64,
    pub lines: u64,
    pub columns: u16,
    pub rows: u16,
}

/// All that were begun, in no order.
pub fn all(env: &TestEnv) -> Vec<Recording> {
    let entries = fs::read_dir(env.home().join("terminals")).into_iter().flatten().flatten();
    entries.map(|entry| Recording(entry.path())).filter(|one| one.file("meta.json").exists()).collect()
}

/// The only one, once it is there.
#[track_caller]
pub fn only(env: &TestEnv) -> Recording {
    let mut all = wait_for("a recording", PATIENCE, || Some(all(env)).filter(|all| !all.is_empty()));
    assert_eq!(all.len(), 1);
    all.remove(0)
}

impl Recording {
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn id(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }

    pub fn output(&self) -> Vec<u8> {
        fs::read(self.file("output.log")).unwrap()
    }

    pub fn meta(&self) -> Value {
        serde_json::from_slice(&fs::read(self.file("meta.json")).unwrap()).unwrap()
    }

    pub fn times(&self) -> Vec<Moment> {
        let bytes = fs::read(self.file("times.idx")).unwrap();
        assert_eq!(bytes.len() % 32, 0);
        let number = |entry: &[u8], at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().unwrap());
        let short = |entry: &[u8], at: usize| u16::from_le_bytes(entry[at..at + 2].try_into().unwrap());
        let moment = |entry: &[u8]| Moment {
            millis: number(entry, 0),
            offset: number(entry, 8),
            lines: number(entry, 16),
            columns: short(entry, 24),
            rows: short(entry, 26),
        };
        bytes.chunks(32).map(moment).collect()
    }
}

/// The process that runs in a terminal.
#[track_caller]
pub fn inner_pid(recording: &Recording) -> i32 {
    wait_for("the number of the program", PATIENCE, || {
        recording.meta()["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok())
    })
}

/// Looks until a file is there.
#[track_caller]
pub fn await_file(path: &Path) {
    wait_for(&path.display().to_string(), PATIENCE, || path.exists().then_some(()));
}
