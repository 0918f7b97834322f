//! Runs the server: over standard input and output, until the client is gone.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::ServiceExt;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::gate::Gate;
use super::input::Input;
use super::server::Server;
use super::shared::{MOST_CALLS, Shared};
use crate::config::Profile;
use crate::host::env::Env;

/// Serves one client on standard input and output. Returns when it is gone; any
/// other end is an error.
pub(crate) fn serve(env: Env, profile: Profile) -> io::Result<()> {
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let gone = CancellationToken::new();
        let left = gone.clone();
        let (input, output) = rmcp::transport::io::stdio_pipes();
        let input = Input::new(input, gone.clone());
        let shared = Shared::new(env.clone());
        tokio::spawn(shared.clone().keep_the_queue_later());
        let server = Server::new(env, profile, gone, shared);
        let settled = Arc::new(AtomicBool::new(false));
        let transport = Gate::new(AsyncRwTransport::new_server(input, output), settled.clone());
        let ended = match server.serve(transport).await {
            Ok(running) => {
                settled.store(true, Ordering::Relaxed);
                running.waiting().await.map(|reason| format!("{reason:?}")).unwrap_or_else(|e| e.to_string())
            }
            Err(error) => error.to_string(),
        };
        if left.is_cancelled() { Ok(()) } else { Err(io::Error::other(ended)) }
    });
    // A call that is still at it owns no run: nobody waits for it.
    runtime.shutdown_background();
    ended
}

/// One thread for all talking; calls get theirs as they come.
pub(super) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(MOST_CALLS).build()
}
