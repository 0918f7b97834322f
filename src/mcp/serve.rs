//! Runs the server over standard input and output until the client is gone.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::config::ToolProfile;
use crate::host::Env;
use crate::mcp::protocol::Gate;
use crate::mcp::protocol::Input;
use crate::mcp::protocol::Server;
use crate::mcp::protocol::{MOST_CALLS, Shared};

/// How long to keep writing answers after the client has closed its input.
pub(crate) const LEAVE: Duration = Duration::from_secs(2);

/// Serves one client on standard input and output. Returns when the client is gone; any other end is an error.
pub(crate) fn serve(env: Env, profile: ToolProfile) -> io::Result<()> {
    let runtime = runtime()?;
    let (ended, read) = runtime.block_on(async {
        let gone = CancellationToken::new();
        let left = gone.clone();
        let (input, output) = rmcp::transport::io::stdio_pipes();
        let input = Input::new(input, gone.clone());
        let shared = Shared::new(env.clone());
        tokio::spawn(shared.clone().rest_between_calls());
        let read = shared.read.clone();
        let server = Server::new(env, profile, gone.clone(), shared);
        let (settled, unheard) = (Arc::new(AtomicBool::new(false)), CancellationToken::new());
        let transport = AsyncRwTransport::new_server(input, output);
        let transport = Gate::new(transport, settled.clone(), read.clone(), gone, unheard.clone());
        let ended = match server.serve(transport).await {
            Ok(running) => {
                settled.store(true, Ordering::Relaxed);
                tokio::select! {
                    ended = running.waiting() => ended.map_or_else(|e| e.to_string(), |why| format!("{why:?}")),
                    () = unheard.cancelled() => "standard output is closed".to_owned(),
                    () = leave(&left) => String::new(),
                }
            }
            Err(error) => error.to_string(),
        };
        let ended = if left.is_cancelled() { Ok(()) } else { Err(io::Error::other(ended)) };
        (ended, read)
    });
    // Do not wait for calls in progress: none of them owns a run.
    runtime.shutdown_background();
    read.settle();
    ended
}

/// Returns a limited time after the client has closed its input, because it may still read answers.
async fn leave(gone: &CancellationToken) {
    gone.cancelled().await;
    tokio::time::sleep(LEAVE).await;
}

/// One thread for the protocol; each call gets a thread of its own.
pub(crate) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(MOST_CALLS).build()
}
