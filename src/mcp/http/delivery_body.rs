//! A response body that notices whether it was delivered completely, and ends once its token is no longer valid.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::HeaderValue;

use crate::mcp::http::guard::Guard;
use crate::mcp::protocol::Delivery;

pub(crate) struct Handed {
    body: BoxBody<Bytes, Infallible>,
    delivery: Delivery,
    admission: Admission,
    whole: bool,
}

/// The token with which a request was admitted.
pub(crate) struct Admission {
    pub(crate) guard: Arc<Guard>,
    pub(crate) authorization: HeaderValue,
}

impl Admission {
    pub(crate) fn is_valid(&self) -> bool {
        self.guard.is_valid(&self.authorization)
    }
}

impl Handed {
    pub(crate) fn new(body: BoxBody<Bytes, Infallible>, delivery: Delivery, admission: Admission) -> Self {
        Self { body, delivery, admission, whole: false }
    }
}

impl Body for Handed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(context);
        // A stream has at least a heartbeat to send every 15 s.
        if matches!(polled, Poll::Ready(Some(_))) && !this.admission.is_valid() {
            return Poll::Ready(None);
        }
        // After a piece that is known to be the last, the body is not polled again.
        let is_end = matches!(polled, Poll::Ready(None)) || polled.is_ready() && this.body.is_end_stream();
        if is_end && !this.whole {
            this.whole = true;
            this.delivery.arrived();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Handed {
    fn drop(&mut self) {
        if !self.whole {
            self.delivery.lost();
        }
    }
}
