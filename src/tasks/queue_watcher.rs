//! Keeps the queue moving while no calls come in: an idle server notices when a supervisor dies, starts the
//! next task, and sometimes cleans up.
//!
//! Only one server per home does this. The others sleep until that process has ended and its lock is free.

use std::time::Duration;

use crate::context::{Context, TaskError};
use crate::host::Env;
use crate::host::Home;
use crate::host::Lock;
use crate::host::Woken;
use crate::host::{clock, trim_memory};
use crate::tasks::cleanup;
use crate::tasks::wait::{HEARTBEAT, TaskWatch};

/// How long to wait after a failure, such as a full disk or a half-edited configuration.
const PAUSE: Duration = Duration::from_secs(10);

/// How often to check whether a cleanup is due, and how long a busy server may put it off.
const LOOK: Duration = Duration::from_secs(60);
const RESTLESS: Duration = Duration::from_secs(10 * 60);

/// Whether a registry exists. Creates nothing.
pub(crate) fn has_registry(env: &Env) -> bool {
    Home::locate(env).is_ok_and(|root| root.join("registry.db").exists())
}

/// Watches the queue for as long as the process lives.
pub(crate) fn watch_queue(env: &Env) -> ! {
    loop {
        // Calls report the same error to the caller. Meanwhile another server may have more luck.
        if !has_registry(env) || watch(env.clone()).is_err() {
            std::thread::sleep(PAUSE);
        }
    }
}

/// Waits for its turn, then watches the queue until the home or its registry has been replaced.
fn watch(env: Env) -> Result<(), TaskError> {
    let path = Home::open(&env)?.keeper_lock();
    let turn = Lock::wait_for(&path).map_err(TaskError::write(&path))?;
    if !turn.is_at(&path) {
        return Ok(());
    }
    let mut context = Context::open(env)?;
    let mut watching = TaskWatch::new(&context, &[])?;
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
            // An idle server gives back memory that earlier answers used.
            trim_memory::release_freed();
            trim_memory::release_program();
        }
        rests = quiet && !cleans;
    }
}

/// On its own thread, because compressing large files takes longer than the queue may wait. Errors are
/// ignored here; `delegator cleanup` reports them.
fn clean_up(env: Env) {
    let work = move || drop(Context::open(env).and_then(|mut context| cleanup::cleanup_if_due(&mut context)));
    let _ = std::thread::Builder::new().name("cleaner".into()).spawn(work);
}
