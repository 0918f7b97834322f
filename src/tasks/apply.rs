//! Brings what a task changed into the user's checkout, shows it, or throws it away.

use std::path::PathBuf;

use crate::config::Config;
use crate::context::{Context, TaskError, WorktreeError};
use crate::git::Oid;
use crate::model::{PlanRecord, TaskId, Worktree};
use crate::reading::{Subrun, View, find, reaches_into, subruns};
use crate::submit::{Caller, check_apply};
use crate::tasks::view_task;
use crate::worktrees::{self, Applied, ChangeSource, Mode};

/// What became of a task's changes.
#[derive(Debug)]
pub(crate) struct AppliedChanges {
    pub(crate) task_id: TaskId,
    /// The branch with the changes, unless they are a diff.
    pub(crate) branch: Option<String>,
    /// The checkout that they were brought into.
    pub(crate) repository: PathBuf,
    pub(crate) applied: Applied,
    pub(crate) warnings: Vec<String>,
}

/// A worktree and its branch that were removed.
#[derive(Debug)]
pub(crate) struct Discarded {
    pub(crate) task_id: TaskId,
    pub(crate) branch: String,
    /// The last commit of the branch, if that existed. Git keeps it for a while.
    pub(crate) commit: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// Applies the changes of the task, or only tells what that would do.
pub(crate) fn apply(
    context: &mut Context,
    reference: &str,
    caller: &Caller,
    mode: Mode,
) -> Result<AppliedChanges, TaskError> {
    let view = ended(context, reference)?;
    let repository = repository(&view).ok_or(WorktreeError::NoChanges)?;
    // What may be written follows the configuration, so it must be readable.
    context.config = Config::load(&context.env)?;
    check_apply(context, caller, &repository)?;
    let _lock = worktrees::lock(view.dir.home())?;
    if worktrees::is_unfinished(&view.dir) {
        return Err(WorktreeError::Unfinished(view.row.id).into());
    }
    let Changes { source, worktree, mut warnings, nested } = changes(context, &view)?;
    let applied = worktrees::apply(&context.env, &view.dir, &repository, &source, mode)?;
    let is_over = mode == Mode::Write && applied.conflicts.is_empty() && nested.is_empty();
    if let Some(worktree) = worktree.as_ref().filter(|_| is_over) {
        // The branch stays, so what was applied can be undone and applied again.
        let removed = worktrees::remove_directory(&context.env, worktree);
        warnings.extend(removed.err().map(|error| format!("the worktree could not be removed: {error}")));
    }
    let branch = worktree.map(|worktree| worktree.branch);
    Ok(AppliedChanges { task_id: view.row.id, branch, repository, applied, warnings })
}

/// Undoes the last [`apply`] of the task.
pub(crate) fn undo_apply(context: &mut Context, reference: &str) -> Result<AppliedChanges, TaskError> {
    let view = ended(context, reference)?;
    let repository = repository(&view).ok_or(WorktreeError::NothingToUndo)?;
    let _lock = worktrees::lock(view.dir.home())?;
    let applied = worktrees::undo(&view.dir, &repository)?;
    let branch = worktree_of(&view).map(|worktree| worktree.branch);
    Ok(AppliedChanges { task_id: view.row.id, branch, repository, applied, warnings: Vec::new() })
}

/// The changes of the task as a patch.
pub(crate) fn diff(context: &mut Context, reference: &str) -> Result<(TaskId, Vec<u8>), TaskError> {
    let view = ended(context, reference)?;
    let _lock = worktrees::wait_for_lock(view.dir.home())?;
    let changes = changes(context, &view)?;
    let patch = match (&changes.source, &changes.worktree) {
        (ChangeSource::Commits(base, head), Some(worktree)) => {
            worktrees::patch(&context.env, &view.dir, worktree, *base, *head)?
        }
        (ChangeSource::Patch(file), _) => std::fs::read(file).map_err(WorktreeError::from)?,
        (ChangeSource::Commits(..), None) => return Err(WorktreeError::NoChanges.into()),
    };
    Ok((view.row.id, patch))
}

/// Removes the worktree and the branch of the task, and those of its jobs. What was not committed is committed first, so the commit that is
/// told has all of it.
pub(crate) fn discard(context: &mut Context, reference: &str) -> Result<Discarded, TaskError> {
    let view = ended(context, reference)?;
    let _lock = worktrees::wait_for_lock(view.dir.home())?;
    remove(context, view)
}

/// The caller holds the lock of `apply`.
fn remove(context: &mut Context, view: View) -> Result<Discarded, TaskError> {
    let worktree = worktree_of(&view).ok_or(WorktreeError::NoChanges)?;
    no_other_works_in(context, &worktree)?;
    let mut warnings = Vec::new();
    if let Some(request) = view.request.as_ref().filter(|_| worktree.path.is_dir()) {
        let committed = worktrees::commit(&context.env, &view.dir, request, &worktree)?;
        if !committed.nested.is_empty() {
            let named = worktrees::some(&committed.nested);
            return Err(WorktreeError::Nested { path: worktree.path, named }.into());
        }
        warnings = committed.notes;
    }
    let commit = worktrees::head(&context.env, &worktree)?.map(|head| head.to_string());
    for job in jobs(&view) {
        match ended(context, job.as_str()).and_then(|view| remove(context, view)) {
            // The branch of the last job may be that of the whole task.
            Ok(Discarded { branch, commit: Some(commit), .. }) if branch != worktree.branch => {
                warnings.push(format!("also removed {branch}, which was at {commit}"));
            }
            Ok(_) => {}
            Err(error) => warnings
                .push(format!("the work of {job} remains: {error}; `delegator discard {job}` removes it")),
        }
    }
    worktrees::discard_unused(&context.env, &worktree)?;
    Ok(Discarded { task_id: view.row.id, branch: worktree.branch, commit, warnings })
}

/// The jobs of a coordinator's task that changed something in a worktree.
fn jobs(view: &View) -> Vec<TaskId> {
    let plan: Option<PlanRecord> = view.dir.read_state(&view.dir.plan()).ok().flatten();
    let subruns = plan.map(|plan| subruns(&view.dir, &plan)).unwrap_or_default();
    let has_changes = |job: &Subrun| {
        let result = job.result.as_ref();
        result.and_then(|result| result.worktree.as_ref()).is_some_and(|end| end.is_changed())
    };
    subruns.into_iter().filter(has_changes).filter_map(|job| job.task_id).collect()
}

struct Changes {
    source: ChangeSource,
    worktree: Option<Worktree>,
    warnings: Vec<String>,
    /// Repositories inside the worktree, which are not among the changes.
    nested: Vec<Vec<u8>>,
}

/// What the task changed. The caller holds the lock. Commits first what is not committed, as after the death of its supervisor.
fn changes(context: &mut Context, view: &View) -> Result<Changes, TaskError> {
    let (mut warnings, mut nested) = (Vec::new(), Vec::new());
    let Some(worktree) = worktree_of(view) else {
        let patch = Some(view.dir.changes(1)).filter(|file| file.exists());
        let source = ChangeSource::Patch(patch.ok_or(WorktreeError::NoChanges)?);
        return Ok(Changes { source, worktree: None, warnings, nested });
    };
    no_other_works_in(context, &worktree)?;
    let ended_at =
        view.result.as_ref().and_then(|result| result.worktree.as_ref()).map(|end| end.head.clone());
    let mut head = worktrees::head(&context.env, &worktree)?;
    if let Some(request) = view.request.as_ref().filter(|_| worktree.path.is_dir()) {
        let committed = worktrees::commit(&context.env, &view.dir, request, &worktree)?;
        (head, warnings, nested) = (Some(committed.head), committed.notes, committed.nested);
    }
    let base = Oid::from_hex(&worktree.base);
    // A run that changed nothing has no branch any more.
    let head = head.or_else(|| base.filter(|_| ended_at.as_ref() == Some(&worktree.base)));
    let head = head.ok_or_else(|| WorktreeError::NoBranch(worktree.branch.clone()))?;
    let base = base.ok_or_else(|| WorktreeError::NoBase(worktree.base.clone()))?;
    let source = ChangeSource::Commits(base, head);
    Ok(Changes { source, worktree: Some(worktree), warnings, nested })
}

/// Fails if a task that has not ended works in `worktree`, as one does that resumes another.
fn no_other_works_in(context: &mut Context, worktree: &Worktree) -> Result<(), TaskError> {
    let rows = [context.registry.working()?, context.registry.pending(u32::MAX)?].concat();
    for row in rows {
        let view = view_task(context, row)?;
        let place = view.request.as_ref().and_then(|request| request.worktree.as_ref());
        if !view.state().is_final() && place.is_some_and(|other| other.path == worktree.path) {
            return Err(WorktreeError::InUse(view.row.id).into());
        }
    }
    Ok(())
}

/// The checkout that the changes of the task belong to.
fn repository(view: &View) -> Option<PathBuf> {
    worktree_of(view).map(|worktree| worktree.repository).or_else(|| view.request.as_ref()?.git_root.clone())
}

/// The task, which must have ended.
fn ended(context: &mut Context, reference: &str) -> Result<View, TaskError> {
    let row = find(context, reference)?;
    if let Some(project) = reaches_into(context, reference)? {
        return Err(TaskError::OtherProject { reference: reference.to_owned(), project, task: row.id });
    }
    let view = view_task(context, row)?;
    if view.state().is_final() { Ok(view) } else { Err(WorktreeError::Running.into()) }
}

/// A coordinator has one only in its result.
fn worktree_of(view: &View) -> Option<Worktree> {
    let end = view.result.as_ref().and_then(|result| result.worktree.as_ref());
    end.map(|end| end.worktree.clone()).or_else(|| view.request.as_ref()?.worktree.clone())
}
