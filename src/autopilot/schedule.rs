//! Decides what to do next with the jobs of a plan. Pure.

use crate::model::{JobRecord, JobStatus, PlanRecord, State};

/// How many jobs may run at the same time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) parallel: usize,
    /// Jobs that write share a directory, so they run one at a time.
    pub(super) one_writer: bool,
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

impl PlanRecord {
    fn find(&self, id: &str) -> Option<&JobRecord> {
        self.jobs.iter().find(|record| record.job.id == id)
    }

    pub(super) fn next(&self, bounds: Bounds) -> Step {
        let running: Vec<&JobRecord> =
            self.jobs.iter().filter(|record| record.status == JobStatus::Submitted).collect();
        let is_full = running.len() >= bounds.parallel;
        let has_writer = bounds.one_writer && running.iter().any(|record| record.job.writes());
        for (index, record) in self.jobs.iter().enumerate() {
            if record.status != JobStatus::Waiting {
                continue;
            }
            let mut after = record.job.after.iter().filter_map(|id| self.find(id)).peekable();
            if let Some(failed) = after.clone().find(|before| !before.is_open() && !before.has_completed()) {
                let reason = format!("job `{}` did not complete", failed.job.id);
                return Step::Skip { index, reason };
            }
            let must_wait = is_full || has_writer && record.job.writes();
            if !must_wait && (after.peek().is_none() || after.all(JobRecord::has_completed)) {
                return Step::Submit(index);
            }
        }
        if self.jobs.iter().any(JobRecord::is_open) { Step::Wait } else { Step::Finish }
    }

    /// One line: how many jobs completed, and which did not.
    pub(super) fn summary(&self) -> String {
        // Once there is a plan, how it was made does not count.
        let planner = usize::from(self.planner().is_some() && self.jobs.len() > 1);
        let jobs = self.jobs.get(planner..).unwrap_or_default();
        let completed = jobs.iter().filter(|record| record.has_completed()).count();
        let others: Vec<String> = jobs.iter().filter_map(JobRecord::shortfall).collect();
        let count = format!("{completed} of {} jobs completed", jobs.len());
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
pub(super) mod tests {
    use super::*;
    use crate::model::{AgentName, Job, Sandbox};

    const WIDE: Bounds = Bounds { parallel: usize::MAX, one_writer: true };

    /// Jobs as `id<before,before=status`. Those in capitals write.
    pub(in crate::autopilot) fn plan(jobs: &[&str]) -> PlanRecord {
        let record = |text: &&str| {
            let (head, status) = text.split_once('=').unwrap_or((text, ""));
            let (id, after) = head.split_once('<').unwrap_or((head, ""));
            let after = after.split(',').filter(|one| !one.is_empty()).map(str::to_owned).collect();
            let sandbox = id.chars().all(char::is_uppercase).then_some(Sandbox::WorkspaceWrite);
            let job = Job {
                id: id.into(),
                title: String::new(),
                task: "true".into(),
                agent: AgentName::Command,
                after,
                sandbox,
                thinking_level: None,
                skills_mode: None,
                max_skills: None,
            };
            let status = match status {
                "" => JobStatus::Waiting,
                "run" => JobStatus::Submitted,
                "ok" => JobStatus::Ended(State::Completed),
                "bad" => JobStatus::Ended(State::Failed),
                _ => JobStatus::Skipped("why".into()),
            };
            JobRecord { status, ..JobRecord::new(job) }
        };
        PlanRecord { jobs: jobs.iter().map(record).collect(), ..PlanRecord::new(None, Vec::new()) }
    }

    #[track_caller]
    fn check(jobs: &[&str], expected: Step) {
        assert_eq!(plan(jobs).next(WIDE), expected, "{jobs:?}");
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
    fn no_more_jobs_run_than_allowed_and_one_writes_at_a_time() {
        let two = Bounds { parallel: 2, ..WIDE };
        assert_eq!(plan(&["a=run", "b=run", "c"]).next(two), Step::Wait);
        assert_eq!(plan(&["a=ok", "b=run", "c"]).next(two), Step::Submit(2));
        check(&["A=run", "B", "c"], Step::Submit(2));
        check(&["A=run", "B"], Step::Wait);
        check(&["A=ok", "B"], Step::Submit(1));
        let apart = Bounds { one_writer: false, ..WIDE };
        assert_eq!(plan(&["A=run", "B"]).next(apart), Step::Submit(1));
    }

    #[test]
    fn the_summary_names_what_did_not_complete() {
        let told = plan(&["a=ok", "b=bad", "c<b=skip"]).summary();
        assert_eq!(told, "1 of 3 jobs completed; `b` failed, `c` skipped");
    }
}
