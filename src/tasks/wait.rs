//! Waits for tasks, asleep. Whoever waits also keeps the queue moving: it sees
//! a supervisor die and starts what comes next.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::execution::pump;
use crate::host::clock;
use crate::host::close_files_in_a_child;
use crate::host::{Watch, Woken};
use crate::model::TaskId;
use crate::reading::{View, enclosing_runs, find};
use crate::registry::RegistryFiles;
use crate::runs::RunDir;
use crate::tasks;

/// How long one sleep lasts at most. Nothing depends on it; it only bounds the
/// harm of a notification that never came.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);

/// A run that is over at once is waited for without notifications: closing
/// them takes the kernel some 20 ms, longer than such a run takes.
const BRIEF: Duration = Duration::from_millis(60);
const BRIEF_LOOK: Duration = Duration::from_millis(2);

/// How soon a queue is looked at again that somebody else kept locked. Whoever
/// gives up a write tells nobody.
const BUSY_LOOK: Duration = Duration::from_millis(500);

/// What the one who looks on wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// To see the next change.
    OnChange,
    /// To look again after so long, whatever happens.
    Within(Duration),
    /// Nothing more: the one who waited is gone.
    NoMore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    Any,
    All,
}

#[derive(Debug)]
pub(crate) struct Waited {
    pub(crate) views: Vec<View>,
    /// The time was up before the tasks were done.
    pub(crate) exceeded: bool,
    watching: Option<Watching>,
}

impl Waited {
    /// For a process that now ends: closing what it slept on takes the kernel
    /// longer than the answer took. A child does it, but not inside a run, whose
    /// supervisor would find that child left behind.
    pub(crate) fn close_in_a_child(&self, context: &Context) {
        if self.watching.is_some() && enclosing_runs::within(&context.env).depth == 0 {
            close_files_in_a_child();
        }
    }
}

/// Waits until one or all of `ids` are final, or `limit` has passed.
/// `observe` is called with the tasks as they are, whenever they change.
pub(crate) fn wait(
    context: &mut Context,
    ids: &[TaskId],
    until: Until,
    limit: Option<Duration>,
    observe: &mut dyn FnMut(&[View]) -> Look,
) -> Result<Waited, TaskError> {
    let begun = clock::monotonic();
    let deadline = limit.map(|limit| begun + limit);
    let mut watching = None;
    loop {
        // Watch first, look second: what happens in between wakes us.
        if watching.is_none() && clock::monotonic() > begun + BRIEF {
            watching = Some(Watching::new(context, ids)?);
        }
        if let Some(watching) = &mut watching {
            watching.follow_the_queue(context)?;
        }
        let views = look(context, ids)?;
        let done = views.iter().filter(|view| view.state().is_final()).count();
        let enough = match until {
            Until::Any => done > 0,
            Until::All => done == views.len(),
        };
        let next = observe(&views);
        let left = deadline.map(|at| at.saturating_sub(clock::monotonic()));
        if enough || left == Some(Duration::ZERO) || next == Look::NoMore {
            return Ok(Waited { views, exceeded: !enough, watching });
        }
        let next = if let Look::Within(next) = next { next } else { HEARTBEAT };
        let sleep = HEARTBEAT.min(left.unwrap_or(HEARTBEAT)).min(next);
        match &mut watching {
            Some(watching) => drop(watching.sleep(sleep)),
            None => sleep_until_sealed(&views, sleep.min(BRIEF)),
        }
    }
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
        views.push(tasks::look(context, row)?);
    }
    Ok(views)
}

/// What a waiter watches: the directories of its tasks, the registry's log,
/// which grows with every commit, and the locks of all runs that are working.
#[derive(Debug)]
pub(crate) struct Watching {
    watch: Watch,
    /// Those of the registry whose log is watched.
    files: RegistryFiles,
    /// Those that are watched: of no run that has ended.
    locks: BTreeSet<PathBuf>,
    /// The queue could not be moved: somebody else kept the registry locked.
    was_busy: bool,
}

impl Watching {
    pub(crate) fn new(context: &Context, ids: &[TaskId]) -> Result<Self, TaskError> {
        let mut watch = Watch::new();
        for id in ids {
            let dir = context.dir(&find(context, id.as_str())?.run_id);
            // One that was deleted has nothing to watch: the queue tells.
            if dir.path().exists() {
                watch.add(dir.path()).map_err(TaskError::write(dir.path()))?;
            }
        }
        // Where it is missing there was no commit yet, and nothing to wait for.
        let _ = watch.add(&context.registry.log());
        Ok(Self { watch, files: context.registry.files(), locks: BTreeSet::new(), was_busy: false })
    }

    /// Sleeps until something changes, or as long as it may.
    pub(crate) fn sleep(&mut self, at_most: Duration) -> Woken {
        self.watch.sleep(if self.was_busy { at_most.min(BUSY_LOOK) } else { at_most })
    }

    /// Watches the locks of runs that started since, and acts on freed ones.
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
