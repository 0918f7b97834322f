//! Filters messages that would end or confuse the protocol library before a client has chosen a session or not.
//!
//! The first messages decide between a session and independent requests. Until then, the library treats a
//! notification or a response as fatal, and any request with the newest revision's metadata as the decision.
//! Notifications and responses are dropped until then, because nobody waits for an answer to them. Messages that
//! stand for an unreadable line are always answered here.
//!
//! The filter also records which answers are written, and when the output is closed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, ErrorData, GetExtensions, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::delivery::Delivery;
use crate::mcp::protocol::read_receipts::Read;
use crate::mcp::protocol::refused_methods;
use crate::mcp::protocol::stdin_lines;

/// A transport that passes only requests until the client has decided.
pub(crate) struct Gate<T> {
    inner: T,
    settled: Arc<AtomicBool>,
    read: Read,
    gone: CancellationToken,
    unheard: CancellationToken,
    /// The requests that are not answered yet.
    deliveries: HashMap<RequestId, Delivery>,
}

impl<T> Gate<T> {
    /// `settled` opens the filter. `gone` is cancelled when the client is gone; the filter cancels `unheard` when
    /// nothing can be written to the client.
    pub(crate) fn new(
        inner: T,
        settled: Arc<AtomicBool>,
        read: Read,
        gone: CancellationToken,
        unheard: CancellationToken,
    ) -> Self {
        Self { inner, settled, read, gone, unheard, deliveries: HashMap::new() }
    }

    /// The answer to a message that must not reach the library.
    fn refused(&self, message: &RxJsonRpcMessage<RoleServer>) -> Option<ServerJsonRpcMessage> {
        let (error, id) = match message {
            RxJsonRpcMessage::<RoleServer>::Request(request) => {
                let custom = match &request.request {
                    ClientRequest::CustomRequest(custom) => Some(custom),
                    _ => None,
                };
                let error = if self.deliveries.contains_key(&request.id) {
                    // The client could not tell the two answers apart.
                    let message = "another request with this id is not answered yet";
                    ErrorData::invalid_request(message, None)
                } else if custom.is_some_and(|custom| custom.method == "initialize") && !self.is_settled() {
                    // Its parameters do not parse.
                    bad_parameters("initialize")
                } else {
                    custom.and_then(|custom| unreadable(&custom.method, custom.params.as_ref()))?
                };
                (error, Some(request.id.clone()))
            }
            RxJsonRpcMessage::<RoleServer>::Notification(notification) => {
                let ClientNotification::CustomNotification(custom) = &notification.notification else {
                    return None;
                };
                (unreadable(&custom.method, custom.params.as_ref())?, None)
            }
            RxJsonRpcMessage::<RoleServer>::Response(_) | RxJsonRpcMessage::<RoleServer>::Error(_) => {
                return None;
            }
        };
        Some(ServerJsonRpcMessage::error(error, id))
    }

    fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// Attaches a delivery to the request.
    fn follow(&mut self, message: &mut RxJsonRpcMessage<RoleServer>) {
        match message {
            RxJsonRpcMessage::<RoleServer>::Request(request) => {
                let delivery = Delivery::new(&self.read, self.gone.child_token());
                request.request.extensions_mut().insert(delivery.clone());
                self.deliveries.insert(request.id.clone(), delivery);
            }
            // A cancelled request gets no answer.
            RxJsonRpcMessage::<RoleServer>::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.deliveries.remove(id);
                }
            }
            RxJsonRpcMessage::<RoleServer>::Response(_) | RxJsonRpcMessage::<RoleServer>::Error(_) => {}
        }
    }
}

/// The id of the request that a message answers.
fn answered(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        TxJsonRpcMessage::<RoleServer>::Response(response) => Some(&response.id),
        TxJsonRpcMessage::<RoleServer>::Error(error) => error.id.as_ref(),
        TxJsonRpcMessage::<RoleServer>::Request(_) | TxJsonRpcMessage::<RoleServer>::Notification(_) => None,
    }
}

impl<T: Transport<RoleServer, Error = io::Error>> Transport<RoleServer> for Gate<T> {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "standard input and output".into()
    }

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let TxJsonRpcMessage::<RoleServer>::Error(answer) = &mut item {
            refused_methods::explain(&mut answer.error);
            // The library treats any request before `initialize` as one without a session.
            if answer.error.code == ErrorCode::INVALID_PARAMS && !self.is_settled() {
                answer.error.message.to_mut().push_str("; a session starts with `initialize`");
            }
        }
        let delivery = answered(&item).and_then(|id| self.deliveries.remove(id));
        let (sending, unheard) = (self.inner.send(item), self.unheard.clone());
        async move {
            let sent = sending.await;
            match (&sent, delivery) {
                (Ok(()), Some(delivery)) => delivery.arrived(),
                (Ok(()), None) => {}
                (Err(_), _) => unheard.cancel(),
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let mut message = self.inner.receive().await?;
            if let Some(error) = self.refused(&message) {
                // On a task of its own, so that dropping this future does not cut a message in half.
                tokio::spawn(self.inner.send(error));
                continue;
            }
            self.follow(&mut message);
            if self.is_settled() || matches!(message, RxJsonRpcMessage::<RoleServer>::Request(_)) {
                return Some(message);
            }
        }
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.inner.close()
    }
}

/// The error for a message that stands for an unreadable line.
fn unreadable(method: &str, params: Option<&serde_json::Value>) -> Option<ErrorData> {
    let params = params.filter(|_| method == stdin_lines::UNREADABLE)?;
    let reason = params["reason"].as_str().unwrap_or_default().to_owned();
    Some(ErrorData::new(stdin_lines::code(&reason), reason, None))
}

/// The error for a known method with invalid parameters.
pub(crate) fn bad_parameters(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("invalid parameters for `{method}`"), None)
}
