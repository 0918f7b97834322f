//! Decides what to do next with the jobs of a plan. Pure.

use serde::{Deserialize, Serialize};

use crate::model::{Job, Plan, State, TaskId};

/// A job and the task that it became.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobRecord {
    #[serde(flatten)]
    pub(crate) job: Job,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) task_id: Option<TaskId>,
    pub(crate) status: JobStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobStatus {
    Waiting,
    Submitted,
    Ended(State),
    /// It never started, for this reason.
    Skipped(String),
}

/// The content of `plan.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanRecord {
    pub(crate) version: u32,
    pub(crate) jobs: Vec<JobRecord>,
}

/// What the coordinator does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Submit the job at this index.
    Submit(usize),
    Skip {
        index: usize,
        reason: String,
    },
    /// Wait until a submitted job ends.
    Wait,
    /// Every job has ended or was skipped.
    Finish,
}

impl JobRecord {
    fn is_open(&self) -> bool {
        matches!(self.status, JobStatus::Waiting | JobStatus::Submitted)
    }

    pub(super) fn has_completed(&self) -> bool {
        self.status == JobStatus::Ended(State::Completed)
    }
}

impl PlanRecord {
    pub(super) fn new(plan: Plan) -> Self {
        let record = |job| JobRecord { job, task_id: None, status: JobStatus::Waiting };
        Self { version: 1, jobs: plan.jobs.into_iter().map(record).collect() }
    }

    fn find(&self, id: &str) -> Option<&JobRecord> {
        self.jobs.iter().find(|record| record.job.id == id)
    }

    pub(super) fn next(&self) -> Step {
        for (index, record) in self.jobs.iter().enumerate() {
            if record.status != JobStatus::Waiting {
                continue;
            }
            let mut after = record.job.after.iter().filter_map(|id| self.find(id)).peekable();
            if let Some(failed) = after.clone().find(|before| !before.is_open() && !before.has_completed()) {
                let reason = format!("job `{}` did not complete", failed.job.id);
                return Step::Skip { index, reason };
            }
            if after.peek().is_none() || after.all(JobRecord::has_completed) {
                return Step::Submit(index);
            }
        }
        if self.jobs.iter().any(JobRecord::is_open) { Step::Wait } else { Step::Finish }
    }

    /// One line: how many jobs completed, and which did not.
    pub(super) fn summary(&self) -> String {
        let completed = self.jobs.iter().filter(|record| record.has_completed()).count();
        let others: Vec<String> = self.jobs.iter().filter_map(JobRecord::shortfall).collect();
        let count = format!("{completed} of {} jobs completed", self.jobs.len());
        if others.is_empty() { count } else { format!("{count}; {}", others.join(", ")) }
    }
}

impl JobRecord {
    fn shortfall(&self) -> Option<String> {
        let id = &self.job.id;
        match &self.status {
            JobStatus::Ended(State::Completed) => None,
            JobStatus::Ended(state) => Some(format!("`{id}` {}", state.as_str())),
            JobStatus::Skipped(_) => Some(format!("`{id}` skipped")),
            JobStatus::Waiting | JobStatus::Submitted => Some(format!("`{id}` not finished")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jobs as `id<before,before=status`.
    fn plan(jobs: &[&str]) -> PlanRecord {
        let record = |text: &&str| {
            let (head, status) = text.split_once('=').unwrap_or((text, ""));
            let (id, after) = head.split_once('<').unwrap_or((head, ""));
            let after = after.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect();
            let job =
                Job { id: id.into(), task: "true".into(), agent: crate::model::AgentName::Command, after };
            let status = match status {
                "" => JobStatus::Waiting,
                "run" => JobStatus::Submitted,
                "ok" => JobStatus::Ended(State::Completed),
                "bad" => JobStatus::Ended(State::Failed),
                _ => JobStatus::Skipped("why".into()),
            };
            JobRecord { job, task_id: None, status }
        };
        PlanRecord { version: 1, jobs: jobs.iter().map(record).collect() }
    }

    #[track_caller]
    fn check(jobs: &[&str], expected: Step) {
        assert_eq!(plan(jobs).next(), expected, "{jobs:?}");
    }

    #[test]
    fn a_job_starts_when_all_before_it_have_completed() {
        check(&["a", "b"], Step::Submit(0));
        check(&["a=run", "b"], Step::Submit(1));
        check(&["a=run", "b<a"], Step::Wait);
        check(&["a=ok", "b=run", "c<a,b"], Step::Wait);
        check(&["a=ok", "b=ok", "c<a,b"], Step::Submit(2));
        check(&["a=ok", "b=ok"], Step::Finish);
    }

    #[test]
    fn a_job_is_skipped_when_one_before_it_failed() {
        let skip = |index| Step::Skip { index, reason: "job `a` did not complete".into() };
        check(&["a=bad", "b=run", "c<a,b"], skip(2));
        check(&["a=skip", "b<a"], skip(1));
        check(&["a=bad", "b<a=skip", "c=run"], Step::Wait);
    }

    #[test]
    fn the_summary_names_what_did_not_complete() {
        let told = plan(&["a=ok", "b=bad", "c<b=skip"]).summary();
        assert_eq!(told, "1 of 3 jobs completed; `b` failed, `c` skipped");
    }
}
