//! A scripted model on the loopback interface that the real Codex, Claude Code and Gemini CLI
//! accept.
//!
//! It speaks the Responses API, and through it the Messages API and Gemini's, over server-sent
//! events with one request per connection. It stores every request for the test and knows nothing
//! of delegator. The script is part of the prompt: the last user message with a marker
//! `SCENARIO:name {arguments}` selects it, and the number of tool outputs after that selects the
//! step. The server is stateless, so it can serve any number of agents at once.

// Explicit paths: the file is a module root in one test target and a child in another.
#[path = "model/contents.rs"]
mod contents;
#[path = "model/http.rs"]
mod http;
#[path = "model/items.rs"]
mod items;
#[path = "model/messages.rs"]
mod messages;
#[path = "model/scenario.rs"]
mod scenario;

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use serde_json::Value;

pub use http::Request;
pub use items::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use scenario::Reply;

/// The task text that makes the model play `scenario`.
///
/// | scenario | arguments | what the model does |
/// |---|---|---|
/// | `plain` | | answers with one sentence |
/// | `answer` | `value` | answers with that text, or with that JSON |
/// | `shell` | `cmd`, any other argument of `exec_command` | runs a command, then answers |
/// | `patch` | `path`, `body` | adds a file, then answers |
/// | `plan` | `steps` | reports the plan before each step and after the last, then answers |
/// | `call` | `calls`: a list of `tool`, `args` or `text`, maybe `namespace` | calls those tools one by one, then answers |
/// | `status` | `code`, `body` | refuses with that HTTP status |
/// | `failed` | `code`, `message` | starts a response and fails it |
/// | `hang` | | takes the request and never sends a header |
///
/// An argument `{"seen": "T-"}` of a call becomes the first word with that prefix in the outputs of
/// earlier calls, which the model can know only from what the agent showed it.
///
/// Scenarios that end in an answer take it as `answer`, text or JSON. An invalid marker is refused
/// with HTTP 400 and the reason, so that a mistyped script fails its test.
pub fn task(scenario: &str, arguments: &Value) -> String {
    format!("SCENARIO:{scenario} {arguments}")
}

/// A running server. Dropping it closes all connections and ends its threads.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Listens on a free port of the loopback interface.
    pub fn start() -> io::Result<ModelServer> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let acceptor = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(ModelServer { address, shared, acceptor: Some(acceptor) })
    }

    /// The `base_url` in a `model_providers` table.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    /// The value of Claude Code's `ANTHROPIC_BASE_URL` and Gemini CLI's `GOOGLE_GEMINI_BASE_URL`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request received so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.stopping = true;
            for stream in state.live.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
        // `accept` has no timeout; a last connection makes it check `stopping`.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stopping: bool,
    requests: Vec<Request>,
    /// Open connections, so that stopping also reaches hanging ones.
    live: HashMap<usize, TcpStream>,
}

impl Shared {
    /// The state is consistent between any two statements, so a panic elsewhere does no harm.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut connections = Vec::new();
    for (number, stream) in listener.incoming().enumerate() {
        let Ok(stream) = stream else { continue };
        let Ok(copy) = stream.try_clone() else { continue };
        {
            let mut state = shared.lock();
            if state.stopping {
                break;
            }
            state.live.insert(number, copy);
        }
        let shared = Arc::clone(shared);
        connections.push(thread::spawn(move || {
            // A disconnected client is no error of the server.
            let _ = serve(&stream, number, &shared);
            // The copy in `live` would keep the connection open, but closing it ends the body.
            let _ = stream.shutdown(Shutdown::Both);
            shared.lock().live.remove(&number);
        }));
    }
    for connection in connections {
        let _ = connection.join();
    }
}

fn serve(mut stream: &TcpStream, number: usize, shared: &Shared) -> io::Result<()> {
    let request = Request::read(&mut BufReader::new(stream))?;
    let posted = |endpoint: &str| request.method == "POST" && request.path.ends_with(endpoint);
    let (messages, contents) = (posted("/messages"), posted(":streamGenerateContent"));
    let reply = if posted("/responses") {
        scenario::reply(&request.body, number)
    } else if messages {
        scenario::reply(&messages::as_responses(&request.body), number)
    } else if contents {
        scenario::reply(&contents::as_responses(&request.body), number)
    } else {
        Reply::refuse(404, "only the endpoints for responses, messages and contents are scripted")
    };
    shared.lock().requests.push(request);
    match reply {
        Reply::Items(items) if messages => http::write_events(stream, &messages::completed(&items, number)),
        Reply::Items(items) if contents => http::write_events(stream, &[contents::completed(&items, number)]),
        Reply::Items(items) => http::write_events(stream, &items::completed(&items, number)),
        Reply::Failed { code, message } => {
            http::write_events(stream, &items::failed(&code, &message, number))
        }
        Reply::Status { code, body } => http::write_json(stream, code, &body),
        // Returns when the client gives up or the server stops.
        Reply::Silence => stream.read_to_end(&mut Vec::new()).map(drop),
    }
}
