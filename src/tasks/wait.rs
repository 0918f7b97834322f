//! Waits for tasks, asleep. A waiter also keeps the queue moving: it notices when a supervisor dies and
//! starts the next task.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::execution::pump;
use crate::host::clock;
use crate::host::close_files_in_a_child;
use crate::host::{Watch, Woken};
use crate::model::{TaskId, Timestamp, WorkKind};
use crate::reading::{View, enclosing_runs, find};
use crate::registry::RegistryFiles;
use crate::runs::RunDir;
use crate::tasks;

/// The longest sleep. Correctness does not depend on it; it limits the delay after a lost notification.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// A wait this short uses no notifications: closing them takes the kernel some 20 ms, longer than such a run
/// takes.
const BRIEF: Duration = Duration::from_millis(60);
const BRIEF_LOOK: Duration = Duration::from_millis(2);

/// How soon to retry a queue that another process kept locked. Nobody announces a write that was given up.
const BUSY_LOOK: Duration = Duration::from_millis(500);

/// When the observer wants to be called next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextObservation {
    /// At the next change.
    OnChange,
    /// After this long at the latest.
    Within(Duration),
    /// Never: the caller is gone.
    NoMore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Any,
    All,
    /// All, and a question of an agent is not enough.
    AllEnded,
}

#[derive(Debug)]
pub(crate) struct Waited {
    pub(crate) views: Vec<View>,
    /// The time limit passed before the tasks were done.
    pub(crate) exceeded: bool,
    watching: Option<TaskWatch>,
}

impl Waited {
    /// For a process that is about to end: leaves the notifications open, because closing them takes the
    /// kernel longer than the answer took. A child process closes them. Inside a run there is no child: the
    /// supervisor would treat it as left behind.
    pub(crate) fn leave_open(&mut self, context: &Context) {
        if let Some(watching) = self.watching.take() {
            std::mem::forget(watching);
            if enclosing_runs::detect(&context.env).depth == 0 {
                close_files_in_a_child();
            }
        }
    }
}

/// Waits until one or all of `ids` have ended or ask something, the waiters are sent away, or `limit` has passed. Calls `observe` with the tasks whenever
/// they change.
pub(crate) fn wait(
    context: &mut Context,
    ids: &[TaskId],
    until: Until,
    limit: Option<Duration>,
    observe: &mut dyn FnMut(&[View]) -> NextObservation,
) -> Result<Waited, TaskError> {
    let (begun, begun_at) = (clock::monotonic(), clock::now());
    let deadline = limit.map(|limit| begun + limit);
    let mut watching = None;
    loop {
        // Start watching before reading, so that no change is missed.
        if watching.is_none() && clock::monotonic() > begun + BRIEF {
            watching = Some(TaskWatch::new(context, ids)?);
        }
        if let Some(watching) = &mut watching {
            watching.follow_the_queue(context)?;
        }
        let views = look(context, ids)?;
        let enough = match until {
            Until::Any => views.iter().any(View::needs_no_wait),
            Until::All => views.iter().all(View::needs_no_wait),
            Until::AllEnded => views.iter().all(|view| view.state().is_final()),
        };
        let is_detached = until != Until::AllEnded && views.iter().any(|view| is_detached(view, begun_at));
        let next = observe(&views);
        let left = deadline.map(|at| at.saturating_sub(clock::monotonic()));
        if enough || is_detached || left == Some(Duration::ZERO) || next == NextObservation::NoMore {
            return Ok(Waited { views, exceeded: !enough, watching });
        }
        let next = if let NextObservation::Within(next) = next { next } else { HEARTBEAT };
        let sleep = HEARTBEAT.min(left.unwrap_or(HEARTBEAT)).min(next);
        match &mut watching {
            Some(watching) => drop(watching.sleep(sleep)),
            None => sleep_until_sealed(&views, sleep.min(BRIEF)),
        }
    }
}

/// Whether those who have waited since then were sent away: somebody wanted to end what only its service can end.
pub(crate) fn is_detached(view: &View, since: Timestamp) -> bool {
    let is_hosted = view.row.agent.abilities().work == WorkKind::Hosted;
    is_hosted && view.dir.read_detached().is_some_and(|at| at >= since)
}

/// Sleeps for `at_most`, or until the first of these runs is sealed.
fn sleep_until_sealed(views: &[View], at_most: Duration) {
    let until = clock::monotonic() + at_most;
    let sealed = |view: &View| !view.state().is_final() && view.dir.result().exists();
    loop {
        std::thread::sleep(BRIEF_LOOK);
        if clock::monotonic() >= until || views.iter().any(sealed) {
            break;
        }
    }
}

fn look(context: &mut Context, ids: &[TaskId]) -> Result<Vec<View>, TaskError> {
    let mut views = Vec::with_capacity(ids.len());
    for id in ids {
        let row = find(context, id.as_str())?;
        views.push(tasks::view_task(context, row)?);
    }
    Ok(views)
}

/// What a waiter watches: the directories of its tasks, the registry's log, which grows with every commit,
/// and the locks of all working runs.
#[derive(Debug)]
pub(crate) struct TaskWatch {
    watch: Watch,
    /// The registry whose log is watched.
    files: RegistryFiles,
    /// The watched locks, all of unfinished runs.
    locks: BTreeSet<PathBuf>,
    /// Another process kept the registry locked, so the queue was not moved.
    was_busy: bool,
}

impl TaskWatch {
    pub(crate) fn new(context: &Context, ids: &[TaskId]) -> Result<Self, TaskError> {
        let mut watch = Watch::new();
        for id in ids {
            let dir = context.dir(&find(context, id.as_str())?.run_id);
            // A deleted directory cannot be watched; the queue check notices it.
            if dir.path().exists() {
                watch.add(dir.path()).map_err(TaskError::write(dir.path()))?;
            }
        }
        // If there is no log yet, nothing has been committed.
        let _ = watch.add(&context.registry.log());
        Ok(Self { watch, files: context.registry.files(), locks: BTreeSet::new(), was_busy: false })
    }

    /// Sleeps until something changes, or for `at_most`.
    pub(crate) fn sleep(&mut self, at_most: Duration) -> Woken {
        self.watch.sleep(if self.was_busy { at_most.min(BUSY_LOOK) } else { at_most })
    }

    /// Watches the locks of newly started runs, and acts on freed ones.
    pub(crate) fn follow_the_queue(&mut self, context: &mut Context) -> Result<(), TaskError> {
        context.registry.reopen_if_replaced()?;
        if self.files != context.registry.files() {
            self.files = context.registry.files();
            let _ = self.watch.add(&context.registry.log());
        }
        let working = pump::working(context)?;
        self.watch_locks(working.iter().map(RunDir::lock).collect());
        let due = pump::is_due(context, &working)?;
        let moved = if due { context.unless_busy(pump)? } else { Some(()) };
        self.was_busy = moved.is_none();
        Ok(())
    }

    fn watch_locks(&mut self, locks: BTreeSet<PathBuf>) {
        let gone: Vec<PathBuf> = self.locks.difference(&locks).cloned().collect();
        for lock in gone {
            self.watch.remove(&lock);
            self.locks.remove(&lock);
        }
        for lock in locks {
            if !self.locks.contains(&lock) && self.watch.add(&lock).is_ok() {
                self.locks.insert(lock);
            }
        }
    }
}
