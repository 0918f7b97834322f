//! Reads the files of a run directory.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::host::files;
use crate::model::{
    KillLevel, Progress, Remote, RemoteRecord, Request, RunResult, Selection, Timestamp, WorkKind,
};
use crate::runs::RunDir;

/// The content of `started.json`, synced to disk before the agent starts. From then on, a run
/// without a supervisor is lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct StartRecord {
    pub(crate) version: u32,
    pub(crate) attempt: u32,
    pub(crate) started_at: Timestamp,
    pub(crate) supervisor_pid: i32,
    pub(crate) boot_id: String,
    /// The time since boot at the start, negative if the machine has booted since then. Only for work that a new
    /// supervisor can take over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) started_up_ms: Option<i64>,
    pub(crate) kill_level: KillLevel,
    pub(crate) cgroup: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("failed to read `{}`", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("`{}` is damaged", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

impl RunDir {
    pub(crate) fn read_request(&self) -> Result<Option<Request>, ReadError> {
        read(&self.request())
    }

    pub(crate) fn read_env(&self) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        read(&self.env())
    }

    pub(crate) fn read_started(&self) -> Result<Option<StartRecord>, ReadError> {
        read(&self.started())
    }

    /// The agent's conversation id, once it is known.
    pub(crate) fn read_thread(&self) -> Option<String> {
        let record: serde_json::Value = read(&self.file("thread.json")).ok().flatten()?;
        Some(record.get("thread_id")?.as_str()?.to_owned())
    }

    pub(crate) fn read_progress(&self) -> Option<Progress> {
        read(&self.progress()).ok().flatten()
    }

    /// For hosted work: how far its submission came; `None` before it began.
    pub(crate) fn read_remote(&self) -> Result<Option<Remote>, ReadError> {
        Ok(read::<RemoteRecord>(&self.remote())?.map(|record| record.remote))
    }

    /// Reads what [`write_state`](Self::write_state) wrote.
    pub(crate) fn read_state<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, ReadError> {
        read(path)
    }

    pub(crate) fn read_result(&self) -> Result<Option<RunResult>, ReadError> {
        read(&self.result())
    }

    /// What names the run outside of this home: the service's job for hosted work, otherwise the
    /// process id of the supervisor.
    pub(crate) fn external_id(&self) -> Option<String> {
        if self.read_request().ok().flatten()?.work == WorkKind::Hosted {
            let remote: serde_json::Value = read(&self.remote()).ok().flatten()?;
            return Some(remote.pointer("/job/id")?.as_str()?.to_owned());
        }
        Some(self.read_started().ok().flatten()?.supervisor_pid.to_string())
    }

    /// What the agent was told; empty if it takes no prompt.
    pub(crate) fn read_prompt(&self) -> String {
        files::read(&self.prompt())
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// The skills that were chosen, once they are.
    pub(crate) fn read_selected_skills(&self) -> Option<Selection> {
        read(&self.selected_skills()).ok().flatten()
    }

    /// When the waiters of the run were last sent away.
    pub(crate) fn read_detached(&self) -> Option<Timestamp> {
        let bytes = files::read(&self.detached()).ok()?;
        std::str::from_utf8(&bytes).ok()?.parse().ok().map(Timestamp::from_millis)
    }

    /// The reason in the cancel file, if the file exists.
    pub(crate) fn read_cancel(&self) -> Option<Option<String>> {
        let text = String::from_utf8_lossy(&files::read(&self.cancel()).ok()?).into_owned();
        Some((!text.is_empty()).then_some(text))
    }
}

/// `None` if the file does not exist.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ReadError> {
    let read = files::read(path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(None),
            // Errors from serde, and from paths that are not files.
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
                Err(ReadError::Damaged { path: path.to_owned(), source: error })
            }
            _ => Err(ReadError::Io { path: path.to_owned(), source: error }),
        },
    }
}
