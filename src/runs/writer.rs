//! Writes the files of a run directory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::host::{Durability, files};
use crate::model::{Progress, Request, RunId, Timestamp};
use crate::runs::{RunDir, StartRecord};

/// Enough for `result.json` and the other small files at the end of a run.
const RESERVE: usize = 64 << 10;

/// The content of `command.json`: what was started, without the values of the environment.
#[derive(Debug, Serialize)]
pub(crate) struct CommandRecord<'a> {
    pub(crate) version: u32,
    pub(crate) program: &'a PathBuf,
    pub(crate) args: &'a [String],
    pub(crate) cwd: &'a PathBuf,
    pub(crate) env_names: Vec<&'a str>,
    pub(crate) agent_version: Option<&'a str>,
}

impl RunDir {
    pub(crate) fn create(&self) -> io::Result<()> {
        files::create_dir(self.path())
    }

    /// Writes the request and syncs it together with everything else in the directory. One sync is
    /// enough, because nobody knows of the directory yet.
    pub(crate) fn write_request(&self, request: &Request) -> io::Result<()> {
        files::write(&self.request(), &pretty(request)?, Durability::Whole)?;
        fs::File::open(self.request())?.sync_all()?;
        files::sync_dir(self.path())?;
        self.path().parent().map_or(Ok(()), files::sync_dir)
    }

    pub(crate) fn write_env(&self, values: &[(String, String)]) -> io::Result<()> {
        let map: BTreeMap<_, _> = values.iter().map(|(name, value)| (name, value)).collect();
        files::write(&self.env(), &serde_json::to_vec(&map)?, Durability::Whole)
    }

    pub(crate) fn write_started(&self, started: &StartRecord) -> io::Result<()> {
        files::write(&self.started(), &pretty(started)?, Durability::Synced)
    }

    pub(crate) fn write_command(&self, record: &CommandRecord<'_>) -> io::Result<()> {
        files::write(&self.file("command.json"), &pretty(record)?, Durability::Whole)
    }

    /// Writes a file that a new supervisor goes on from.
    pub(crate) fn write_state(&self, path: &Path, state: &impl Serialize) -> io::Result<()> {
        files::write(path, &pretty(state)?, Durability::Synced)
    }

    /// Writes a record of what was decided before the run.
    pub(crate) fn write_record(&self, path: &Path, record: &impl Serialize) -> io::Result<()> {
        files::write(path, &pretty(record)?, Durability::Whole)
    }

    pub(crate) fn write_progress(&self, progress: &Progress) -> io::Result<()> {
        files::write(&self.progress(), &pretty(progress)?, Durability::Whole)
    }

    pub(crate) fn write_thread(&self, thread: &str) -> io::Result<()> {
        let record = serde_json::json!({ "version": 1, "thread_id": thread });
        files::write(&self.file("thread.json"), &pretty(&record)?, Durability::Whole)
    }

    pub(crate) fn write_text(&self, path: PathBuf, text: &str) -> io::Result<()> {
        files::write(&path, text.as_bytes(), Durability::Whole)
    }

    /// Links the directory of the run that the job became. The id of a job is a plain name.
    pub(crate) fn link_subrun(&self, job: &str, run: &RunId) -> io::Result<()> {
        if !self.subruns().is_dir() {
            files::create_dir(&self.subruns())?;
        }
        std::os::unix::fs::symlink(Path::new("../..").join(run.as_str()), self.subruns().join(job))
    }

    pub(crate) fn write_cancel(&self, reason: Option<&str>) -> io::Result<()> {
        files::write(&self.cancel(), reason.unwrap_or_default().as_bytes(), Durability::Whole)
    }

    /// Whoever has been waiting for the run until `at` stops waiting.
    pub(crate) fn write_detached(&self, at: Timestamp) -> io::Result<()> {
        files::write(&self.detached(), at.as_millis().to_string().as_bytes(), Durability::Whole)
    }

    /// Appends to `supervisor.log` if this is a run directory.
    pub(crate) fn log_problem(&self, text: &str) {
        if self.request().exists()
            && let Ok(mut log) = files::create_log(&self.supervisor_log())
        {
            let _ = writeln!(log, "delegator: {text}");
        }
    }

    pub(crate) fn set_reserve(&self) -> io::Result<()> {
        files::write(&self.reserve(), &vec![0; RESERVE], Durability::Whole)
    }

    pub(crate) fn free_reserve(&self) {
        let _ = fs::remove_file(self.reserve());
    }

    pub(crate) fn delete_env(&self) -> io::Result<()> {
        match fs::remove_file(self.env()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

pub(super) fn pretty(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}
