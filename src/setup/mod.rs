//! Changes users' settings files at their request: with minimal edits that can be undone byte by
//! byte.
//!
//! A change is prepared completely before anything is written. A file that cannot be parsed is
//! never changed.

mod clients;
mod error;
mod jsonc;
mod shell;
mod vscode;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use clients::{CLIENTS, Client, FileChange, Surroundings, by_hand, client};
pub(crate) use error::SetupError;
pub(crate) use shell::{Shell, shell};
pub(crate) use vscode::vscode;

use crate::host::{Durability, files};

/// Set up or undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SetupAction {
    SetUp,
    Undo,
}

/// A prepared change to one file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) file: PathBuf,
    /// `None` to remove the file.
    after: Option<String>,
    /// What to do with the backup of the previous content.
    backup: Option<Backup>,
    /// Whether to create or remove the directory of the file.
    directory: Directory,
    /// Descriptions, one line each. Empty if there is nothing to do.
    pub(crate) steps: Vec<String>,
}

/// What to do with the directory of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directory {
    Stays,
    Made,
    /// Remove this many levels of directories that are otherwise empty.
    Removed(usize),
}

#[derive(Debug)]
enum Backup {
    /// Write this content.
    Write(PathBuf, String),
    Drop(PathBuf),
}

impl Change {
    fn none(file: PathBuf) -> Self {
        Self { file, after: None, backup: None, directory: Directory::Stays, steps: Vec::new() }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.steps.is_empty()
    }

    /// The path of the backup.
    pub(crate) fn backup(&self) -> Option<&Path> {
        match &self.backup {
            Some(Backup::Write(path, _)) => Some(path),
            Some(Backup::Drop(_)) | None => None,
        }
    }

    pub(crate) fn make(&self) -> Result<(), SetupError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SetupError::Write { path, source }
        };
        if self.is_none() {
            return Ok(());
        }
        if let Some(Backup::Write(backup, text)) = &self.backup {
            let parent = backup.parent().unwrap_or(backup);
            files::ensure_dir(parent).map_err(failed(parent))?;
            // Private, because settings may contain secrets.
            files::write(backup, text.as_bytes(), Durability::Synced).map_err(failed(backup))?;
        }
        let directory = self.file.parent().unwrap_or(&self.file);
        if self.directory == Directory::Made {
            fs::create_dir_all(directory).map_err(failed(directory))?;
        }
        match &self.after {
            Some(after) => {
                files::replace_user_file(&self.file, after.as_bytes()).map_err(failed(&self.file))?
            }
            None => fs::remove_file(&self.file).map_err(failed(&self.file))?,
        }
        if let Directory::Removed(levels) = self.directory {
            // A directory with other content stays.
            let _ = directory.ancestors().take(levels).try_for_each(fs::remove_dir);
        }
        if let Some(Backup::Drop(backup)) = &self.backup {
            // A leftover does no harm.
            let _ = fs::remove_file(backup);
        }
        Ok(())
    }
}

/// How many directories above the file do not exist.
fn missing_directories(file: &Path) -> usize {
    file.ancestors().skip(1).take_while(|dir| !dir.as_os_str().is_empty() && !dir.is_dir()).count()
}

/// The text of a file; `None` if it does not exist. A dangling link is an error: it is neither
/// followed nor replaced.
fn text_of(path: &Path) -> Result<Option<String>, SetupError> {
    match files::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| SetupError::NoText { path: path.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Err(SetupError::Dangling { path: path.to_owned(), target }),
            Err(_) => Ok(None),
        },
        Err(source) => Err(SetupError::Read { path: path.to_owned(), source }),
    }
}
