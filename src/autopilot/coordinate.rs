//! Drives the jobs of a plan to their ends. Runs in the supervisor of the coordinating task.
//!
//! `plan.json` says which task each job became. Each job is submitted under a key of its own, so a new supervisor
//! that goes on from there never starts a job twice.

use std::time::Duration;

use serde_json::json;

use crate::autopilot::aggregate::{aggregate, headline};
use crate::autopilot::job_request::job_request;
use crate::autopilot::schedule::{Bounds, Step};
use crate::autopilot::{decide, planner};
use crate::context::{Context, TaskError, one_line};
use crate::execution::attached;
use crate::execution::control::Listener;
use crate::execution::pump;
use crate::host::{Env, files};
use crate::model::{
    Answer, EarlierResult, FailureCode, Fault, Job, JobRecord, JobStatus, Outcome, Plan, PlanRecord,
    PlanStep, Planner, Request, RunResult, State, StopReason, TaskId,
};
use crate::reading::{self, Subrun};
use crate::registry::RegistryError;
use crate::runs::{ReadError, RunDir, StartRecord};
use crate::submit::start;
use crate::tasks;
use crate::text;
use crate::worktrees;

/// How often to look at the jobs if nobody reports that one has ended.
pub(super) const LOOK: Duration = Duration::from_millis(500);
/// The longest report of a job that those after it get.
const LONGEST_REPORT: usize = 8_000;

/// Coordinates the run in `dir`.
pub(crate) fn coordinate(
    env: &Env,
    dir: &RunDir,
    request: &Request,
    started: &StartRecord,
    listener: &mut Listener,
) -> Result<RunResult, Fault> {
    let mut coordinator = Coordinator::open(env, dir, request, started)?;
    let (outcome, answer) = coordinator.run(listener);
    let (worktree, warnings) = coordinator.result_branch();
    let ended = attached::end(dir, request, started, outcome, answer.summary.clone());
    Ok(RunResult { answer: Some(answer), worktree, warnings, ..ended })
}

pub(super) struct Coordinator<'a> {
    pub(super) context: Context,
    pub(super) dir: &'a RunDir,
    pub(super) request: &'a Request,
    pub(super) started: &'a StartRecord,
    pub(super) plan: PlanRecord,
    /// `plan.json` does not have all of `plan` yet.
    is_dirty: bool,
    /// Why the planner's plan cannot be used.
    bad_plan: Option<Fault>,
    /// What `progress.json` says.
    told: Option<(String, Vec<PlanStep>)>,
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
                PlanRecord { base: base(&context, request), ..first_plan(request)? }
            }
            Err(error) => return Err(storage(&error)),
        };
        let is_dirty = request.autopilot.is_some();
        Ok(Self { context, dir, request, started, plan, is_dirty, bad_plan: None, told: None })
    }

    /// Returns how it ended, and what the jobs reported.
    fn run(&mut self, listener: &mut Listener) -> (Outcome, Answer) {
        let outcome = match self.drive(listener) {
            Ok(()) => match self.bad_plan.take() {
                Some(fault) => Outcome::Failed { fault },
                None if self.is_plan_only() || self.plan.jobs.iter().all(JobRecord::has_completed) => {
                    Outcome::Completed
                }
                None => {
                    let fault = Fault::new(FailureCode::ToolError, headline(&self.plan));
                    Outcome::Failed { fault }
                }
            },
            Err(reason) => {
                self.cancel_jobs(listener);
                attached::stopped(reason, self.started)
            }
        };
        let subruns = reading::subruns(self.dir, &self.plan);
        let answers: Vec<Option<Answer>> = subruns.into_iter().map(Subrun::into_answer).collect();
        let mut answer = aggregate(&self.plan, &answers);
        if self.is_plan_only() {
            answer.summary = format!("planned {} jobs and started none", self.plan.planned().count());
        }
        if self.request.autopilot.is_some() {
            // The result has it too.
            let _ = self.dir.write_state(&self.dir.autopilot_aggregate(), &answer);
        }
        (outcome, answer)
    }

    /// Whether the plan is made and only to be shown.
    fn is_plan_only(&self) -> bool {
        let asked = self.request.autopilot.as_ref().is_some_and(|settings| settings.plan_only);
        asked && self.plan.decision.as_ref().is_some_and(|decision| decision.should_delegate)
    }

    fn bounds(&self) -> Bounds {
        let parallel = self.request.autopilot.as_ref().map_or(usize::MAX, |settings| settings.max_parallel);
        Bounds { parallel, one_writer: self.plan.base.is_none() }
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
        let mut step = self.next();
        if step == Step::Finish && self.has_planned() {
            self.adopt_plan()?;
            step = self.next();
        }
        match &step {
            Step::Submit(index) => self.submit(*index)?,
            Step::Skip { index, reason } => {
                self.note(*index, &format!("skipped: {reason}"));
                self.set(*index, JobStatus::Skipped(reason.clone()))?;
            }
            Step::Wait => self.tell(),
            Step::Finish => {}
        }
        Ok(step)
    }

    fn next(&self) -> Step {
        if self.is_plan_only() || self.bad_plan.is_some() {
            return Step::Finish;
        }
        self.plan.next(self.bounds())
    }

    /// Whether the planner has answered and its plan was not read yet.
    fn has_planned(&self) -> bool {
        let has_answered = self.plan.planner().is_some_and(JobRecord::has_completed);
        has_answered && self.plan.decision.is_none() && self.bad_plan.is_none()
    }

    /// Adds the jobs of the planner's plan.
    fn adopt_plan(&mut self) -> Result<(), TaskError> {
        let Some(settings) = &self.request.autopilot else { return Ok(()) };
        let subrun = reading::subruns(self.dir, &self.plan).into_iter().next();
        let answer = subrun.and_then(|subrun| subrun.last_message()).unwrap_or_default();
        match planner::read(&answer, settings, self.request.sandbox, &self.request.skills) {
            Ok((decision, jobs)) => {
                attached::note(self.dir, &format!("planned: {}", decision.reason));
                self.plan.decision = Some(decision);
                self.plan.jobs.extend(jobs.into_iter().map(JobRecord::new));
                self.is_dirty = true;
                self.write()
            }
            Err(fault) => {
                self.bad_plan = Some(fault);
                Ok(())
            }
        }
    }

    /// Notices jobs that have ended, and starts queued tasks if nobody else does.
    pub(super) fn observe(&mut self) -> Result<(), TaskError> {
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

    pub(super) fn submitted(&self) -> Vec<(usize, TaskId)> {
        let jobs = self.plan.jobs.iter().enumerate();
        let open = jobs.filter(|(_, record)| record.status == JobStatus::Submitted);
        open.filter_map(|(index, record)| Some((index, record.task_id.clone()?))).collect()
    }

    fn submit(&mut self, index: usize) -> Result<(), TaskError> {
        let Some(record) = self.plan.jobs.get(index) else { return Ok(()) };
        let task = match self.find_job(&record.job)? {
            Some(task) => Ok(task),
            None => match self.branch_point(&record.job) {
                Ok(Ok(branch)) => {
                    let ask = job_request(self.request, &record.job, self.earlier(&record.job), branch);
                    start(&mut self.context, ask).map(|accepted| accepted.task_id)
                }
                Ok(Err(conflicts)) => return self.skip(index, conflicts),
                Err(error) => Err(TaskError::from(error)),
            },
        };
        match task {
            Ok(task) => {
                self.note(index, &format!("is {task}"));
                self.record(index, task)?;
                self.set(index, JobStatus::Submitted)
            }
            Err(error) if matches!(error, TaskError::Registry(_)) || is_temporary(&error) => Err(error),
            Err(error) => self.skip(index, one_line(&error)),
        }
    }

    fn skip(&mut self, index: usize, reason: String) -> Result<(), TaskError> {
        self.note(index, &format!("could not be started: {reason}"));
        self.set(index, JobStatus::Skipped(reason))
    }

    /// What the jobs reported that `job` comes after.
    fn earlier(&self, job: &Job) -> Vec<EarlierResult> {
        let subruns = reading::subruns(self.dir, &self.plan).into_iter();
        let before = subruns.filter(|subrun| job.after.contains(&subrun.job.id));
        before
            .map(|subrun| {
                let (job, title) = (subrun.job.id.clone(), subrun.job.title.clone());
                let answer = subrun.into_answer().unwrap_or_default();
                let files =
                    answer.deliverables.iter().map(|one| format!("\n- {}: {}", one.path, one.description));
                let report = answer.summary.clone() + &files.collect::<String>();
                EarlierResult { job, title, summary: text::cut(&report, LONGEST_REPORT) }
            })
            .collect()
    }

    /// Records the task that a job became, and links its directory.
    pub(super) fn record(&mut self, index: usize, task: TaskId) -> Result<(), TaskError> {
        let run_id = self.context.registry.task(&task)?.map(|row| row.run_id);
        let Some(record) = self.plan.jobs.get_mut(index) else { return Ok(()) };
        if let Some(run_id) = &run_id {
            // `plan.json` names it too.
            let _ = self.dir.link_subrun(&record.job.id, run_id);
        }
        (record.task_id, record.run_id) = (Some(task), run_id);
        Ok(())
    }

    /// The task of a job that was submitted before, perhaps by a coordinator that died before it could record the
    /// task. Submitting it again could fail: a default may have changed.
    pub(super) fn find_job(&self, job: &Job) -> Result<Option<TaskId>, TaskError> {
        let found = self.context.registry.find_by_key(self.request.project(), &self.request.job_key(job))?;
        Ok(found.map(|row| row.id))
    }

    pub(super) fn set(&mut self, index: usize, status: JobStatus) -> Result<(), TaskError> {
        if let Some(record) = self.plan.jobs.get_mut(index) {
            record.status = status;
        }
        self.is_dirty = true;
        self.write()
    }

    /// Writes `plan.json` if it is out of date.
    pub(super) fn write(&mut self) -> Result<(), TaskError> {
        if !self.is_dirty {
            return Ok(());
        }
        self.dir.write_state(&self.dir.plan(), &self.plan).map_err(TaskError::write(self.dir.plan()))?;
        self.is_dirty = false;
        if let (Some(settings), Some(decision)) = (&self.request.autopilot, &self.plan.decision) {
            // For readers; nothing here goes on from them.
            let jobs: Vec<&Job> = self.plan.planned().map(|record| &record.job).collect();
            let plan = json!({ "version": PlanRecord::VERSION, "planner": settings.planner, "jobs": jobs });
            let _ = self.dir.write_state(&self.dir.autopilot_decision(), decision);
            let _ = self.dir.write_state(&self.dir.autopilot_plan(), &plan);
        }
        self.tell();
        Ok(())
    }

    /// Writes how far the jobs are, if that has changed.
    fn tell(&mut self) {
        let subruns = reading::subruns(self.dir, &self.plan);
        let told = (reading::activity(&subruns).unwrap_or_else(|| self.plan.summary()), steps(&subruns));
        if self.told.as_ref() != Some(&told) {
            attached::write_progress(self.dir, &told.0, told.1.clone());
            self.told = Some(told);
        }
    }

    fn note(&self, index: usize, what: &str) {
        if let Some(record) = self.plan.jobs.get(index) {
            attached::note(self.dir, &format!("job `{}`: {what}", record.job.id));
        }
    }
}

/// What is known before any job has started.
fn first_plan(request: &Request) -> Result<PlanRecord, Fault> {
    let Some(settings) = &request.autopilot else {
        let plan = Plan::parse(&request.task);
        let plan = plan.map_err(|bad| Fault::new(FailureCode::ToolError, bad.to_string()))?;
        return Ok(PlanRecord::new(None, plan.jobs));
    };
    match settings.planner {
        Planner::Agent => {
            Ok(PlanRecord::new(None, vec![planner::job(&request.task, settings, request.sandbox)]))
        }
        Planner::Rules => {
            let decision = decide::decide(&request.task);
            let plan = || decide::plan(&request.task, settings.max_agents, request.sandbox, &request.skills);
            let jobs = if decision.should_delegate { plan() } else { Vec::new() };
            Ok(PlanRecord::new(Some(decision), jobs))
        }
    }
}

/// The commit from which the branches of the jobs start; `None` outside of git and before the first commit.
fn base(context: &Context, request: &Request) -> Option<String> {
    let root = request.autopilot.as_ref().and(request.git_root.as_ref())?;
    Some(worktrees::plan(&context.home, root, &request.task_id, None).ok()?.base)
}

fn steps(subruns: &[Subrun]) -> Vec<PlanStep> {
    let step = |subrun: &Subrun| PlanStep { text: subrun.line(), done: subrun.is_over() };
    subruns.iter().map(step).collect()
}

/// Whether the same may succeed later: the registry or the repository is busy, or the disk is full.
fn is_temporary(error: &TaskError) -> bool {
    matches!(
        error,
        TaskError::Registry(RegistryError::Busy(_) | RegistryError::Full(_)) | TaskError::DiskFull { .. }
    ) || matches!(error, TaskError::Write { source, .. } if files::is_full(source))
        || matches!(error, TaskError::Worktree(error) if error.is_temporary())
}

fn stop(error: TaskError) -> StopReason {
    StopReason::Fault(Fault::new(FailureCode::Internal, one_line(&error)))
}
