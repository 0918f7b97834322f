//! `delegator serve`: runs the MCP server.

use std::net::{AddrParseError, SocketAddr};

use clap::Args;

use crate::cli::invocation::Call;
use crate::cli::{print, usage_errors};
use crate::config::{Config, ToolProfile};
use crate::failure::{Code, Exit, Failure};
use crate::host::{Env, env};
use crate::mcp::Ended;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Tools to list: `default`, `all`, which adds the primitives, or `codex`, the one tool for plain words
    #[arg(long, value_name = "PROFILE")]
    tools: Option<ToolProfile>,
    /// Serve any number of clients over HTTP at this address, such as 127.0.0.1:8931; port 0 takes a free one
    ///
    /// Clients send `Authorization: Bearer TOKEN`. The token is created once and
    /// stored in `http-token` in delegator's home, readable only by its owner.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    http: Option<SocketAddr>,
}

impl Serve {
    pub(super) fn run(self, call: &Call) -> Result<Exit, Failure> {
        let profile = self.profile(&call.env)?;
        match self.http {
            Some(address) => http(call, address, profile),
            None => {
                if std::io::IsTerminal::is_terminal(&std::io::stdin()) {
                    print::note(
                        "delegator: this command speaks MCP on standard input; docs/clients.md explains how a client starts it",
                    );
                }
                crate::mcp::serve(call.env.clone(), profile).map_err(|error| unable(&error))?;
                Ok(Exit::Done)
            }
        }
    }

    /// The option overrides the variable, which overrides the configuration.
    fn profile(&self, env: &Env) -> Result<ToolProfile, Failure> {
        if let Some(asked) = self.tools {
            return Ok(asked);
        }
        match env.text(env::TOOLS).map(str::parse) {
            Some(Ok(profile)) => Ok(profile),
            Some(Err(message)) => {
                Err(usage_errors::bad(format!("{}: {message}", env::TOOLS), "unset it, or correct it"))
            }
            // Every call reports a configuration that cannot be read.
            None => Ok(Config::load(env).unwrap_or_default().profile()),
        }
    }
}

fn http(call: &Call, address: SocketAddr, profile: ToolProfile) -> Result<Exit, Failure> {
    let listening = crate::mcp::listen(&call.env, address)?;
    print::note(&format!(
        "delegator: serving {}; the token is in {}",
        listening.url(),
        listening.token_file().display()
    ));
    match listening.serve(call.env.clone(), profile).map_err(|error| unable(&error))? {
        Ended::Interrupted => Ok(Exit::Interrupted),
        Ended::Asked => Ok(Exit::Done),
    }
}

/// Parses an address with its port; `localhost` means 127.0.0.1.
fn address(text: &str) -> Result<SocketAddr, AddrParseError> {
    match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}").parse(),
        None => text.parse(),
    }
}

fn unable(error: &std::io::Error) -> Failure {
    Failure::new(Code::Internal, Exit::Machine, format!("the server stopped: {error}"), None)
}
