//! Tracks the responses of a session, so that a client can fetch a response again on a new connection while its
//! call is still running.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;

use crate::host::clock;
use crate::mcp::protocol::{Delivery, Known};

pub(crate) type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The responses in progress, by stream number.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<Vec<(u64, Known)>>>);

impl Streams {
    /// The response that continues after this event.
    pub(crate) fn find(&self, event: &str) -> Option<Delivery> {
        let number = number(event)?;
        self.all().iter().find(|(known, _)| *known == number)?.1.find()
    }

    fn add(&self, number: u64, delivery: &Delivery) {
        let mut all = self.all();
        all.retain(|(known, delivery)| *known != number && delivery.find().is_some());
        all.push((number, delivery.known()));
    }

    fn all(&self) -> MutexGuard<'_, Vec<(u64, Known)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stream that an event belongs to. Event ids have the form `<index>/<stream>`.
fn number(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}

/// The events sent on one connection.
pub(crate) struct Attended {
    events: Events,
    streams: Streams,
    /// Held until the response is delivered.
    delivery: Option<Delivery>,
    answered: bool,
}

impl Attended {
    pub(crate) fn new(events: Events, streams: Streams, delivery: Option<Delivery>) -> Self {
        if let Some(delivery) = &delivery {
            delivery.attend();
        }
        Self { events, streams, delivery, answered: false }
    }
}

impl Stream for Attended {
    type Item = ServerSseMessage;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // Being polled again means that the previous piece was written.
        if let Some(delivery) = this.delivery.take_if(|_| this.answered) {
            delivery.arrived();
        }
        let polled = this.events.as_mut().poll_next(context);
        if let (Poll::Ready(Some(event)), Some(delivery)) = (&polled, &this.delivery) {
            if let Some(number) = event.event_id.as_deref().and_then(number) {
                this.streams.add(number, delivery);
            }
            this.answered |= event.message.as_deref().is_some_and(is_answer);
        }
        polled
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        if let Some(delivery) = &self.delivery {
            delivery.leave(clock::monotonic());
        }
    }
}

fn is_answer(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
}
