//! Commits everything that a run left in its worktree to the worktree's branch, whatever its agent did there.

use std::path::Path;

use crate::context::WorktreeError;
use crate::git::{NewCommit, Oid, Repository, TreeBefore, Unkept, WorktreeOwner};
use crate::host::{Env, clock, files};
use crate::model::{Request, Worktree, WorktreeEnd};
use crate::runs::RunDir;
use crate::text::plain;
use crate::worktrees::create::some;
use crate::worktrees::discard_unused;
use crate::worktrees::owner::{oid, owner};

/// The longest first line of a commit message.
const SUBJECT: usize = 72;

/// The work of a run on its branch.
#[derive(Debug)]
pub(crate) struct Committed {
    /// The last commit of the branch.
    pub(crate) head: Oid,
    /// What a person should know of it.
    pub(crate) notes: Vec<String>,
    /// The repositories inside the worktree, which are not committed and would be lost with it.
    pub(crate) nested: Vec<Vec<u8>>,
}

/// Commits what the run left.
pub(crate) fn commit(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    worktree: &Worktree,
) -> Result<Committed, WorktreeError> {
    let owner = owner(env, worktree)?;
    let gone = || WorktreeError::NoBranch(worktree.branch.clone());
    let head = owner.branch_head(&worktree.branch);
    if !worktree.path.is_dir() {
        let note = format!(
            "the worktree `{}` was deleted; only what had been committed is on `{}`",
            worktree.path.display(),
            worktree.branch
        );
        return Ok(Committed { head: head.ok_or_else(gone)?, notes: vec![note], nested: Vec::new() });
    }
    let linked = owner.linked(&worktree.path);
    let linked = linked.ok_or_else(|| WorktreeError::Forgotten(worktree.path.clone()))?;
    Committer { owner: &owner, worktree, request, scratch: &dir.worktree_scratch(), ours: dir.home() }
        .commit(&linked, head)
}

struct Committer<'a> {
    owner: &'a WorktreeOwner,
    worktree: &'a Worktree,
    request: &'a Request,
    scratch: &'a Path,
    ours: &'a Path,
}

impl Committer<'_> {
    fn commit(&self, linked: &Repository, old: Option<Oid>) -> Result<Committed, WorktreeError> {
        let (owner, until) = (self.owner, self.owner.until);
        let branch = &self.worktree.branch;
        let at = linked.head();
        let tree = TreeBefore::take_of(linked.clone(), self.scratch, self.ours, &owner.installed, until)?;
        let whole = tree.whole_tree(Unkept::Stored, until)?.tree;
        let start = old.or(at.commit).map_or_else(|| oid(&self.worktree.base), Ok)?;
        // The agent may have committed elsewhere; nothing of that is lost.
        let parents = match at.commit {
            Some(commit) if !tree.is_ancestor(commit, start, until) => {
                if tree.is_ancestor(start, commit, until) { vec![commit] } else { vec![start, commit] }
            }
            Some(_) | None => vec![start],
        };
        let new = match parents[..] {
            [parent] if tree.tree_of(parent, until)? == whole => parent,
            _ => {
                let message = self.message();
                let at = clock::now().as_millis().div_euclid(1000);
                let new = NewCommit { tree: whole, parents: &parents, message: &message, at };
                let new = tree.commit(&new, until)?;
                let packs = tree.git().file("packed");
                files::create_dir(&packs)?;
                tree.pack(new, &parents, &packs, until)?;
                owner.add_packs(&packs)?;
                new
            }
        };
        if old != Some(new) {
            owner.set_branch(branch, new, old)?;
        }
        let mut notes = Vec::new();
        let nested = tree.nested_repositories(oid(&self.worktree.base)?, whole, until)?;
        let nested: Vec<Vec<u8>> = nested.into_iter().collect();
        if !nested.is_empty() {
            notes.push(format!(
                "these directories are repositories of their own and are not committed, so `{}` is kept until \
                 `delegator discard`: {}",
                self.worktree.path.display(),
                some(&nested)
            ));
        }
        if at.branch.as_ref() != Some(branch) {
            let name = at.branch.map_or_else(|| "a detached HEAD".to_owned(), |other| format!("`{other}`"));
            let commit = at.commit.map_or_else(|| "no commit".to_owned(), |commit| commit.to_string());
            notes.push(format!(
                "the agent left {name} checked out, at {commit}; what was there is committed to `{branch}`"
            ));
            owner.return_to_branch(linked, branch)?;
        }
        if old.is_none() {
            notes.push(format!("the agent had deleted the branch `{branch}`; it was made again"));
        }
        // A worktree whose index is behind its branch would show everything as changed back.
        tree.show_all_added(linked, until)?;
        Ok(Committed { head: new, notes, nested })
    }

    fn message(&self) -> String {
        let Request { task, task_id, run_id, .. } = self.request;
        format!("{}\n\nTask: {task_id}\nRun: {run_id}\n", plain::line(task, SUBJECT))
    }
}

/// Commits what the run left, and removes the worktree and its branch if the run changed nothing. Trouble is told and
/// costs nothing: the files stay where they are.
pub(crate) fn finish(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    worktree: &Worktree,
) -> (Option<WorktreeEnd>, Vec<String>) {
    match commit(env, dir, request, worktree) {
        Ok(Committed { head, mut notes, nested }) => {
            let end = WorktreeEnd { worktree: worktree.clone(), head: head.to_string() };
            if !end.is_changed() && nested.is_empty() {
                let removed = discard_unused(env, worktree);
                notes.extend(removed.err().map(|error| format!("the unchanged worktree stays: {error}")));
            }
            (Some(end), notes)
        }
        Err(error) => {
            let path = worktree.path.display();
            (None, vec![format!("failed to commit the work of the run, which is still in `{path}`: {error}")])
        }
    }
}
