//! The content of `evidence.json`.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::files::Files;
use crate::evidence::{CommandCounts, EarlierErrors, ErrorEvidence, TestResults};
use crate::host::{Durability, files};
use crate::runs::{self, ReadError};

/// Written once, before the run is sealed. An absent part was not looked for or not found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) version: u32,
    pub(crate) files: Files,
    /// How many commands had each outcome. Absent in older evidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commands: Option<CommandCounts>,
    /// Absent if no test was seen to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tests: Option<TestResults>,
    /// Absent if nothing is known to have failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) errors: Option<ErrorEvidence>,
    #[serde(flatten)]
    pub(crate) earlier: EarlierErrors,
}

impl Evidence {
    pub(crate) const VERSION: u32 = 1;

    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        files::write(path, &bytes, Durability::Whole)
    }

    /// `None` if the file does not exist.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, ReadError> {
        runs::read(path)
    }

    /// What to report if the file cannot be read: evidence is optional, and no reply fails without it.
    pub(crate) fn unknown(reason: &str) -> Self {
        Self::of_files(Files::unknown(reason.to_owned()))
    }

    /// Only file changes are known.
    pub(crate) fn of_files(files: Files) -> Self {
        Self {
            version: Self::VERSION,
            files,
            commands: None,
            tests: None,
            errors: None,
            earlier: EarlierErrors::default(),
        }
    }
}
