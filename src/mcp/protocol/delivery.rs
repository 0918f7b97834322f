//! Whether an answer reached whoever asked: only then are the results in it
//! read.
//!
//! A delivery is made where a request comes in and rides along with it. The
//! call says what its answer carries; whoever writes the answer says what
//! became of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::http::request::Parts;
use rmcp::model::Extensions;
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::read_receipts::Read;
use crate::model::TaskId;

/// How long an answer waits for somebody to come back for it. Clients try again
/// after some seconds, and not for long.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Delivery(Arc<Inner>);

/// One that the call may have forgotten.
pub(crate) struct Known(Weak<Inner>);

struct Inner {
    state: Mutex<State>,
    /// Cancelled when nobody can get the answer any more.
    unwanted: CancellationToken,
    read: Read,
}

#[derive(Debug, Default)]
struct State {
    carried: Vec<TaskId>,
    /// Connections on which the answer may go out.
    listeners: usize,
    /// Since when there are none, where there were some.
    alone_since: Option<Duration>,
}

impl Delivery {
    /// What arrives is told to `read`. It is given up once `unwanted` is cancelled.
    pub(crate) fn new(read: &Read, unwanted: CancellationToken) -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), unwanted, read: read.clone() }))
    }

    /// The one that came with a request.
    pub(crate) fn of(request: &Extensions) -> Option<Self> {
        // Over HTTP, a request without a session has it in its head.
        let in_head = || request.get::<Parts>().and_then(|head| head.extensions.get::<Delivery>());
        request.get::<Delivery>().or_else(in_head).cloned()
    }

    pub(crate) fn unwanted(&self) -> &CancellationToken {
        &self.0.unwanted
    }

    pub(crate) fn known(&self) -> Known {
        Known(Arc::downgrade(&self.0))
    }

    /// The answer holds the results of these tasks.
    pub(crate) fn carries(&self, tasks: Vec<TaskId>) {
        self.state().carried.extend(tasks);
    }

    /// The answer was handed over.
    pub(crate) fn arrived(&self) {
        let carried = std::mem::take(&mut self.state().carried);
        if !self.0.unwanted.is_cancelled() && !carried.is_empty() {
            self.0.read.add(carried);
        }
    }

    /// The answer cannot be handed over any more.
    pub(crate) fn lost(&self) {
        self.0.unwanted.cancel();
    }

    /// Somebody listens on a connection of its own.
    pub(crate) fn attend(&self) {
        let mut state = self.state();
        state.listeners += 1;
        state.alone_since = None;
    }

    /// Somebody who did is gone, and may come back.
    pub(crate) fn leave(&self, now: Duration) {
        let mut state = self.state();
        state.listeners = state.listeners.saturating_sub(1);
        if state.listeners == 0 {
            state.alone_since = Some(now);
        }
    }

    /// Since when nobody listens who did before.
    pub(crate) fn alone_since(&self) -> Option<Duration> {
        self.state().alone_since
    }

    /// Whether it is worth to wait for what the answer is about.
    pub(crate) fn is_wanted(&self, now: Duration) -> bool {
        let is_late = |since: Duration| now.saturating_sub(since) >= PATIENCE;
        !self.0.unwanted.is_cancelled() && !self.state().alone_since.is_some_and(is_late)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    pub(crate) fn find(&self) -> Option<Delivery> {
        self.0.upgrade().map(Delivery)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Env;
    use crate::mcp::protocol::server_state::Spare;

    fn delivery() -> (Delivery, Read) {
        let read = Read::new(Env::of(&[]), Spare::default());
        (Delivery::new(&read, CancellationToken::new()), read)
    }

    fn task() -> TaskId {
        "T-local-0123456789ab".parse().unwrap()
    }

    #[test]
    fn what_arrived_is_read_and_what_was_lost_is_not() {
        let (arrives, read) = delivery();
        arrives.carries(vec![task()]);
        assert!(read.pending().is_empty());
        arrives.arrived();
        assert_eq!(read.pending(), [task()]);
        let (lost, read) = delivery();
        lost.carries(vec![task()]);
        lost.lost();
        lost.arrived();
        assert!(read.pending().is_empty());
    }

    #[test]
    fn who_left_may_come_back_for_a_while() {
        let (delivery, _) = delivery();
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        delivery.attend();
        assert!(delivery.is_wanted(minutes(600)));
        delivery.leave(minutes(1));
        assert!(delivery.is_wanted(minutes(1)) && !delivery.is_wanted(minutes(2)));
        // The new connection is there before the old one is gone.
        delivery.attend();
        delivery.attend();
        delivery.leave(minutes(1));
        assert!(delivery.is_wanted(minutes(5)));
    }

    #[test]
    fn nobody_wants_what_was_lost() {
        let (delivery, _) = delivery();
        delivery.lost();
        assert!(!delivery.is_wanted(Duration::ZERO));
    }
}
