//! The open HTTP sessions. Few clients close their session, so the one that was idle longest makes room for a
//! new one. When a session ends, its waits end too.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{SessionId, SessionManager};
use tokio_util::sync::CancellationToken;

use crate::mcp::http::session_responses::{Attended, Streams};
use crate::mcp::protocol::Delivery;
use crate::mcp::protocol::Read;

/// Each takes about 65 kB.
const MOST: usize = 256;

/// The SDK's session store, with what we track in addition.
pub(crate) struct Sessions {
    open: LocalSessionManager,
    recent: Mutex<Recent>,
    read: Read,
    stop: CancellationToken,
}

impl Sessions {
    pub(crate) fn new(open: LocalSessionManager, read: Read, stop: CancellationToken) -> Self {
        Self { open, recent: Mutex::default(), read, stop }
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn streams(&self, id: &SessionId) -> Streams {
        self.recent().find(id).map(|session| session.streams.clone()).unwrap_or_default()
    }
}

impl SessionManager for Sessions {
    type Error = <LocalSessionManager as SessionManager>::Error;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.open.create_session().await?;
        let session = Session { id: id.clone(), ended: self.stop.child_token(), streams: Streams::default() };
        let forgotten = self.recent().begun(session);
        if let Some(session) = forgotten {
            session.ended.cancel();
            // The session may already be gone.
            let _ = self.open.close_session(&session.id).await;
        }
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.open.initialize_session(id, message).await
    }

    /// The SDK calls this first for every request of a session.
    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.recent().used(id);
        self.open.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        // First, because from now on no answer of its calls can be delivered.
        let ended = self.recent().ended(id);
        if let Some(session) = ended {
            session.ended.cancel();
        }
        self.open.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let ended = self
            .recent()
            .find(id)
            .map_or_else(|| self.stop.child_token(), |session| session.ended.child_token());
        let delivery = Delivery::new(&self.read, ended);
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            request.request.extensions_mut().insert(delivery.clone());
        }
        let events = Box::pin(self.open.create_stream(id, message).await?);
        Ok(Attended::new(events, self.streams(id), Some(delivery)))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.open.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.open.create_standalone_stream(id).await
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let streams = self.streams(id);
        let delivery = streams.find(&last_event_id);
        let events = Box::pin(self.open.resume(id, last_event_id).await?);
        Ok(Attended::new(events, streams, delivery))
    }
}

struct Session {
    id: SessionId,
    ended: CancellationToken,
    streams: Streams,
}

/// The most recently used one is last.
#[derive(Default)]
struct Recent(VecDeque<Session>);

impl Recent {
    fn find(&self, id: &str) -> Option<&Session> {
        self.0.iter().find(|known| *known.id == *id)
    }

    fn used(&mut self, id: &str) {
        if let Some(session) = self.ended(id) {
            self.0.push_back(session);
        }
    }

    fn ended(&mut self, id: &str) -> Option<Session> {
        let at = self.0.iter().position(|known| *known.id == *id)?;
        self.0.remove(at)
    }

    /// Adds a session and returns the one that must end to make room.
    fn begun(&mut self, session: Session) -> Option<Session> {
        self.0.push_back(session);
        if self.0.len() > MOST { self.0.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(id: &str) -> Session {
        Session { id: id.into(), ended: CancellationToken::new(), streams: Streams::default() }
    }

    #[test]
    fn the_one_that_was_silent_the_longest_goes_first() {
        let mut recent = Recent::default();
        for at in 0..MOST {
            assert!(recent.begun(session(&at.to_string())).is_none());
        }
        recent.used("0");
        recent.used("unknown");
        let mut forgotten = |id| recent.begun(session(id)).map(|one| one.id.to_string());
        assert_eq!(forgotten("next").as_deref(), Some("1"));
        assert_eq!(forgotten("another").as_deref(), Some("2"));
        assert_eq!(recent.0.len(), MOST);
        // One that ended makes room itself.
        assert!(recent.ended("3").is_some() && recent.begun(session("one more")).is_none());
    }
}
