//! Drives the jobs of a plan to their ends. Runs in the supervisor of the coordinating task.
//!
//! `plan.json` says which task each job became. Each job is submitted under a key of its own, so a new supervisor
//! that goes on from there never starts a job twice.

use std::io::ErrorKind;
use std::time::Duration;

use crate::autopilot::schedule::{JobStatus, PlanRecord, Step};
use crate::context::{Context, TaskError, one_line};
use crate::execution::ask_to_cancel;
use crate::execution::attached;
use crate::execution::control::Listener;
use crate::execution::pump;
use crate::host::{Env, clock};
use crate::model::{
    FailureCode, Fault, Job, Outcome, Plan, PlanStep, Request, RunResult, State, StopReason, TaskId,
};
use crate::registry::RegistryError;
use crate::runs::{ReadError, RunDir, StartRecord};
use crate::submit::{Caller, ParentTask, StartRequest, start};
use crate::tasks;

/// How often to look at the jobs if nobody reports that one has ended.
const LOOK: Duration = Duration::from_millis(500);
/// How long cancelled jobs may take to end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Coordinates the run in `dir`.
pub(crate) fn coordinate(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    started: &StartRecord,
    listener: &mut Listener,
) -> Result<RunResult, Fault> {
    let (outcome, summary) = Coordinator::open(env, dir, request, started)?.run(listener);
    Ok(attached::end(dir, request, started, outcome, summary))
}

struct Coordinator<'a> {
    context: Context,
    dir: &'a RunDir,
    request: &'a Request,
    started: &'a StartRecord,
    plan: PlanRecord,
    /// `plan.json` does not have all of `plan` yet.
    is_dirty: bool,
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
        // Cancelling needs no configuration.
        let open = if dir.cancel().exists() { Context::open_to_look } else { Context::open };
        let mut context = open(env.with(values)).map_err(|error| storage(&error))?;
        context.place.clone_from(&request.cwd);
        let plan = match dir.read_state(&dir.plan()) {
            Ok(Some(plan)) => plan,
            // The jobs that were submitted are found again by their keys.
            Ok(None) | Err(ReadError::Damaged { .. }) => {
                let plan = Plan::parse(&request.task);
                PlanRecord::new(plan.map_err(|bad| Fault::new(FailureCode::ToolError, bad.to_string()))?)
            }
            Err(error) => return Err(storage(&error)),
        };
        Ok(Self { context, dir, request, started, plan, is_dirty: false })
    }

    /// Returns how it ended, and the summary.
    fn run(&mut self, listener: &mut Listener) -> (Outcome, String) {
        let outcome = match self.drive(listener) {
            Ok(()) if self.plan.jobs.iter().all(|record| record.has_completed()) => Outcome::Completed,
            Ok(()) => Outcome::Failed { fault: Fault::new(FailureCode::ToolError, self.plan.summary()) },
            Err(reason) => {
                self.cancel_jobs(listener);
                attached::stopped(reason, self.started)
            }
        };
        (outcome, self.plan.summary())
    }

    fn drive(&mut self, listener: &mut Listener) -> Result<(), StopReason> {
        loop {
            // An order to stop must not wait until all jobs are submitted.
            attached::sleep(listener, self.request, self.started, Duration::ZERO)?;
            match self.advance() {
                Ok(Step::Finish) => return Ok(()),
                Ok(Step::Submit(_) | Step::Skip { .. }) => {}
                Ok(Step::Wait) => attached::sleep(listener, self.request, self.started, LOOK)?,
                Err(error) if is_temporary(&error) => {
                    attached::sleep(listener, self.request, self.started, LOOK)?;
                }
                Err(error) => return Err(stop(error)),
            }
        }
    }

    /// Takes the next step and returns it.
    fn advance(&mut self) -> Result<Step, TaskError> {
        self.write()?;
        self.observe()?;
        let step = self.plan.next();
        match &step {
            Step::Submit(index) => self.submit(*index)?,
            Step::Skip { index, reason } => {
                self.note(*index, &format!("skipped: {reason}"));
                self.set(*index, JobStatus::Skipped(reason.clone()))?;
            }
            Step::Wait | Step::Finish => {}
        }
        Ok(step)
    }

    /// Notices jobs that have ended, and starts queued tasks if nobody else does.
    fn observe(&mut self) -> Result<(), TaskError> {
        let working = pump::working(&self.context)?;
        if pump::is_due(&mut self.context, &working)? {
            // Trouble with other tasks does not concern the plan.
            let _ = self.context.unless_busy(pump);
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
        let task = match self.find_job(&record.job)? {
            Some(task) => Ok(task),
            None => {
                let ask = self.start_request(&record.job);
                start(&mut self.context, ask).map(|accepted| accepted.task_id)
            }
        };
        match task {
            Ok(task) => {
                self.note(index, &format!("is {task}"));
                if let Some(record) = self.plan.jobs.get_mut(index) {
                    record.task_id = Some(task);
                }
                self.set(index, JobStatus::Submitted)
            }
            Err(error) if matches!(error, TaskError::Registry(_)) || is_temporary(&error) => Err(error),
            Err(error) => {
                let reason = one_line(&error);
                self.note(index, &format!("could not be started: {reason}"));
                self.set(index, JobStatus::Skipped(reason))
            }
        }
    }

    fn start_request(&self, job: &Job) -> StartRequest {
        let request = self.request;
        let takes_prompt = job.agent.abilities().takes_prompt();
        StartRequest {
            caller: Caller::of(request),
            agent: Some(job.agent),
            task: job.task.clone(),
            cwd: Some(request.cwd.clone()),
            sandbox: takes_prompt.then_some(request.sandbox),
            skip_git_repo_check: request.skip_git_repo_check,
            idempotency_key: Some(request.job_key(job)),
            env_from: request.env_from.clone(),
            job_of: Some(ParentTask { task_id: request.task_id.clone(), within: request.within.clone() }),
            ..StartRequest::default()
        }
    }

    /// The task of a job that was submitted before, perhaps by a coordinator that died before it could record the
    /// task. Submitting it again could fail: a default may have changed.
    fn find_job(&self, job: &Job) -> Result<Option<TaskId>, TaskError> {
        let found = self.context.registry.find_by_key(self.request.project(), &self.request.job_key(job))?;
        Ok(found.map(|row| row.id))
    }

    fn set(&mut self, index: usize, status: JobStatus) -> Result<(), TaskError> {
        if let Some(record) = self.plan.jobs.get_mut(index) {
            record.status = status;
        }
        self.is_dirty = true;
        self.write()
    }

    /// Writes `plan.json` if it is out of date.
    fn write(&mut self) -> Result<(), TaskError> {
        if !self.is_dirty {
            return Ok(());
        }
        self.dir.write_state(&self.dir.plan(), &self.plan).map_err(TaskError::write(self.dir.plan()))?;
        self.is_dirty = false;
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

    /// Notices jobs whose submitter died before it could record their tasks.
    fn find_unrecorded(&mut self) {
        for index in 0..self.plan.jobs.len() {
            let waiting = self.plan.jobs.get(index).filter(|record| record.status == JobStatus::Waiting);
            // If the registry cannot be read, no job can be cancelled either.
            let found = waiting.and_then(|record| self.find_job(&record.job).ok().flatten());
            if let (Some(task), Some(record)) = (found, self.plan.jobs.get_mut(index)) {
                record.task_id = Some(task);
                record.status = JobStatus::Submitted;
            }
        }
    }

    /// Ends all jobs. One that does not end in time goes on to end without us.
    fn cancel_jobs(&mut self, listener: &mut Listener) {
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

/// Whether the same may succeed later: another process has the registry locked, or the disk is full.
fn is_temporary(error: &TaskError) -> bool {
    let is_full = |kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
    matches!(
        error,
        TaskError::Registry(RegistryError::Busy(_) | RegistryError::Full(_)) | TaskError::DiskFull { .. }
    ) || matches!(error, TaskError::Write { source, .. } if is_full(source.kind()))
}

fn stop(error: TaskError) -> StopReason {
    StopReason::Fault(Fault::new(FailureCode::Internal, one_line(&error)))
}
