//! Serves MCP over HTTP: one address, any number of clients.
//!
//! `guard` checks requests, `connection` limits a connection, and the SDK speaks the protocol. Every session,
//! and every request without one, gets its own server object: clients share only the registry.

mod connection;
mod connection_limits;
mod delivery_body;
mod guard;
mod session_responses;
mod sessions;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::config::ToolProfile;
use crate::context::TaskError;
use crate::host::Env;
use crate::host::Home;
use crate::host::Token;
use crate::host::{Reachability, listen};
use crate::mcp::protocol::Read;
use crate::mcp::protocol::Server;
use crate::mcp::protocol::Shared;
use crate::mcp::serve::{self, LEAVE};
use connection_limits::Places;
use guard::Guard;
use sessions::Sessions;

/// The only path.
const PATH: &str = "/mcp";
/// A session that is idle for this long is closed, and the client must open a new one. Longer than any wait
/// and than any break in a working day.
const SESSION_IDLE: Duration = Duration::from_secs(12 * 60 * 60);
/// The pause before accepting again when the system is out of descriptors.
const BREATH: Duration = Duration::from_millis(200);

/// A server with its address and token that does not accept connections yet.
#[derive(Debug)]
pub(crate) struct Listening {
    listener: TcpListener,
    address: SocketAddr,
    token_file: PathBuf,
    guard: Guard,
}

/// Why the server stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Ctrl-C.
    Interrupted,
    /// SIGTERM.
    Asked,
}

/// Handles requests: the guard first, then the SDK.
struct Door {
    guard: Arc<Guard>,
    mcp: StreamableHttpService<Server, Sessions>,
    read: Read,
    stop: CancellationToken,
}

/// Binds `address` if the configuration allows it.
pub(crate) fn listen(env: &Env, address: SocketAddr) -> Result<Listening, TaskError> {
    let config = Config::load(env)?;
    let most = if config.http_allow_remote { Reachability::Network } else { Reachability::Machine };
    let token_file = Home::open(env)?.token();
    let token = Token::open(&token_file)?;
    let listener = listen::listen(address, most)?;
    // Port 0 has been replaced by a real one.
    let address = listener.local_addr().unwrap_or(address);
    let guard = Guard::new(address, config.http_origins, token);
    Ok(Listening { listener, address, token_file, guard })
}

impl Listening {
    pub(crate) fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    pub(crate) fn token_file(&self) -> &Path {
        &self.token_file
    }

    /// Serves until a signal ends it. Runs go on.
    pub(crate) fn serve(self, env: Env, profile: ToolProfile) -> io::Result<Ended> {
        let runtime = serve::runtime()?;
        let ended = runtime.block_on(async {
            let mut interrupted = signal(SignalKind::interrupt())?;
            let mut asked = signal(SignalKind::terminate())?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let shared = Shared::new(env.clone());
            tokio::spawn(shared.clone().rest_between_calls());
            let (stop, read, patience) =
                (CancellationToken::new(), shared.read.clone(), shared.patience.clone());
            let places = Places::new();
            let door = Arc::new(Door::new(env, profile, self.guard, &stop, shared));
            let ended = tokio::select! {
                never = accept(&listener, &door, &places, &stop) => match never {},
                _ = interrupted.recv() => Ended::Interrupted,
                _ = asked.recv() => Ended::Asked,
            };
            drop(listener);
            patience.close();
            stop.cancel();
            let _ = tokio::time::timeout(LEAVE, places.empty()).await;
            // For results delivered just before the end.
            read.settle();
            Ok(ended)
        });
        runtime.shutdown_background();
        ended
    }
}

/// Accepts connections for ever.
async fn accept(
    listener: &tokio::net::TcpListener,
    door: &Arc<Door>,
    places: &Arc<Places>,
    stop: &CancellationToken,
) -> ! {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            places.evict();
            tokio::time::sleep(BREATH).await;
            continue;
        };
        tokio::spawn(connection::serve(stream, door.clone(), places.enter(), stop.clone()));
    }
}

impl Door {
    fn new(env: Env, profile: ToolProfile, guard: Guard, stop: &CancellationToken, shared: Shared) -> Self {
        let mut open = LocalSessionManager::default();
        open.session_config.keep_alive = Some(SESSION_IDLE);
        let read = shared.read.clone();
        let sessions = Arc::new(Sessions::new(open, read.clone(), stop.clone()));
        // The SDK also checks hosts and origins.
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_cancellation_token(stop.clone())
            .with_allowed_hosts(guard.hosts())
            .with_allowed_origins(guard.origins())
            .enforce_origin_validation();
        let gone = stop.clone();
        let server = move || Ok(Server::new(env.clone(), profile, gone.child_token(), shared.clone()));
        let mcp = StreamableHttpService::new(server, sessions, config);
        Self { guard: Arc::new(guard), mcp, read, stop: stop.clone() }
    }
}
