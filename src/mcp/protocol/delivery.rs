//! Tracks whether an answer reached its client, because only then do the results in it count as read.
//!
//! A delivery is created with each request and travels with it. The call records which results its answer
//! contains; the writer of the answer records whether it was delivered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hyper::http::request::Parts;
use rmcp::model::Extensions;
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::read_receipts::Read;
use crate::model::TaskId;

/// How long an answer waits for its client to reconnect. Clients retry within seconds, and not for long.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub(crate) struct Delivery(Arc<Inner>);

/// A delivery that the call may have dropped already.
pub(crate) struct Known(Weak<Inner>);

struct Inner {
    state: Mutex<State>,
    /// Cancelled when the answer can no longer be delivered.
    unwanted: CancellationToken,
    read: Read,
}

#[derive(Debug, Default)]
struct State {
    carried: Vec<TaskId>,
    /// Open connections that the answer can be sent on.
    listeners: usize,
    /// When the last of them closed.
    alone_since: Option<Duration>,
}

impl Delivery {
    /// Reports delivered results to `read`. Cancelling `unwanted` abandons the answer.
    pub(crate) fn new(read: &Read, unwanted: CancellationToken) -> Self {
        Self(Arc::new(Inner { state: Mutex::default(), unwanted, read: read.clone() }))
    }

    /// The delivery that came with a request.
    pub(crate) fn of(request: &Extensions) -> Option<Self> {
        // Over HTTP, a request without a session has it in the HTTP request's extensions.
        let in_head = || request.get::<Parts>().and_then(|head| head.extensions.get::<Delivery>());
        request.get::<Delivery>().or_else(in_head).cloned()
    }

    pub(crate) fn unwanted(&self) -> &CancellationToken {
        &self.0.unwanted
    }

    pub(crate) fn known(&self) -> Known {
        Known(Arc::downgrade(&self.0))
    }

    /// Records that the answer contains the results of these tasks.
    pub(crate) fn carries(&self, tasks: Vec<TaskId>) {
        self.state().carried.extend(tasks);
    }

    /// Records that the answer was delivered.
    pub(crate) fn arrived(&self) {
        let carried = std::mem::take(&mut self.state().carried);
        if !self.0.unwanted.is_cancelled() && !carried.is_empty() {
            self.0.read.add(carried);
        }
    }

    /// Records that the answer can no longer be delivered.
    pub(crate) fn lost(&self) {
        self.0.unwanted.cancel();
    }

    /// Records that a connection waits for the answer.
    pub(crate) fn attend(&self) {
        let mut state = self.state();
        state.listeners += 1;
        state.alone_since = None;
    }

    /// Records that such a connection closed. The client may reconnect.
    pub(crate) fn leave(&self, now: Duration) {
        let mut state = self.state();
        state.listeners = state.listeners.saturating_sub(1);
        if state.listeners == 0 {
            state.alone_since = Some(now);
        }
    }

    /// When the last waiting connection closed, if none waits now.
    pub(crate) fn alone_since(&self) -> Option<Duration> {
        self.state().alone_since
    }

    /// Whether the answer can still be delivered.
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
