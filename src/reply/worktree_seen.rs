//! The worktree of a run, as replies show it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Voice;
use crate::reading::View;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WorktreeSeen {
    /// The branch with the work of the run.
    pub(super) branch: String,
    /// The commit that the branch started from.
    base: String,
    /// The last commit of the branch; absent while the run works, and if it could not be committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    /// The directory of the worktree until it is applied or discarded; absent if the run changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    /// What brings the changes into the checkout; absent if there is nothing to bring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) apply: Option<String>,
}

impl WorktreeSeen {
    pub(crate) fn of(view: &View, voice: Voice) -> Option<Self> {
        let end = view.result.as_ref().and_then(|result| result.worktree.as_ref());
        let of_request = || view.request.as_ref()?.worktree.as_ref();
        let worktree = end.map(|end| &end.worktree).or_else(of_request)?;
        let has_changes = view.state().is_final() && end.is_none_or(|end| end.is_changed());
        let id = &view.row.id;
        Some(Self {
            branch: worktree.branch.clone(),
            base: worktree.base.clone(),
            commit: end.map(|end| end.head.clone()),
            path: end.is_none_or(|end| end.is_changed()).then(|| worktree.path.clone()),
            apply: has_changes.then(|| match voice {
                Voice::Shell => format!("delegator apply {id}"),
                Voice::Tools => format!("delegate_apply {{\"task_id\": \"{id}\"}}"),
            }),
        })
    }
}
