//! The branches on which the jobs of a plan work, each from where the jobs before it have come.

use crate::autopilot::coordinate::Coordinator;
use crate::context::WorktreeError;
use crate::model::{Job, Plan, PlanRecord, Worktree, WorktreeEnd};
use crate::reading::{self, Subrun};
use crate::worktrees::{self, BranchPoint, MergedBranches};

impl Coordinator<'_> {
    /// The branch for `job`; `None` if it works in the directory itself. The inner error names the conflicts because
    /// of which it can never start.
    pub(super) fn branch_point(
        &self,
        job: &Job,
    ) -> Result<Result<Option<BranchPoint>, String>, WorktreeError> {
        let Some(base) = &self.plan.base else { return Ok(Ok(None)) };
        let base = match self.merge(&job.after, None)? {
            Some(MergedBranches { conflicts, .. }) if !conflicts.is_empty() => {
                let conflicts: Vec<String> = conflicts.iter().map(worktrees::Conflict::line).collect();
                return Ok(Err(conflicts.join("; ")));
            }
            Some(merged) => merged.head,
            None if !job.writes() => return Ok(Ok(None)),
            None => base.clone(),
        };
        Ok(Ok(Some(BranchPoint { branch: self.branch(&job.id), base: Some(base) })))
    }

    /// The branch with what all jobs have done, and what could not be merged into it.
    pub(super) fn result_branch(&self) -> (Option<WorktreeEnd>, Vec<String>) {
        let Some(base) = self.plan.base.clone() else { return (None, Vec::new()) };
        let name = self.branch(Plan::RESULT);
        let last = last_jobs(&self.plan);
        match self.merge(&last, Some(&name)) {
            Err(error) => (None, vec![format!("the branches of the jobs could not be merged: {error}")]),
            Ok(None) => (None, Vec::new()),
            Ok(Some(MergedBranches { head, conflicts })) => {
                let subruns = reading::subruns(self.dir, &self.plan);
                let only = heads(&subruns, &last).into_iter().find(|end| end.head == head);
                let branch = only.map_or(name, |end| end.worktree.branch.clone());
                let path = self.context.home.worktrees().join(self.request.task_id.as_str());
                let repository = self.request.project().to_owned();
                let warnings = conflicts.iter().map(|conflict| {
                    format!("{}: it is not part of `{branch}`; merge it by hand", conflict.line())
                });
                let warnings = warnings.collect();
                (Some(WorktreeEnd { worktree: Worktree { branch, base, path, repository }, head }), warnings)
            }
        }
    }

    fn merge(&self, jobs: &[String], name: Option<&str>) -> Result<Option<MergedBranches>, WorktreeError> {
        let subruns = reading::subruns(self.dir, &self.plan);
        worktrees::merge_branches(&self.context.env, self.dir, &heads(&subruns, jobs), name)
    }

    fn branch(&self, job: &str) -> String {
        format!("delegator/{}/{job}", self.request.task_id)
    }
}

/// The jobs that no other job comes after.
fn last_jobs(plan: &PlanRecord) -> Vec<String> {
    let is_last = |id: &String| !plan.jobs.iter().any(|record| record.job.after.contains(id));
    plan.jobs.iter().map(|record| record.job.id.clone()).filter(is_last).collect()
}

/// What `jobs` have changed, in the order of the plan. For one that changed nothing or did not complete, what was
/// there before it.
fn heads<'a>(subruns: &'a [Subrun], jobs: &[String]) -> Vec<&'a WorktreeEnd> {
    let mut all: Vec<&WorktreeEnd> = Vec::new();
    for subrun in subruns.iter().filter(|subrun| jobs.contains(&subrun.job.id)) {
        let found = match subrun.changed_branch() {
            Some(end) => vec![end],
            None => heads(subruns, &subrun.job.after),
        };
        for end in found {
            if !all.iter().any(|known| known.head == end.head) {
                all.push(end);
            }
        }
    }
    all
}
