//! Changes to the person's own settings: made at their word, as small as can
//! be, and taken back to the byte.
//!
//! A change is worked out first and written last; nothing is written that was
//! not understood.

mod error;
mod jsonc;
mod shell;
mod vscode;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use error::SetupError;
pub(crate) use shell::{Shell, shell};
pub(crate) use vscode::vscode;

use crate::host::{Durability, files};

/// What to do to a file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    SetUp,
    Undo,
}

/// A change to one file, not made yet.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) file: PathBuf,
    /// `None` where there is to be no such file.
    after: Option<String>,
    /// Keeps what was there, until it is taken back.
    backup: Option<Backup>,
    /// Whether the directory of the file comes and goes with it.
    directory: Directory,
    /// In words, one line each. Empty where nothing is to be done.
    pub(crate) steps: Vec<String>,
}

/// What becomes of the directory that a file is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directory {
    Stays,
    Made,
    /// With so many above it in all, as far as nothing else is in them.
    Removed(usize),
}

#[derive(Debug)]
enum Backup {
    /// With this in it.
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

    /// Where what was there is kept.
    pub(crate) fn backup(&self) -> Option<&Path> {
        match &self.backup {
            Some(Backup::Write(path, _)) => Some(path),
            Some(Backup::Drop(_)) | None => None,
        }
    }

    /// Makes the change.
    pub(crate) fn make(&self) -> Result<(), SetupError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| SetupError::Write { path, source }
        };
        if self.is_none() {
            return Ok(());
        }
        if let Some(Backup::Write(backup, text)) = &self.backup {
            // Settings may hold secrets, and the copy is for nobody else.
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
            // One in which there is something else now is somebody's.
            let _ = directory.ancestors().take(levels).try_for_each(fs::remove_dir);
        }
        if let Some(Backup::Drop(backup)) = &self.backup {
            // What is left of it is in nobody's way.
            let _ = fs::remove_file(backup);
        }
        Ok(())
    }
}

/// The text of a file; `None` where there is none. A link that leads nowhere is
/// somebody's, and neither followed nor replaced.
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
