//! A task as a reader sees it: its row, and what its run directory says now.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::context::{Context, MissingOutput, TaskError, missing_output, one_line};
use crate::evidence::Evidence;
use crate::host::{clock, lock};
use crate::model::{
    AgentName, Counters, Phase, Progress, Remote, Request, RunResult, Sandbox, State, Timestamp, WorkKind,
};
use crate::reading::stopped_supervisor;
use crate::registry::{Row, TaskMatch, TaskReference};
use crate::runs::{ReadError, RunDir};

/// How many recent runs are used to estimate how long one takes.
pub(crate) const DURATION_SAMPLES: u32 = 50;
/// What a run does between its agent's end and its sealed result.
const RECORDING: &str = "recording the result";
/// A started run has written its progress by then.
const FIRST_PROGRESS_MS: u64 = 2_000;

#[derive(Debug)]
pub(crate) struct View {
    pub(crate) row: Row,
    pub(crate) dir: RunDir,
    pub(crate) request: Option<Request>,
    /// Present once the run is sealed.
    pub(crate) result: Option<RunResult>,
    pub(crate) progress: Option<Progress>,
    /// For a task in the cloud: how far its submission came.
    pub(crate) remote: Option<Remote>,
    /// What was observed, for a finished run.
    pub(crate) evidence: Option<Evidence>,
    /// How long similar runs took, for a queued or running task.
    pub(crate) took: Vec<Duration>,
    /// How long finished runs are kept.
    pub(crate) kept_for: Duration,
    /// The widest sandbox that the configuration allows.
    pub(crate) max_sandbox: Sandbox,
    /// What could not be read, and warnings about a stopped supervisor.
    pub(crate) damaged: Vec<String>,
}

impl View {
    pub(crate) fn state(&self) -> State {
        self.row.state
    }

    /// What its agent asks, if it waits for an answer.
    pub(crate) fn question(&self) -> Option<&str> {
        let asks = self.state() == State::InputRequired;
        self.progress.as_ref().filter(|_| asks)?.question.as_deref()
    }

    /// Whether a waiter has nothing more to wait for: the task has ended, or asks something.
    pub(crate) fn needs_no_wait(&self) -> bool {
        self.state().is_final() || self.question().is_some()
    }

    pub(crate) fn missing_output(&self) -> Option<MissingOutput> {
        missing_output(&self.row, &self.dir)
    }
}

/// The task that `reference` means.
pub(crate) fn find(context: &Context, reference: &str) -> Result<Row, TaskError> {
    match look_up(context, reference)? {
        TaskMatch::One(row) => Ok(*row),
        TaskMatch::None => Err(TaskError::NotFound(reference.to_owned())),
        TaskMatch::Several(rows) => Err(TaskError::Ambiguous {
            reference: reference.to_owned(),
            candidates: rows.into_iter().map(|row| row.id.to_string()).collect(),
        }),
    }
}

/// The other project that `reference` reaches into when it is an alias there. With an id, the caller knows
/// which task is meant.
pub(crate) fn reaches_into(context: &Context, reference: &str) -> Result<Option<PathBuf>, TaskError> {
    let TaskMatch::One(row) = look_up(context, reference)? else { return Ok(None) };
    let by_alias = row.alias.as_deref() == Some(reference.trim());
    Ok(Some(row.project).filter(|project| by_alias && *project != context.project()))
}

/// What `reference` could mean, seen from the caller's project. The path of a run directory, as replies name
/// it, means the run.
pub(crate) fn look_up(context: &Context, reference: &str) -> Result<TaskMatch, TaskError> {
    let project = context.project();
    let run = Path::new(reference).strip_prefix(context.home.runs()).ok().and_then(Path::to_str);
    let reference = TaskReference(run.unwrap_or(reference).trim_end_matches('/').to_owned());
    Ok(context.registry.find(&reference, &project.to_string_lossy(), context.scope)?)
}

/// Reads everything known about a task now, and writes nothing.
///
/// The directory is the truth: a sealed run is over even if its row does not say so yet. While a supervisor
/// holds the run, only the row counts, because a record may have been planted.
pub(crate) fn view(context: &Context, row: Row) -> View {
    let dir = context.dir(&row.run_id);
    let mut damaged = Vec::new();
    let is_over = row.state.is_final() || !is_alive(&dir);
    let result = if is_over { readable(dir.read_result(), &mut damaged) } else { None };
    let request = readable(dir.read_request(), &mut damaged);
    let row = match &result {
        Some(result) => sealed(row, result),
        None if row.state.is_final() => row,
        None => Row { started_at: started_at(&row, &dir, request.is_some()), ..row },
    };
    let progress = result.as_ref().and_then(|result| result.progress.clone());
    let progress = progress.or_else(|| dir.read_progress()).or_else(|| at_work(&dir, row.state));
    // Supervisors do not open the registry, so only the progress tells that the agent asks. If the supervisor died,
    // nobody can answer any more.
    let asks = !is_over
        && row.state == State::Working
        && progress.as_ref().is_some_and(|now| now.question.is_some());
    let row = if asks { Row { state: State::InputRequired, ..row } } else { row };
    let is_hosted = row.agent.abilities().work == WorkKind::Hosted;
    let remote = is_hosted.then(|| dir.read_remote().ok().flatten()).flatten();
    let is_unconfirmed = row.state == State::Working && matches!(remote, Some(Remote::Submitting { .. }));
    let row = if is_unconfirmed { Row { state: State::Unconfirmed, ..row } } else { row };
    let evidence = result.as_ref().and_then(|result| observed(&dir, result, &mut damaged));
    // The agent has ended, but its result is not sealed yet.
    let is_ending = result.is_none() && progress.as_ref().is_some_and(|now| now.phase == Phase::Finished);
    let progress = progress.map(|now| match is_ending && !row.state.is_final() {
        true => Progress { phase: Phase::Answering, activity: RECORDING.to_owned(), eta: None, ..now },
        false => now,
    });
    let took = match row.state {
        State::Working if is_ending => Vec::new(),
        State::Pending | State::Working => durations(context, &row),
        State::InputRequired
        | State::Unconfirmed
        | State::Completed
        | State::Failed
        | State::Cancelled
        | State::TimedOut => Vec::new(),
    };
    if matches!(row.state, State::Working | State::InputRequired | State::Unconfirmed) {
        damaged.extend(stopped_supervisor::find(&dir).map(|stopped| stopped.warning(&row.id)));
    }
    let kept_for = context.config.retention_age();
    let max_sandbox = context.config.max_sandbox;
    View { row, dir, request, result, progress, remote, evidence, took, kept_for, max_sandbox, damaged }
}

/// The line that runs of the same kind have in common; `None` if the agent is enough.
pub(crate) fn same_line(agent: AgentName, task: &str) -> Option<&str> {
    agent.abilities().is_command_line().then_some(task)
}

/// How long earlier runs of this kind took; none if that cannot be read.
pub(super) fn durations(context: &Context, row: &Row) -> Vec<Duration> {
    let project = row.project.to_string_lossy();
    let line = same_line(row.agent, &row.instruction);
    context.registry.run_durations(&project, row.agent, line, DURATION_SAMPLES).unwrap_or_default()
}

/// The row of a sealed run as it will be once it is updated.
fn sealed(row: Row, result: &RunResult) -> Row {
    if row.state.is_final() {
        return row;
    }
    Row {
        attempt: result.attempt,
        state: result.state(),
        code: result.outcome.code().map(|code| code.as_str().to_owned()),
        summary: Some(result.summary.clone()),
        thread_id: result.thread_id.clone().or(row.thread_id),
        started_at: result.started_at,
        completed_at: Some(result.finished_at),
        usage_total: result.usage_total,
        unread: true,
        ..row
    }
}

/// When the agent of an unfinished task started. Its row only has the time of the claim.
fn started_at(row: &Row, dir: &RunDir, is_there: bool) -> Option<Timestamp> {
    match dir.read_started() {
        Ok(Some(started)) => Some(started.started_at),
        Ok(None) if is_there => None,
        Ok(None) | Err(_) => row.started_at,
    }
}

/// A file that cannot be read must not hide the others.
fn readable<T>(read: Result<Option<T>, ReadError>, damaged: &mut Vec<String>) -> Option<T> {
    read.unwrap_or_else(|error| {
        damaged.push(one_line(&error));
        None
    })
}

/// For a run whose `progress.json` is missing or damaged: says only that the run has started. A run that has
/// only just started has not written the file yet.
fn at_work(dir: &RunDir, state: State) -> Option<Progress> {
    let started = dir.read_started().ok().flatten().filter(|_| state == State::Working)?;
    (clock::now().millis_since(started.started_at) > FIRST_PROGRESS_MS).then(|| Progress {
        version: Progress::VERSION,
        phase: Phase::Running,
        activity: "working".into(),
        percent: None,
        steps: Vec::new(),
        counters: Counters::default(),
        last_event_at: None,
        eta: None,
        running: Vec::new(),
        question: None,
    })
}

/// The evidence. If it cannot be read, says so, so that it does not look as if nothing had happened.
fn observed(dir: &RunDir, result: &RunResult, damaged: &mut Vec<String>) -> Option<Evidence> {
    let path = dir.evidence();
    let (trouble, reason) = match Evidence::read(&path) {
        Ok(None) if result.evidence => (format!("`{}` is gone", path.display()), "evidence.json is gone"),
        Ok(evidence) => return evidence,
        Err(error) => (one_line(&error), "evidence.json cannot be read"),
    };
    damaged.push(format!("{trouble}; the run's changes, test results and errors are unknown"));
    Some(Evidence::unknown(reason))
}

/// Whether the supervisor of a working task still holds the run.
pub(crate) fn is_alive(dir: &RunDir) -> bool {
    lock::is_held(&dir.lock()).unwrap_or(true)
}
