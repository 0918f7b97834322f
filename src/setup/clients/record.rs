//! What setup remembers of a file that it changed: the text before, and a hash of the text that it left.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::host::files;
use crate::setup::clients::table::Setting;

const VERSION: u32 = 1;

/// The place of a record, and what is there.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    kept: Option<Kept>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    version: u32,
    file: String,
    /// `None` if there was no file.
    pub(super) before: Option<String>,
    after_sha256: String,
    /// How many directories were made for it.
    pub(super) directories: usize,
}

impl Record {
    /// The record of a file. One that is not readable counts as absent.
    pub(super) fn of(directory: &Path, client: &str, file: &Path) -> Self {
        let path = directory.join(format!("{client}-{}.json", &hash(&file.to_string_lossy())[..12]));
        let kept = files::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self {
            path,
            kept: kept.filter(|kept: &Kept| kept.version == VERSION && kept.file == file.to_string_lossy()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn kept(&self) -> Option<&Kept> {
        self.kept.as_ref()
    }

    /// The text without what an earlier setup put in. `None` if that setup made the file, and nobody has changed it.
    pub(super) fn original_of(&self, setting: &Setting, text: &str) -> Result<Option<String>, String> {
        match &self.kept {
            Some(kept) if kept.is_as_left(text) => Ok(kept.before.clone()),
            Some(kept) => kept.without_entry(setting, text).map(Some),
            None => Ok(Some(text.to_owned())),
        }
    }

    /// How many directories an earlier setup made, if they are still its own.
    pub(super) fn directories(&self, file_is_gone: bool) -> usize {
        if file_is_gone { 0 } else { self.kept.as_ref().map_or(0, |kept| kept.directories) }
    }

    /// The text of a new record.
    pub(super) fn written(
        &self,
        file: &Path,
        before: Option<String>,
        after: &str,
        directories: usize,
    ) -> String {
        let kept = Kept {
            version: VERSION,
            file: file.to_string_lossy().into_owned(),
            before,
            after_sha256: hash(after),
            directories,
        };
        serde_json::to_string_pretty(&kept).unwrap_or_default() + "\n"
    }
}

impl Kept {
    /// Whether a text is the one that setup left.
    pub(super) fn is_as_left(&self, text: &str) -> bool {
        hash(text) == self.after_sha256
    }

    /// The text without our entry, or with the one that was there before.
    pub(super) fn without_entry(&self, setting: &Setting, text: &str) -> Result<String, String> {
        let before = self.before.as_deref().unwrap_or_default();
        match setting.read(before)? {
            Some(entry) if setting.read(text)?.is_some() => setting.put(text, &entry),
            _ => setting.remove(text, before),
        }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
