//! The repository that a worktree belongs to, and the place of a worktree that is planned.

use std::path::Path;
use std::time::Duration;

use crate::context::WorktreeError;
use crate::git::{Installed, Oid, Repository, WorktreeOwner};
use crate::host::{Env, Home, clock};
use crate::model::{TaskId, Worktree};
use crate::runs::RunDir;

/// How long one step with git may take, such as filling a worktree or committing what is in it.
pub(super) const LONGEST: Duration = Duration::from_secs(300);

/// Where a branch starts if it is not the usual one of its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BranchPoint {
    pub(crate) branch: String,
    /// A branch or a commit.
    pub(crate) base: Option<String>,
}

/// The branch of a task, unless another is named.
pub(crate) fn branch_of(task: &TaskId) -> String {
    format!("delegator/{task}")
}

/// The worktree that a task will work in. Nothing is created yet.
pub(crate) fn plan(
    home: &Home,
    root: &Path,
    task: &TaskId,
    point: Option<&BranchPoint>,
) -> Result<Worktree, WorktreeError> {
    let repository = Repository::at(root).ok_or_else(|| WorktreeError::NoRepository(root.to_owned()))?;
    let head = || repository.head().commit.ok_or_else(|| WorktreeError::NoCommit(root.to_owned()));
    let base = match point.and_then(|point| point.base.as_deref()) {
        None => head()?,
        Some(named) => {
            let name = format!("refs/heads/{named}");
            let branch = repository.references().into_iter().find(|(found, _)| *found == name);
            let base = branch.map(|(_, oid)| oid).or_else(|| Oid::from_hex(named));
            base.ok_or_else(|| WorktreeError::NoBase(named.to_owned()))?
        }
    };
    Ok(Worktree {
        branch: point.map_or_else(|| branch_of(task), |point| point.branch.clone()),
        base: base.to_string(),
        path: home.worktrees().join(task.as_str()),
        repository: root.to_owned(),
    })
}

/// The repository of `worktree`, with a git that a run in it could not have placed.
pub(super) fn owner(env: &Env, worktree: &Worktree) -> Result<WorktreeOwner, WorktreeError> {
    let Worktree { path, repository: root, .. } = worktree;
    let repository = Repository::at(root).ok_or_else(|| WorktreeError::NoRepository(root.clone()))?;
    let installed = Installed::find(env, env.get("PATH"), &[path, root])?;
    Ok(WorktreeOwner { repository, installed, until: clock::monotonic() + LONGEST })
}

pub(super) fn oid(text: &str) -> Result<Oid, WorktreeError> {
    Oid::from_hex(text).ok_or_else(|| WorktreeError::NoBase(text.to_owned()))
}

/// The last commit of the branch, if that exists.
pub(crate) fn head(env: &Env, worktree: &Worktree) -> Result<Option<Oid>, WorktreeError> {
    Ok(owner(env, worktree)?.branch_head(&worktree.branch))
}

/// Removes the directory of the worktree, whose work is elsewhere, and keeps the branch.
pub(crate) fn remove_directory(env: &Env, worktree: &Worktree) -> Result<(), WorktreeError> {
    Ok(owner(env, worktree)?.remove(&worktree.path)?)
}

/// What `head` has over `base`, as a patch.
pub(crate) fn patch(
    env: &Env,
    dir: &RunDir,
    worktree: &Worktree,
    base: Oid,
    head: Oid,
) -> Result<Vec<u8>, WorktreeError> {
    Ok(owner(env, worktree)?.patch(base, head, &dir.worktree_scratch())?)
}
