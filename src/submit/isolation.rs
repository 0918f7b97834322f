//! Whether a run works in the directory itself or in a worktree of its own.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::context::{Context, TaskError};
use crate::model::{AgentName, TaskId, Worktree};
use crate::submit::start_request::StartRequest;
use crate::worktrees;

/// Where a run works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Isolation {
    /// In the directory itself.
    #[default]
    None,
    /// In a worktree of its own.
    Worktree,
}

/// Where a run works, at last.
#[derive(Debug)]
pub(super) struct RunGround {
    pub(super) cwd: PathBuf,
    pub(super) git_root: Option<PathBuf>,
    pub(super) worktree: Option<Worktree>,
}

impl RunGround {
    /// `cwd` was checked to be writable for the caller. A worktree of it is, too, though it lies in our home.
    pub(super) fn resolve(
        context: &Context,
        ask: &StartRequest,
        is_jailed: bool,
        task: &TaskId,
        cwd: PathBuf,
        git_root: Option<PathBuf>,
    ) -> Result<Self, TaskError> {
        if ask.isolation == Isolation::None {
            return Ok(Self { cwd, git_root, worktree: None });
        }
        // A client's command is kept from our home.
        if is_jailed {
            return Err(TaskError::Unsupported { agent: AgentName::Command, field: "isolation" });
        }
        let root = git_root.as_deref().unwrap_or(&cwd);
        let worktree = match &ask.worktree {
            Some(worktree) => worktree.clone(),
            None => worktrees::plan(&context.home, root, task, ask.branch_point.as_ref())?,
        };
        let within = cwd.strip_prefix(&worktree.repository).unwrap_or(Path::new(""));
        let (cwd, git_root) = (worktree.path.join(within), Some(worktree.path.clone()));
        Ok(Self { cwd, git_root, worktree: Some(worktree) })
    }
}
