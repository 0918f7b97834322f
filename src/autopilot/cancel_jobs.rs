//! Ends the jobs of a plan whose coordinator is stopped.

use std::time::Duration;

use crate::autopilot::coordinate::{Coordinator, LOOK};
use crate::execution::ask_to_cancel;
use crate::execution::attached;
use crate::execution::control::Listener;
use crate::host::clock;
use crate::model::JobStatus;
use crate::tasks;

/// How long cancelled jobs may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

impl Coordinator<'_> {
    /// Notices jobs whose submitter died before it could record their tasks.
    fn find_unrecorded(&mut self) {
        for index in 0..self.plan.jobs.len() {
            let waiting = self.plan.jobs.get(index).filter(|record| record.status == JobStatus::Waiting);
            // If the registry cannot be read, no job can be cancelled either.
            let found = waiting.and_then(|record| self.find_job(&record.job).ok().flatten());
            if let Some(task) = found
                && self.record(index, task).is_ok()
                && let Some(record) = self.plan.jobs.get_mut(index)
            {
                record.status = JobStatus::Submitted;
            }
        }
    }

    /// Ends all jobs. One that does not end in time goes on to end without us.
    pub(super) fn cancel_jobs(&mut self, listener: &mut Listener) {
        self.find_unrecorded();
        let reason = self.request.job_cancel_reason();
        let give_up = clock::monotonic() + PATIENCE;
        for (_, task) in self.submitted() {
            // A job that cannot be asked now is asked again below.
            if let Ok(Some(row)) = self.context.registry.task(&task) {
                let _ = ask_to_cancel(&mut self.context, &row, Some(&reason));
            }
        }
        loop {
            for (index, task) in self.submitted() {
                let cancelled = tasks::cancel(&mut self.context, task.as_str(), Some(&reason));
                if let Ok(job) = cancelled
                    && !job.still_ending
                {
                    // It may have ended by itself.
                    let _ = self.set(index, JobStatus::Ended(job.view.state()));
                }
            }
            if self.submitted().is_empty() || clock::monotonic() >= give_up {
                break;
            }
            // We are stopping already.
            let _ = attached::sleep(listener, self.request, self.started, LOOK);
            let _ = self.observe();
        }
        let _ = self.write();
    }
}
