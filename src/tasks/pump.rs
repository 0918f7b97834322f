//! Moves the queue. Anybody may do it at any time, and everybody does: there
//! is no leader whose death could stall it.

use std::ffi::OsString;
use std::io;

use crate::host::lock::Lock;
use crate::host::spawn::{self, Ties};
use crate::host::{clock, env};
use crate::model::RunId;
use crate::tasks::{Context, TaskError, control, nested, recover};

/// Recovers what died, then starts what waits while there is room.
pub(crate) fn pump(context: &mut Context) -> Result<(), TaskError> {
    match nested::within(&context.env).first() {
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
    recover::recover(context)?;
    loop {
        let home = context.home.clone();
        let limit = context.config.max_concurrent;
        let claimed = context.registry.claim(limit, clock::now(), |row| {
            let dir = crate::runs::RunDir::at(home.run(&row.run_id));
            // A lock that is held is one being cancelled; a sealed run waits
            // for its row to be finished; neither may start.
            let lock = Lock::take(&dir.lock()).ok().flatten()?;
            (!dir.result().exists()).then_some(lock)
        })?;
        let Some(claimed) = claimed else { return Ok(started) };
        let row = claimed.row;
        let within = context.dir(&row.run_id).read_request().ok().flatten().map(|request| request.within);
        match launch(context, &row.run_id, &within.unwrap_or_default(), claimed.lock, row.attempt, ties) {
            Ok(pid) => started.extend(pid),
            Err(error) => {
                context.registry.put_back(&row, clock::now())?;
                return Err(TaskError::write("/proc/self/exe")(error));
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
