//! Drives the jobs of a plan to their ends. Runs in the supervisor of the coordinating task.
//!
//! `plan.json` says which task each job became. Each job is submitted under a key of its own, so a new supervisor
//! that goes on from there never starts a job twice.

use std::time::Duration;

use crate::autopilot::schedule::{JobStatus, PlanRecord, Step};
use crate::context::{Context, TaskError, one_line};
use crate::execution::attached;
use crate::execution::control::Listener;
use crate::execution::pump;
use crate::host::{Env, clock};
use crate::model::{
    FailureCode, Fault, Job, Outcome, Plan, PlanStep, Request, RunResult, State, StopReason, TaskId,
};
use crate::runs::{RunDir, StartRecord};
use crate::submit::{ParentTask, StartRequest, start};
use crate::tasks;

/// How often to look at the jobs if nobody reports that one has ended.
const LOOK: Duration = Duration::from_millis(500);
/// How long cancelled jobs may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Coordinates the run in `dir`. Always a record.
pub(crate) fn coordinate(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    started: &StartRecord,
    listener: &mut Listener,
) -> RunResult {
    let (outcome, summary) = match Coordinator::open(env, dir, request, started) {
        Ok(mut coordinator) => coordinator.run(listener),
        Err(fault) => (Outcome::Failed { fault }, String::new()),
    };
    attached::end(dir, request, started, outcome, summary)
}

struct Coordinator<'a> {
    context: Context,
    dir: &'a RunDir,
    request: &'a Request,
    started: &'a StartRecord,
    plan: PlanRecord,
}

impl<'a> Coordinator<'a> {
    fn open(
        env: &Env,
        dir: &'a RunDir,
        request: &'a Request,
        started: &'a StartRecord,
    ) -> Result<Self, Fault> {
        let storage = |error: &dyn std::error::Error| Fault::new(FailureCode::Storage, one_line(error));
        let values = dir.read_env().map_err(|error| storage(&error))?.unwrap_or_default();
        let mut context = Context::open(env.with(values)).map_err(|error| storage(&error))?;
        context.place.clone_from(&request.cwd);
        let plan = match dir.read_state(&dir.plan()).map_err(|error| storage(&error))? {
            Some(plan) => plan,
            None => {
                let plan = Plan::parse(&request.task);
                PlanRecord::new(plan.map_err(|bad| Fault::new(FailureCode::ToolError, bad.to_string()))?)
            }
        };
        Ok(Self { context, dir, request, started, plan })
    }

    /// Returns how it ended, and the summary.
    fn run(&mut self, listener: &mut Listener) -> (Outcome, String) {
        let outcome = match self.drive(listener) {
            Ok(()) if self.plan.jobs.iter().all(|record| record.has_completed()) => Outcome::Completed,
            Ok(()) => Outcome::Failed { fault: Fault::new(FailureCode::ToolError, self.plan.summary()) },
            Err(reason) => {
                self.cancel_jobs();
                attached::stopped(reason, self.started)
            }
        };
        (outcome, self.plan.summary())
    }

    fn drive(&mut self, listener: &mut Listener) -> Result<(), StopReason> {
        loop {
            // An order to stop must not wait until all jobs are submitted.
            attached::sleep(listener, self.request, self.started, Duration::ZERO)?;
            self.observe().map_err(stop)?;
            match self.plan.next() {
                Step::Finish => return Ok(()),
                Step::Submit(index) => self.submit(index).map_err(stop)?,
                Step::Skip { index, reason } => {
                    self.note(index, &format!("skipped: {reason}"));
                    self.set(index, JobStatus::Skipped(reason)).map_err(stop)?;
                }
                Step::Wait => attached::sleep(listener, self.request, self.started, LOOK)?,
            }
        }
    }

    /// Notices jobs that have ended, and starts queued tasks if nobody else does.
    fn observe(&mut self) -> Result<(), TaskError> {
        let working = pump::working(&self.context)?;
        if pump::is_due(&mut self.context, &working)? {
            self.context.unless_busy(pump)?;
        }
        for (index, task) in self.submitted() {
            let Some(row) = self.context.registry.task(&task)? else {
                self.note(index, "its task is gone");
                self.set(index, JobStatus::Ended(State::Failed))?;
                continue;
            };
            let state = tasks::view_task(&mut self.context, row)?.state();
            if state.is_final() {
                self.note(index, state.as_str());
                self.set(index, JobStatus::Ended(state))?;
            }
        }
        Ok(())
    }

    fn submitted(&self) -> Vec<(usize, TaskId)> {
        let jobs = self.plan.jobs.iter().enumerate();
        let open = jobs.filter(|(_, record)| record.status == JobStatus::Submitted);
        open.filter_map(|(index, record)| Some((index, record.task_id.clone()?))).collect()
    }

    fn submit(&mut self, index: usize) -> Result<(), TaskError> {
        let Some(record) = self.plan.jobs.get(index) else { return Ok(()) };
        let request = self.request;
        let takes_prompt = record.job.agent.abilities().takes_prompt();
        let ask = StartRequest {
            agent: Some(record.job.agent),
            task: record.job.task.clone(),
            cwd: Some(request.cwd.clone()),
            sandbox: takes_prompt.then_some(request.sandbox),
            skip_git_repo_check: request.skip_git_repo_check,
            idempotency_key: Some(key(request, &record.job)),
            env_from: request.env_from.clone(),
            job_of: Some(ParentTask { task_id: request.task_id.clone(), within: request.within.clone() }),
            ..StartRequest::default()
        };
        match start(&mut self.context, ask) {
            Ok(accepted) => {
                self.note(index, &format!("is {}", accepted.task_id));
                if let Some(record) = self.plan.jobs.get_mut(index) {
                    record.task_id = Some(accepted.task_id);
                }
                self.set(index, JobStatus::Submitted)
            }
            // Another process has the registry locked, or the disk is full: try again later.
            Err(error @ (TaskError::Registry(_) | TaskError::DiskFull { .. })) => Err(error),
            Err(error) => {
                let reason = one_line(&error);
                self.note(index, &format!("could not be started: {reason}"));
                self.set(index, JobStatus::Skipped(reason))
            }
        }
    }

    fn set(&mut self, index: usize, status: JobStatus) -> Result<(), TaskError> {
        if let Some(record) = self.plan.jobs.get_mut(index) {
            record.status = status;
        }
        self.dir.write_state(&self.dir.plan(), &self.plan).map_err(TaskError::write(self.dir.plan()))?;
        let is_over = |status: &JobStatus| !matches!(status, JobStatus::Waiting | JobStatus::Submitted);
        let step = |record: &super::schedule::JobRecord| PlanStep {
            text: record.job.id.clone(),
            done: is_over(&record.status),
        };
        attached::write_progress(self.dir, &self.plan.summary(), self.plan.jobs.iter().map(step).collect());
        Ok(())
    }

    fn note(&self, index: usize, what: &str) {
        if let Some(record) = self.plan.jobs.get(index) {
            attached::note(self.dir, &format!("job `{}`: {what}", record.job.id));
        }
    }

    /// Notices a job whose submitter died before it could record its task.
    fn find_unrecorded(&mut self) {
        for record in self.plan.jobs.iter_mut().filter(|record| record.status == JobStatus::Waiting) {
            // If the registry cannot be read, no job can be cancelled either.
            let key = key(self.request, &record.job);
            let found = self.context.registry.find_by_key(self.request.project(), &key);
            if let Ok(Some(row)) = found {
                record.task_id = Some(row.id);
                record.status = JobStatus::Submitted;
            }
        }
    }

    /// Ends all jobs. One that does not end in time goes on to end without us.
    fn cancel_jobs(&mut self) {
        self.find_unrecorded();
        let reason = format!("{}, which it is a job of, has ended", self.request.task_id);
        let give_up = clock::monotonic() + PATIENCE;
        for (_, task) in self.submitted() {
            // A job that cannot be asked now is asked again below.
            let _ = tasks::ask_to_cancel(&mut self.context, &task, Some(&reason));
        }
        while !self.submitted().is_empty() && clock::monotonic() < give_up {
            for (index, task) in self.submitted() {
                if tasks::cancel(&mut self.context, task.as_str(), Some(&reason))
                    .is_ok_and(|end| !end.still_ending)
                {
                    let _ = self.set(index, JobStatus::Ended(State::Cancelled));
                }
            }
            let _ = self.observe();
        }
    }
}

/// A job is submitted under this key, however often.
fn key(request: &Request, job: &Job) -> String {
    format!("{}:{}", request.task_id, job.id)
}

fn stop(error: TaskError) -> StopReason {
    StopReason::Fault(Fault::new(FailureCode::Internal, one_line(&error)))
}
