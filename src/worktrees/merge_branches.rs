//! Merges the branches of several runs into one commit, without a working tree.

use std::path::Path;

use crate::context::WorktreeError;
use crate::git::{Merged, NewCommit, Oid, TreeBefore};
use crate::host::{Env, clock, files};
use crate::model::WorktreeEnd;
use crate::runs::RunDir;
use crate::worktrees::owner::{oid, owner};

/// Several branches as one commit.
#[derive(Debug)]
pub(crate) struct MergedBranches {
    pub(crate) head: String,
    /// The branches that conflict with those before them, which are not part of it.
    pub(crate) conflicts: Vec<Conflict>,
}

#[derive(Debug)]
pub(crate) struct Conflict {
    pub(crate) branch: String,
    pub(crate) files: Vec<String>,
}

impl Conflict {
    /// `` the branch `x` conflicts in a.txt, b.txt``.
    pub(crate) fn line(&self) -> String {
        format!("the branch `{}` conflicts in {}", self.branch, self.files.join(", "))
    }
}

/// Merges the branches in their order. If `name` is given, the result becomes that branch.
pub(crate) fn merge_branches(
    env: &Env,
    dir: &RunDir,
    ends: &[&WorktreeEnd],
    name: Option<&str>,
) -> Result<Option<MergedBranches>, WorktreeError> {
    let Some((first, others)) = ends.split_first() else { return Ok(None) };
    let mut merged = MergedBranches { head: first.head.clone(), conflicts: Vec::new() };
    if others.is_empty() {
        return Ok(Some(merged));
    }
    let owner = owner(env, &first.worktree)?;
    let until = owner.until;
    let scratch = dir.worktree_scratch();
    let tree = TreeBefore::take_of(owner.repository.clone(), &scratch, dir.home(), &owner.installed, until)?;
    let mut head = oid(&first.head)?;
    for end in others {
        let other = oid(&end.head)?;
        if tree.is_ancestor(other, head, until) {
            continue;
        }
        let branch = &end.worktree.branch;
        match tree.merge(tree.merge_base(head, other, until)?, head, other, until)? {
            Merged::Clean(clean) => head = commit(&tree, &owner, clean, [head, other], branch)?,
            Merged::Conflicts(files) => {
                let files = files.iter().map(|file| String::from_utf8_lossy(file).escape_debug().to_string());
                merged.conflicts.push(Conflict { branch: branch.clone(), files: files.collect() });
            }
        }
    }
    if let Some(name) = name {
        owner.set_branch(name, head, owner.branch_head(name))?;
    }
    merged.head = head.to_string();
    Ok(Some(merged))
}

/// Writes the merge into the user's repository.
fn commit(
    tree: &TreeBefore,
    owner: &crate::git::WorktreeOwner,
    merged: Oid,
    parents: [Oid; 2],
    branch: &str,
) -> Result<Oid, WorktreeError> {
    let message = format!("Merge branch '{branch}'\n");
    let at = clock::now().as_millis().div_euclid(1000);
    let new =
        tree.commit(&NewCommit { tree: merged, parents: &parents, message: &message, at }, owner.until)?;
    let packs = tree.git().file(&format!("packed-{new}"));
    files::create_dir(Path::new(&packs))?;
    tree.pack(new, &parents, &packs, owner.until)?;
    owner.add_packs(&packs)?;
    Ok(new)
}
