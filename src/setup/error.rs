//! What can keep settings from being changed, as facts.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error("the settings of VS Code are not at `{}`", .0.display())]
    NoVsCode(PathBuf),
    #[error("HOME is not set")]
    NoHome,
    #[error("there is no directory `{}`", .0.display())]
    Nowhere(PathBuf),
    #[error("`{}` is a link to `{}`, which is not there", path.display(), target.display())]
    Dangling { path: PathBuf, target: PathBuf },
    #[error("which shell is meant cannot be told")]
    NoShell,
    #[error("`{}` is no text", path.display())]
    NoText { path: PathBuf },
    #[error("`{}` is not understood: {why}", path.display())]
    NotUnderstood { path: PathBuf, why: String },
    #[error("failed to read `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("failed to write to `{}`", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}
