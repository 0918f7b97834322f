//! Makes a patch of what is in a working tree but not in its last commit.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::time::Duration;

use crate::git::file_state::State;
use crate::git::snapshot::{SnapshotError, TreeBefore};

/// Why there is no patch.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UncommittedError {
    #[error("the repository has no commit")]
    NoCommit,
    #[error("{0} files could not be read")]
    Unread(u32),
    #[error("`{}` is too large or could not be read", String::from_utf8_lossy(.0).escape_debug())]
    Unreadable(Vec<u8>),
    #[error("untracked files are unknown: {0}")]
    Unlisted(String),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

impl TreeBefore {
    /// The changes since the last commit, staged or not, with untracked files, as a patch that git applies. Empty if
    /// there are none. Nested repositories are left out.
    pub(crate) fn uncommitted(&self, until: Duration) -> Result<Vec<u8>, UncommittedError> {
        let commit = self.head.commit.ok_or(UncommittedError::NoCommit)?;
        if let Some(reason) = &self.unlisted {
            return Err(UncommittedError::Unlisted(reason.clone()));
        }
        if self.unseen > 0 {
            return Err(UncommittedError::Unread(self.unseen));
        }
        // The index as it would be if everything was added to it.
        let index = self.git.file("all-added");
        match fs::copy(self.index(), &index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Ok(_) | Err(_) => {}
        }
        let entries = self.entries()?;
        self.store.show().map_err(failed)?;
        let ask = |args: &[&str], input| {
            let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            self.git.ask(&args, self.root(), &index, input, until).map_err(SnapshotError::from)
        };
        ask(&["update-index", "-z", "--index-info"], entries)?;
        let patch = [
            "diff-index",
            "--cached",
            "-p",
            "--binary",
            "--full-index",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "--ignore-submodules=all",
            &commit.to_string(),
        ];
        Ok(ask(&patch, Vec::new())?)
    }

    /// What differs from the index, as `update-index` reads it.
    fn entries(&self) -> Result<Vec<u8>, UncommittedError> {
        let mut lines = Vec::new();
        let none = "0".repeat(self.store.format().bytes() * 2);
        for (path, state) in self.states().map_err(failed)? {
            let line = match state {
                None => format!("0 {none}\t"),
                Some(state) if state.is_nested() => continue,
                Some(State { oid: Some(oid), readable: true, mode, .. }) => format!("{mode:o} {oid}\t"),
                Some(_) => return Err(UncommittedError::Unreadable(path)),
            };
            lines.extend(line.into_bytes());
            lines.extend(path);
            lines.push(0);
        }
        Ok(lines)
    }
}

fn failed(error: io::Error) -> UncommittedError {
    UncommittedError::Snapshot(error.into())
}
