//! How many sessions are kept. Clients come and go, and few of them say that
//! they went: whoever was silent the longest makes room for the next.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};

/// Each takes some 65 kB.
const MOST: usize = 256;

pub(super) struct Sessions {
    open: Arc<LocalSessionManager>,
    recent: Mutex<Recent>,
}

impl Sessions {
    pub(super) fn new(open: Arc<LocalSessionManager>) -> Self {
        Self { open, recent: Mutex::default() }
    }

    /// A request belongs to a session, as it says.
    pub(super) fn used(&self, id: &str) {
        self.recent().used(id);
    }

    /// A session has begun: another one may have to end.
    pub(super) async fn begun(&self, id: &str) {
        let forgotten = self.recent().begun(id.into());
        if let Some(id) = forgotten {
            // It may have ended long ago.
            let _ = self.open.close_session(&id).await;
        }
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one that was used last is at the end.
#[derive(Debug, Default)]
struct Recent(VecDeque<SessionId>);

impl Recent {
    fn used(&mut self, id: &str) {
        let known = self.0.iter().position(|known| **known == *id);
        if let Some(id) = known.and_then(|at| self.0.remove(at)) {
            self.0.push_back(id);
        }
    }

    /// Takes in one, and returns the one that has to go for it.
    fn begun(&mut self, id: SessionId) -> Option<SessionId> {
        self.0.push_back(id);
        if self.0.len() > MOST { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_that_was_silent_the_longest_goes_first() {
        let mut recent = Recent::default();
        for at in 0..MOST {
            assert_eq!(recent.begun(at.to_string().into()), None);
        }
        recent.used("0");
        recent.used("unknown");
        assert_eq!(recent.begun("next".into()).as_deref(), Some("1"));
        assert_eq!(recent.begun("another".into()).as_deref(), Some("2"));
        assert_eq!(recent.0.len(), MOST);
    }
}
