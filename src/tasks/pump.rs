//! Moves the queue. Anybody may do it at any time, and everybody does: there
//! is no leader whose death could stall it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;

use crate::host::lock::{self, Lock};
use crate::host::spawn::{self, Ties};
use crate::host::{clock, env};
use crate::model::RunId;
use crate::registry::Claimed;
use crate::runs::RunDir;
use crate::tasks::{Context, TaskError, control, nested, recover, unsettled};

/// Recovers what died, then starts what waits while there is room.
pub(crate) fn pump(context: &mut Context) -> Result<(), TaskError> {
    // One that has ended takes nothing with it any more.
    let alive = |run: &&RunId| lock::is_held(&context.dir(run).lock()).unwrap_or(false);
    match nested::within(&context.env).iter().find(alive) {
        None => run(context, Ties::Detached).map(|_| ()),
        // Whatever we start would be a descendant of the run we are in, and
        // would end with it. Its own supervisor does it for us.
        Some(outermost) => {
            recover::recover(context)?;
            control::send(&context.dir(outermost), &control::Message::Pump);
            Ok(())
        }
    }
}

/// As [`pump`], for a supervisor in its run: what it starts stays its child.
pub(super) fn run(context: &mut Context, ties: Ties) -> Result<Vec<i32>, TaskError> {
    let mut started = Vec::new();
    let mut refused = HashSet::new();
    recover::recover(context)?;
    unsettled::sweep(context)?;
    loop {
        let home = context.home.clone();
        let limit = context.config.max_concurrent;
        let claimed = context.registry.claim(limit, clock::now(), |row| {
            let dir = RunDir::at(home.run(&row.run_id));
            // A lock that is held is one being cancelled; a sealed run waits
            // for its row to be finished; neither may start.
            let lock = Lock::take(&dir.lock()).ok().flatten()?;
            (!refused.contains(&row.id) && !dir.result().exists()).then_some(lock)
        })?;
        let Some(Claimed { row, lock }) = claimed else { return Ok(started) };
        let dir = context.dir(&row.run_id);
        if row.attempt > recover::MOST_ATTEMPTS {
            recover::give_up(context, &row, &dir)?;
            continue;
        }
        let within = dir.read_request().ok().flatten().map(|request| request.within).unwrap_or_default();
        match launch(context, &row.run_id, &within, lock, row.attempt, ties) {
            Ok(pid) => started.extend(pid),
            // One that cannot be started now must not hold up the others, nor
            // whoever only wanted to look.
            Err(_) => {
                context.registry.put_back(&row, clock::now())?;
                refused.insert(row.id);
            }
        }
    }
}

/// Starts the supervisor of a claimed run and hands it the lock.
pub(super) fn launch(
    context: &Context,
    run: &RunId,
    within: &[RunId],
    lock: Lock,
    attempt: u32,
    ties: Ties,
) -> io::Result<Option<i32>> {
    let mut environment = context.env.scrubbed();
    if !within.is_empty() {
        let runs: Vec<_> = within.iter().map(RunId::as_str).collect();
        environment.push((OsString::from(env::RUNS), runs.join(":").into()));
    }
    spawn::supervisor(&context.home.run(run), &lock, attempt, environment, ties)
}
