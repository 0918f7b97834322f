//! Keeps the queue moving while nobody asks for anything: a server at rest
//! still sees a supervisor die, and starts what comes next.

use std::time::Duration;

use crate::host::env::Env;
use crate::host::memory;
use crate::host::paths::Home;
use crate::host::watch::Woken;
use crate::tasks::wait::Watching;
use crate::tasks::{Context, TaskError};

/// After a failure: the disk may be full, or somebody edits the configuration.
const PAUSE: Duration = Duration::from_secs(10);

/// Whether there is a registry to look after. Makes nothing.
pub(crate) fn has_registry(env: &Env) -> bool {
    Home::locate(env).is_ok_and(|root| root.join("registry.db").exists())
}

/// Looks after the queue for as long as the process lives, asleep.
pub(crate) fn keep(env: &Env) -> ! {
    loop {
        // Whatever stops it stops calls as well, and those say so.
        let _ = watch(env.clone());
        std::thread::sleep(PAUSE);
    }
}

fn watch(env: Env) -> Result<(), TaskError> {
    let mut context = Context::open(env)?;
    let mut watching = Watching::new(&context, &[])?;
    let mut rests = false;
    loop {
        watching.follow_the_queue(&mut context)?;
        let quiet = watching.sleep() == Woken::TimedOut;
        if quiet && !rests {
            // Most of what a server holds is code that it does not need now.
            memory::release_code();
        }
        rests = quiet;
    }
}
