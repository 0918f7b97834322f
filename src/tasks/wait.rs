//! Waits for tasks, asleep. Whoever waits also keeps the queue moving: it sees
//! a supervisor die and starts what comes next.

use std::time::Duration;

use crate::host::clock;
use crate::host::watch::{Watch, Woken};
use crate::model::TaskId;
use crate::tasks::view::is_alive;
use crate::tasks::{Context, TaskError, View, find, pump, view};

/// How long one sleep lasts at most. Nothing depends on it; it only bounds the
/// harm of a notification that never came.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// A run that is over at once is waited for without notifications: closing
/// them takes the kernel some 20 ms, longer than such a run takes.
const BRIEF: Duration = Duration::from_millis(60);
const BRIEF_LOOK: Duration = Duration::from_millis(2);

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
    /// Closing it takes the kernel some 20 ms: the answer comes first.
    _watching: Option<Watching>,
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
            return Ok(Waited { views, exceeded: !enough, _watching: watching });
        }
        let next = if let Look::Within(next) = next { next } else { HEARTBEAT };
        let sleep = HEARTBEAT.min(left.unwrap_or(HEARTBEAT)).min(next);
        match &mut watching {
            Some(watching) => drop(watching.watch.sleep(sleep)),
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
        views.push(view(context, row)?);
    }
    Ok(views)
}

/// What a waiter watches: the directories of its tasks, the registry's log,
/// which grows with every commit, and the locks of all runs that are working.
#[derive(Debug)]
pub(super) struct Watching {
    watch: Watch,
    locks: Vec<std::path::PathBuf>,
}

impl Watching {
    pub(super) fn new(context: &Context, ids: &[TaskId]) -> Result<Self, TaskError> {
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
        Ok(Self { watch, locks: Vec::new() })
    }

    /// Sleeps until something changes; for how long at most, nothing depends on.
    pub(super) fn sleep(&mut self) -> Woken {
        self.watch.sleep(HEARTBEAT)
    }

    /// Watches the locks of runs that started since, and acts on freed ones.
    pub(super) fn follow_the_queue(&mut self, context: &mut Context) -> Result<(), TaskError> {
        let working = context.registry.working()?;
        let mut dead = false;
        for row in &working {
            let dir = context.dir(&row.run_id);
            if !self.locks.contains(&dir.lock()) && self.watch.add(&dir.lock()).is_ok() {
                self.locks.push(dir.lock());
            }
            dead |= !is_alive(&dir);
        }
        let waits = !context.registry.pending(1)?.is_empty();
        if dead || waits {
            // It may be a long time since we looked.
            context.refresh();
        }
        let room = u32::try_from(working.len()).unwrap_or(u32::MAX) < context.config.max_concurrent;
        if dead || (waits && room) { pump(context) } else { Ok(()) }
    }
}
