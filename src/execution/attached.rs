//! What runs have in common that a new supervisor can reattach to: how they begin, how they keep an
//! account of what happens, and how they end.

use std::io;
use std::io::Write;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::execution::control::Listener;
use crate::execution::summary::summary;
use crate::host::{clock, files, processes};
use crate::model::{
    Counters, KillLevel, Limit, Outcome, Phase, PlanStep, Progress, Request, RunResult, StopReason,
    StreamTotals,
};
use crate::runs::{ReadError, RunDir, StartRecord};
use crate::supervisor::{Control, ControlOrder, ProcessTree};

/// How long a run may go without looking at its limits and at its directory.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// Writes `started.json`. The start is that of the first supervisor, unless its record is damaged. `tree` has the
/// processes of the run, if it starts any.
pub(super) fn begin(dir: &RunDir, attempt: u32, tree: Option<&ProcessTree>) -> io::Result<StartRecord> {
    let before = match dir.read_started() {
        Ok(before) => before,
        Err(ReadError::Damaged { path, .. }) => {
            std::fs::rename(&path, path.with_extension("json.damaged"))?;
            None
        }
        Err(ReadError::Io { source, .. }) => return Err(source),
    };
    let boot_id = processes::boot_id();
    let started_at = before.as_ref().map_or_else(clock::now, |before| before.started_at);
    // Only the wall clock knows how long the machine was off.
    let by_wall_clock = || up_ms().saturating_sub_unsigned(clock::now().millis_since(started_at));
    let same_boot = before.filter(|before| !boot_id.is_empty() && before.boot_id == boot_id);
    let started_up_ms = same_boot.and_then(|before| before.started_up_ms).unwrap_or_else(by_wall_clock);
    let started = StartRecord {
        version: 1,
        attempt,
        started_at,
        supervisor_pid: processes::own_pid(),
        boot_id,
        started_up_ms: Some(started_up_ms),
        kill_level: tree.map_or(KillLevel::Marker, ProcessTree::level),
        cgroup: tree.and_then(ProcessTree::cgroup_path).map(ToOwned::to_owned),
    };
    dir.write_started(&started)?;
    Ok(started)
}

fn up_ms() -> i64 {
    i64::try_from(clock::monotonic().as_millis()).unwrap_or(i64::MAX)
}

/// Milliseconds since the first start. A change of the wall clock does not count.
fn elapsed_ms(started: &StartRecord) -> u64 {
    match started.started_up_ms {
        Some(then) => u64::try_from(up_ms().saturating_sub(then)).unwrap_or(0),
        None => clock::now().millis_since(started.started_at),
    }
}

/// Sleeps for `at_most`, or until an order arrives. An error says why the run must stop.
pub(crate) fn sleep(
    listener: &mut Listener,
    request: &Request,
    started: &StartRecord,
    at_most: Duration,
) -> Result<(), StopReason> {
    let fd = listener.descriptor();
    let mut fds: Vec<_> = fd.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let wait = Timespec { tv_sec: 0, tv_nsec: at_most.min(LONGEST_SLEEP).subsec_nanos().into() };
    // An interrupted sleep is one that ended early.
    let _ = poll(&mut fds, Some(&wait));
    while let Some(order) = listener.receive() {
        match order {
            ControlOrder::Stop(reason) => return Err(reason),
            ControlOrder::Pump | ControlOrder::Answer(_) => {}
        }
    }
    passed_limit(request, started).map_or(Ok(()), Err)
}

/// The hard limit, counted from the first start, if it has passed.
pub(super) fn passed_limit(request: &Request, started: &StartRecord) -> Option<StopReason> {
    let passed = time_left(request, started).is_some_and(|left| left.is_zero());
    passed.then_some(StopReason::Limit(Limit::Hard))
}

/// The time until the hard limit, if there is one.
pub(super) fn time_left(request: &Request, started: &StartRecord) -> Option<Duration> {
    let took = Duration::from_millis(elapsed_ms(started));
    request.limits.hard.map(|limit| limit.saturating_sub(took))
}

/// Appends a line to what a person sees of the run.
pub(crate) fn note(dir: &RunDir, line: &str) {
    // Trouble with the account is no trouble of the run.
    let _ = files::create_log(&dir.transcript()).and_then(|mut log| writeln!(log, "{line}"));
}

pub(crate) fn write_progress(dir: &RunDir, activity: &str, steps: Vec<PlanStep>) {
    let done = steps.iter().filter(|step| step.done).count();
    let progress = Progress {
        version: Progress::VERSION,
        phase: Phase::Running,
        activity: activity.to_owned(),
        percent: (!steps.is_empty()).then(|| u8::try_from(done * 99 / steps.len()).unwrap_or(99)),
        steps,
        counters: Counters::default(),
        last_event_at: Some(clock::now()),
        eta: None,
        running: Vec::new(),
        question: None,
    };
    let _ = dir.write_progress(&progress);
}

/// What stopping for `reason` means for the run.
pub(crate) fn stopped(reason: StopReason, started: &StartRecord) -> Outcome {
    match reason {
        StopReason::Cancelled { reason } => Outcome::Cancelled { reason },
        StopReason::Limit(limit) => Outcome::TimedOut { limit, elapsed_ms: elapsed_ms(started) },
        StopReason::Fault(fault) => Outcome::Failed { fault },
    }
}

/// The record of the run's end. `reported` is its summary if it completed.
pub(crate) fn end(
    dir: &RunDir,
    request: &Request,
    started: &StartRecord,
    outcome: Outcome,
    reported: String,
) -> RunResult {
    let now = clock::now();
    let progress = dir.read_progress().map(|progress| Progress {
        phase: Phase::Finished,
        percent: progress.percent.map(|percent| if outcome == Outcome::Completed { 100 } else { percent }),
        ..progress
    });
    let length = std::fs::metadata(dir.stdout()).map_or(0, |found| found.len());
    let summary = summary(request, &outcome, reported, None);
    RunResult {
        started_at: Some(started.started_at),
        duration_ms: elapsed_ms(started),
        progress,
        stdout: StreamTotals { bytes: length, ..StreamTotals::default() },
        ..RunResult::ended(request, started.attempt, outcome, summary, now)
    }
}
