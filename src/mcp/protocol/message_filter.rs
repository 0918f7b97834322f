//! Keeps from the protocol library what would end it or mislead it before a
//! client has settled how it talks.
//!
//! The first messages decide between a session and requests that stand for
//! themselves. Until then the library takes a notification or an answer for
//! the end of everything, and any request with the newest revision's metadata
//! for the decision. Nobody waits for the former: it is dropped. What stands
//! for an unreadable line is answered here, at any time.
//!
//! It also sees which answers are written, and when none can be any more.

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

/// A transport that lets only requests through until it is opened.
pub(crate) struct Gate<T> {
    inner: T,
    settled: Arc<AtomicBool>,
    read: Read,
    gone: CancellationToken,
    unheard: CancellationToken,
    /// Of the requests that are not answered yet.
    deliveries: HashMap<RequestId, Delivery>,
}

impl<T> Gate<T> {
    /// `settled` opens it. `gone` is cancelled when the client is gone, and
    /// `unheard` here, when nothing can be written to it.
    pub(crate) fn new(
        inner: T,
        settled: Arc<AtomicBool>,
        read: Read,
        gone: CancellationToken,
        unheard: CancellationToken,
    ) -> Self {
        Self { inner, settled, read, gone, unheard, deliveries: HashMap::new() }
    }

    /// The answer to what the library is not to see.
    fn refused(&self, message: &RxJsonRpcMessage<RoleServer>) -> Option<ServerJsonRpcMessage> {
        let (error, id) = match message {
            RxJsonRpcMessage::<RoleServer>::Request(request) => {
                let custom = match &request.request {
                    ClientRequest::CustomRequest(custom) => Some(custom),
                    _ => None,
                };
                let error = if self.deliveries.contains_key(&request.id) {
                    // Its answer could not be told from that of the other.
                    let message = "another request with this id is not answered yet";
                    ErrorData::invalid_request(message, None)
                } else if custom.is_some_and(|custom| custom.method == "initialize") && !self.is_settled() {
                    // Its parameters are not of its kind.
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

    /// Has a request carry what becomes of its answer.
    fn follow(&mut self, message: &mut RxJsonRpcMessage<RoleServer>) {
        match message {
            RxJsonRpcMessage::<RoleServer>::Request(request) => {
                let delivery = Delivery::new(&self.read, self.gone.child_token());
                request.request.extensions_mut().insert(delivery.clone());
                self.deliveries.insert(request.id.clone(), delivery);
            }
            // What is cancelled is not answered.
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

/// The request that a message answers.
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
            // The library takes whatever comes before `initialize` for a request without a session.
            if answer.error.code == ErrorCode::INVALID_PARAMS && !self.is_settled() {
                answer.error.message.to_mut().push_str("; a session begins with `initialize`");
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
                // On its own: what is written is not to be torn apart when nobody waits here any more.
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

/// The error that a message gets which stands for an unreadable line.
fn unreadable(method: &str, params: Option<&serde_json::Value>) -> Option<ErrorData> {
    let params = params.filter(|_| method == stdin_lines::UNREADABLE)?;
    let reason = params["reason"].as_str().unwrap_or_default().to_owned();
    Some(ErrorData::new(stdin_lines::code(&reason), reason, None))
}

/// For a method that exists and was given something else.
pub(crate) fn bad_parameters(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("the parameters of `{method}` are not of its kind"), None)
}
