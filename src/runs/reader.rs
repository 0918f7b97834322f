//! Reads the files of a run directory back.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::RunDir;
use crate::model::{KillLevel, Progress, Request, RunResult, Timestamp};

/// The content of `started.json`, durable before the agent runs: from here on
/// the run is the agent's, and losing it is a loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) version: u32,
    pub(crate) attempt: u32,
    pub(crate) started_at: Timestamp,
    pub(crate) supervisor_pid: i32,
    pub(crate) boot_id: String,
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
        source: serde_json::Error,
    },
}

impl RunDir {
    pub(crate) fn read_request(&self) -> Result<Option<Request>, ReadError> {
        read(&self.request())
    }

    pub(crate) fn read_env(&self) -> Result<Option<BTreeMap<String, String>>, ReadError> {
        read(&self.env())
    }

    pub(crate) fn read_started(&self) -> Result<Option<Started>, ReadError> {
        read(&self.started())
    }

    pub(crate) fn read_progress(&self) -> Option<Progress> {
        read(&self.progress()).ok().flatten()
    }

    pub(crate) fn read_result(&self) -> Result<Option<RunResult>, ReadError> {
        read(&self.result())
    }

    /// The reason somebody left in the cancel file, if there is one.
    pub(crate) fn read_cancel(&self) -> Option<Option<String>> {
        let text = fs::read_to_string(self.cancel()).ok()?;
        Some((!text.is_empty()).then_some(text))
    }
}

/// `None` when the file is not there.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ReadError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ReadError::Io { path: path.to_owned(), source }),
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(value)),
        Err(source) => Err(ReadError::Damaged { path: path.to_owned(), source }),
    }
}
