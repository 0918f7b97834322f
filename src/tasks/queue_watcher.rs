//! Keeps the queue moving while nobody asks for anything: a server at rest
//! still sees a supervisor die, and starts what comes next. Now and then it
//! cleans up.
//!
//! One server of a home does this. The others sleep in the kernel until its
//! process has ended and the lock of the keeper is free.

use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::host::Env;
use crate::host::Home;
use crate::host::Lock;
use crate::host::Woken;
use crate::host::{clock, trim_memory};
use crate::tasks::cleanup;
use crate::tasks::wait::{HEARTBEAT, Watching};

/// After a failure: the disk may be full, or somebody edits the configuration.
const PAUSE: Duration = Duration::from_secs(10);

/// How often it is asked whether it is time to clean up, and how long a server
/// without a quiet moment may put it off.
const LOOK: Duration = Duration::from_secs(60);
const RESTLESS: Duration = Duration::from_secs(10 * 60);

/// Whether there is a registry to look after. Makes nothing.
pub(crate) fn has_registry(env: &Env) -> bool {
    Home::locate(env).is_ok_and(|root| root.join("registry.db").exists())
}

/// Looks after the queue for as long as the process lives, asleep.
pub(crate) fn keep(env: &Env) -> ! {
    loop {
        // Whatever stops it stops calls as well, and those say so. Another
        // server may fare better meanwhile.
        if !has_registry(env) || watch(env.clone()).is_err() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Waits for its turn, and looks after the queue until the home or its
/// registry is not the one any more that it was.
fn watch(env: Env) -> Result<(), TaskError> {
    let path = Home::open(&env)?.keeper_lock();
    let turn = Lock::wait_for(&path).map_err(TaskError::write(&path))?;
    if !turn.is_at(&path) {
        return Ok(());
    }
    let mut context = Context::open(env)?;
    let mut watching = Watching::new(&context, &[])?;
    let mut rests = false;
    let (mut last_quiet, mut next_look) = (clock::monotonic(), Duration::ZERO);
    loop {
        watching.follow_the_queue(&mut context)?;
        let quiet = watching.sleep(HEARTBEAT) == Woken::TimedOut;
        if !turn.is_at(&path) || !context.registry.is_of(&context.home) {
            return Ok(());
        }
        let now = clock::monotonic();
        if quiet {
            last_quiet = now;
        }
        let mut cleans = false;
        if now >= next_look && (quiet || now >= last_quiet + RESTLESS) {
            cleans = cleanup::is_due(&context.home);
            next_look = now + LOOK;
        }
        if cleans {
            clean_up(context.env.clone());
        }
        if quiet && !rests {
            // Most of what a server holds is code that it does not need now,
            // and room for answers that it gave.
            trim_memory::release_freed();
            trim_memory::release_program();
        }
        rests = quiet && !cleans;
    }
}

/// On a thread of its own: to compress what is large takes longer than the
/// queue may wait. Trouble with it is nobody's here; `delegator cleanup` tells.
fn clean_up(env: Env) {
    let work = move || drop(Context::open(env).and_then(|mut context| cleanup::cleanup_if_due(&mut context)));
    let _ = std::thread::Builder::new().name("cleaner".into()).spawn(work);
}
