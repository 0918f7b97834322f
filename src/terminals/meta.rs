//! The metadata of a recording.

use std::io;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::host::{Durability, files};
use crate::model::{Exit, TerminalId, Timestamp};
use crate::terminals::file_names::META;

pub(super) const VERSION: u32 = 1;
/// Larger files are not genuine.
const LONGEST: u64 = 256 << 10;

/// The content of `meta.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub(super) version: u32,
    pub(super) terminal_id: TerminalId,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) name: Option<String>,
    pub(super) command: Vec<String>,
    /// Where it was started.
    pub(super) cwd: PathBuf,
    /// The git root above `cwd`, or `cwd` itself.
    pub(super) project: PathBuf,
    /// Process id of the program in the terminal, once it runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) pid: Option<i32>,
    /// The initial size; `times.idx` has later ones.
    pub(super) columns: u16,
    pub(super) rows: u16,
    pub(super) started_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) ended_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) exit: Option<Exit>,
    /// Why later bytes are missing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) incomplete: Option<String>,
}

impl Meta {
    pub(super) fn write(&self, dir: &Path) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        files::write(&dir.join(META), &bytes, Durability::Whole)
    }

    pub(super) fn read(dir: &Path) -> io::Result<Meta> {
        let mut bytes = Vec::new();
        files::open_in(dir, META)?.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}
