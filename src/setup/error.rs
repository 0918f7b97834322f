//! Errors of `delegator setup`.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum SetupError {
    #[error("no VS Code settings at `{}`", .0.display())]
    NoVsCode(PathBuf),
    #[error("no {title} here: looked for {signs}")]
    NoClient { title: &'static str, signs: String },
    #[error("found no MCP client on this machine")]
    NoClients,
    #[error("HOME is not set")]
    NoHome,
    #[error("there is no directory `{}`", .0.display())]
    Nowhere(PathBuf),
    #[error("`{}` is a link to `{}`, which does not exist", path.display(), target.display())]
    Dangling { path: PathBuf, target: PathBuf },
    #[error("cannot tell which shell to set up")]
    NoShell,
    #[error("`{}` is not UTF-8 text", path.display())]
    NoText { path: PathBuf },
    #[error("`{}` could not be parsed: {why}", path.display())]
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
