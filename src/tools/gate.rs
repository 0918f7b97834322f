//! Keeps from the protocol library what would end it or mislead it before a
//! client has settled how it talks.
//!
//! The first messages decide between a session and requests that stand for
//! themselves. Until then the library takes a notification or an answer for
//! the end of everything, and any request with the newest revision's metadata
//! for the decision. Nobody waits for the former: it is dropped. What stands
//! for an unreadable line is answered here.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

use super::input;

/// A transport that lets only requests through until it is opened.
pub(super) struct Gate<T> {
    inner: T,
    settled: Arc<AtomicBool>,
}

impl<T> Gate<T> {
    /// `settled` opens it.
    pub(super) fn new(inner: T, settled: Arc<AtomicBool>) -> Self {
        Self { inner, settled }
    }
}

impl<T: Transport<RoleServer, Error = io::Error>> Transport<RoleServer> for Gate<T> {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "standard input and output".into()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            if self.settled.load(Ordering::Relaxed) {
                return Some(message);
            }
            let RxJsonRpcMessage::<RoleServer>::Request(request) = message else { continue };
            let error = match &request.request {
                // Its parameters are not of its kind.
                ClientRequest::CustomRequest(custom) if custom.method == "initialize" => {
                    Some(bad_parameters(&custom.method))
                }
                ClientRequest::CustomRequest(custom) => unreadable(&custom.method, custom.params.as_ref()),
                _ => None,
            };
            let Some(error) = error else {
                return Some(RxJsonRpcMessage::<RoleServer>::Request(request));
            };
            // Nothing else is under way yet: no answer of another is torn apart.
            self.inner.send(ServerJsonRpcMessage::error(error, Some(request.id))).await.ok()?;
        }
    }

    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        self.inner.close()
    }
}

/// The error that a request gets which stands for an unreadable line.
pub(super) fn unreadable(method: &str, params: Option<&serde_json::Value>) -> Option<ErrorData> {
    let params = params.filter(|_| method == input::UNREADABLE)?;
    let reason = params["reason"].as_str().unwrap_or_default().to_owned();
    let code = if reason == input::MISSHAPEN { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
    Some(ErrorData::new(code, reason, None))
}

/// For a method that exists and was given something else.
pub(super) fn bad_parameters(method: &str) -> ErrorData {
    ErrorData::invalid_params(format!("the parameters of `{method}` are not of its kind"), None)
}
