//! State shared by everything that one server process serves: a thread that watches the queue, and the number of
//! calls that may wait at a time.

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

/// A client that only probes the server is gone by then.
const MOMENT: Duration = Duration::from_secs(1);

/// A server without requests for this long is idle.
const REST: Duration = Duration::from_secs(10);

/// The most waiting calls and followed runs at a time. Each takes a thread; the other threads serve calls that
/// answer at once.
const MOST_WAITING: usize = 384;
pub(crate) const MOST_CALLS: usize = MOST_WAITING + 128;

/// A registry that the last call left open for the next one.
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

    /// A slot for waiting, if one is free.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.waiting.clone().try_acquire_owned().ok()
    }

    /// Records that a call has ended. The first one starts the queue watcher, so a client that only asks for the
    /// server's name costs no thread and no open file.
    pub(crate) fn answered(&self) {
        self.answered.notify_one();
        self.keep_the_queue();
    }

    fn keep_the_queue(&self) {
        self.started.call_once(|| {
            let env = self.env.clone();
            // Without the thread, calls still keep the queue moving.
            let _ = std::thread::Builder::new().name("keeper".into()).spawn(move || tasks::watch_queue(&env));
        });
    }

    /// Releases memory whenever the server is idle: most of what it holds is code that it does not need now, and
    /// buffers of earlier answers. After the start, it also watches the queue if there is a registry.
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
