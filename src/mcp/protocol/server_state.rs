//! What all that one process serves has in common: a thread that looks after
//! the queue, and the number of calls that may wait at a time.

use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::host::Env;
use crate::host::trim_memory;
use crate::mcp::protocol::learned_patience::Patience;
use crate::mcp::protocol::read_receipts::Read;
use crate::registry::Registry;
use crate::tasks;

/// A client that only tries us out is gone by then.
const MOMENT: Duration = Duration::from_secs(1);

/// A server that nobody asks for anything in this time is at rest.
const REST: Duration = Duration::from_secs(10);

/// Calls that wait, and runs that are followed, at a time. Each takes a thread;
/// the others are for calls that answer at once.
const MOST_WAITING: usize = 384;
pub(crate) const MOST_CALLS: usize = MOST_WAITING + 128;

/// A registry that the last call has left open: the next one need not open it
/// again.
#[derive(Clone, Default)]
pub(crate) struct Spare(Arc<Mutex<Option<Registry>>>);

impl Spare {
    pub(crate) fn take(&self) -> Option<Registry> {
        self.0.lock().ok()?.take()
    }

    pub(crate) fn put(&self, registry: Registry) {
        if let Ok(mut spare) = self.0.lock() {
            *spare = Some(registry);
        }
    }
}

#[derive(Clone)]
pub(crate) struct Shared {
    env: Env,
    pub(crate) spare: Spare,
    pub(crate) read: Read,
    pub(crate) patience: Patience,
    started: Arc<Once>,
    answered: Arc<Notify>,
    waiting: Arc<Semaphore>,
}

impl Shared {
    pub(crate) fn new(env: Env) -> Self {
        let spare = Spare::default();
        Self {
            read: Read::new(env.clone(), spare.clone()),
            patience: Patience::new(&env),
            env,
            spare,
            started: Arc::new(Once::new()),
            answered: Arc::default(),
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
        }
    }

    /// A place to wait in, while there is one.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.waiting.clone().try_acquire_owned().ok()
    }

    /// A call is over. With the first one, somebody starts looking after the
    /// queue: a client that only asks who we are gets no thread and no open file.
    pub(crate) fn answered(&self) {
        self.answered.notify_one();
        self.keep_the_queue();
    }

    fn keep_the_queue(&self) {
        self.started.call_once(|| {
            let env = self.env.clone();
            // Without it, calls still keep the queue moving.
            let _ = std::thread::Builder::new().name("keeper".into()).spawn(move || tasks::watch_queue(&env));
        });
    }

    /// Gives back, whenever nobody has asked for anything for a while, what only
    /// the start or the last calls needed: most of what a server holds is code
    /// that it does not need now, and room for answers that it gave. After the
    /// start, looks after the queue if there is a registry.
    pub(crate) async fn rest_between_calls(self) {
        let mut quiet = MOMENT;
        loop {
            while timeout(quiet, self.answered.notified()).await.is_ok() {}
            trim_memory::release_freed();
            trim_memory::release_program();
            if tasks::has_registry(&self.env) {
                self.keep_the_queue();
            }
            self.answered.notified().await;
            quiet = REST;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_to_wait_in_are_bounded_and_come_back() {
        let shared = Shared::new(Env::of(&[]));
        let taken: Vec<_> = (0..MOST_WAITING).map(|_| shared.place()).collect();
        assert!(taken.iter().all(Option::is_some) && shared.place().is_none());
        drop(taken);
        assert!(shared.place().is_some());
    }
}
