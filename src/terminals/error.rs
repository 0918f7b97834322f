//! Errors of recording and reading terminals.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalError {
    #[error("no recorded terminal `{}`", .0.escape_debug())]
    NotFound(String),
    #[error("no terminal was recorded{}", project.as_ref().map(|project| format!(" in `{}`", project.display())).unwrap_or_default())]
    None { project: Option<PathBuf> },
    #[error("`{}` could be any of {}", reference.escape_debug(), candidates.join(", "))]
    Ambiguous { reference: String, candidates: Vec<String> },
    #[error("`{}` is not a terminal cursor", .0.escape_debug())]
    BadCursor(String),
    #[error("`{}` is not a time", .0.escape_debug())]
    BadMoment(String),
    #[error("`{}` is not a regular file, or its path contains a symbolic link", .0.display())]
    NotAPlainFile(PathBuf),
    #[error("failed to read the recording of `{id}`")]
    Read {
        id: String,
        #[source]
        source: io::Error,
    },
    #[error("failed to open a pseudo terminal")]
    NoPty(#[source] io::Error),
    #[error("failed to start `{}`", program.display())]
    Spawn {
        program: OsString,
        #[source]
        source: io::Error,
    },
}
