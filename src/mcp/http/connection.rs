//! Serves one HTTP connection: limits on size and time, and the answers that do not come from the SDK.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::host::listen;
use crate::mcp::http::Door;
use crate::mcp::http::connection_limits::Place;
use crate::mcp::http::delivery_body::{Admission, Handed};
use crate::mcp::http::guard::{Admitted, Refusal};
use crate::mcp::protocol::Delivery;
use crate::mcp::protocol::Scan;
use crate::mcp::protocol::stdin_lines;

/// A task is at most 1 MiB, but JSON may escape one byte as several.
const LONGEST_BODY: usize = 4 << 20;
/// Leaves room for headers that clients add; more gets 431.
const LONGEST_HEAD: usize = 32 << 10;
const MOST_HEADERS: usize = 64;
/// How long the headers may take, and how long a connection may idle between requests.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);
const BODY_PATIENCE: Duration = Duration::from_secs(30);
/// How long a client may go without reading its answer.
const READER_PATIENCE: Duration = Duration::from_secs(60);

/// What scripts of a web page may send and read (CORS).
const ALLOWED_METHODS: &str = "POST, GET, DELETE";
const ALLOWED_HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id";
const EXPOSED_HEADERS: &str = "mcp-session-id, mcp-protocol-version, www-authenticate";

type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Serves requests on `stream` until either side closes it.
pub(crate) async fn serve(stream: TcpStream, door: Arc<Door>, place: Place, stop: CancellationToken) {
    let _ = stream.set_nodelay(true);
    listen::give_up_after(&stream, READER_PATIENCE);
    let answer = service_fn(|request| {
        let (door, place) = (door.clone(), &place);
        async move { Ok::<_, Infallible>(door.answer(request, place).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_headers(MOST_HEADERS)
        .max_buf_size(LONGEST_HEAD);
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), answer));
    // An error ends this connection and concerns no other.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = place.evicted() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

impl Door {
    async fn answer(&self, request: Request<Incoming>, place: &Place) -> Answer {
        let admitted = self.guard.admit(request.method(), request.uri(), request.headers());
        let origin = self.guard.origin(request.headers()).cloned();
        let mut answer = match admitted {
            Ok(Admitted::Request) => {
                place.admit().await;
                self.pass(request).await
            }
            Ok(Admitted::Preflight) => preflight(),
            Err(refusal) => refuse(refusal),
        };
        if let Some(origin) = origin {
            let headers = answer.headers_mut();
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            set(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
            set(headers, header::VARY, "origin");
        }
        answer
    }

    /// Passes a request to the SDK once it has arrived completely, without its token.
    async fn pass(&self, request: Request<Incoming>) -> Answer {
        let (mut head, body) = request.into_parts();
        let Some(authorization) = head.headers.remove(header::AUTHORIZATION) else {
            return refuse(Refusal::Token);
        };
        let admission = Admission { guard: self.guard.clone(), authorization };
        match read(body).await {
            Ok(body) => {
                if let Some(reason) = wrong(&body).filter(|_| is_message(&head)) {
                    return unreadable(&body, reason);
                }
                let delivery = Delivery::new(&self.read, self.stop.child_token());
                head.extensions.insert(delivery.clone());
                let answer = self.mcp.handle(Request::from_parts(head, Full::new(body))).await;
                // It may have taken long.
                if !admission.is_valid() {
                    delivery.lost();
                    return refuse(Refusal::Token);
                }
                answer.map(|body| Handed::new(body, delivery, admission).boxed())
            }
            Err((status, text)) => {
                let mut answer = plain(status, text);
                set(answer.headers_mut(), header::CONNECTION, "close");
                answer
            }
        }
    }
}

async fn read(body: Incoming) -> Result<Bytes, (StatusCode, &'static str)> {
    let too_long = (StatusCode::PAYLOAD_TOO_LARGE, "the request is longer than 4 MiB\n");
    if body.size_hint().lower() > LONGEST_BODY as u64 {
        return Err(too_long);
    }
    let whole = Limited::new(body, LONGEST_BODY).collect();
    match tokio::time::timeout(BODY_PATIENCE, whole).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_long),
        Ok(Err(_)) => Err((StatusCode::BAD_REQUEST, "the request is incomplete\n")),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time\n")),
    }
}

/// Whether the headers announce an MCP message.
fn is_message(head: &Parts) -> bool {
    let kind = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    head.method == Method::POST && kind.is_some_and(|kind| kind.starts_with("application/json"))
}

/// Why a body is not a valid message, or `None` if it is.
fn wrong(body: &[u8]) -> Option<&'static str> {
    stdin_lines::wrong(body).or_else(|| {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let is_one = ["method", "result", "error"].iter().any(|name| message.get(name).is_some());
        match body.trim_ascii() {
            b"" => Some("the message is empty"),
            _ => (!is_one).then_some(stdin_lines::MISSHAPEN),
        }
    })
}

/// The protocol error for such a body.
fn unreadable(body: &[u8], reason: &str) -> Answer {
    let error = json!({ "code": stdin_lines::code(reason), "message": reason });
    let error = json!({ "jsonrpc": "2.0", "id": Scan::of(body).id(), "error": error });
    let mut answer = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
    *answer.status_mut() = StatusCode::BAD_REQUEST;
    set(answer.headers_mut(), header::CONTENT_TYPE, "application/json");
    answer
}

fn refuse(refusal: Refusal) -> Answer {
    let mut answer = plain(refusal.status(), refusal.text());
    set(answer.headers_mut(), header::CONNECTION, "close");
    if refusal == Refusal::Token {
        set(answer.headers_mut(), header::WWW_AUTHENTICATE, "Bearer");
    }
    answer
}

fn preflight() -> Answer {
    let mut answer = plain(StatusCode::NO_CONTENT, "");
    let headers = answer.headers_mut();
    set(headers, header::ACCESS_CONTROL_ALLOW_METHODS, ALLOWED_METHODS);
    set(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
    answer
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    set(answer.headers_mut(), header::CONTENT_TYPE, "text/plain; charset=utf-8");
    answer
}

fn set(headers: &mut HeaderMap, name: header::HeaderName, value: &'static str) {
    headers.insert(name, HeaderValue::from_static(value));
}
