//! The answers of a session: an answer whose connection broke can be asked for
//! again on another one, as long as its call goes on.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_core::Stream;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::ServerSseMessage;

use crate::host::clock;
use crate::mcp::protocol::{Delivery, Known};

pub(crate) type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// Which answers of a session are under way, by the numbers of their streams.
#[derive(Clone, Default)]
pub(crate) struct Streams(Arc<Mutex<Vec<(u64, Known)>>>);

impl Streams {
    /// The answer that goes on after this event.
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

/// The stream that an event belongs to: events of a request are called
/// `<which>/<stream>`.
fn number(event: &str) -> Option<u64> {
    event.split_once('/')?.1.parse().ok()
}

/// What goes out on one connection.
pub(crate) struct Attended {
    events: Events,
    streams: Streams,
    /// Until it has arrived.
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
        // Whoever asks for more has written what came before.
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
