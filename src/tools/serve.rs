//! Runs the server: over standard input and output, until the client is gone.

use std::io;

use rmcp::ServiceExt;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::input::Input;
use super::server::Server;
use super::shared::{MOST_CALLS, Shared};
use crate::config::Profile;
use crate::host::env::Env;

/// Serves one client on standard input and output. Returns when it is gone.
pub(crate) fn serve(env: Env, profile: Profile) -> io::Result<()> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let gone = CancellationToken::new();
        let (input, output) = rmcp::transport::io::stdio_pipes();
        let input = Input::new(input, gone.clone());
        let shared = Shared::new(env.clone());
        tokio::spawn(shared.clone().keep_the_queue_later());
        let server = Server::new(env, profile, gone, shared);
        let Ok(running) = server.serve((input, output)).await else { return };
        let _ = running.waiting().await;
    });
    // A call that is still at it owns no run: nobody waits for it.
    runtime.shutdown_background();
    Ok(())
}

/// One thread for all talking; calls get theirs as they come.
pub(super) fn runtime() -> io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(MOST_CALLS).build()
}
