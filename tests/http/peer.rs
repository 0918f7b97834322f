//! An MCP client of either era, by hand: nothing in between corrects what is
//! sent or hides what comes back.

use std::cell::Cell;

use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::server::Server;

pub const LEGACY: &str = "2025-11-25";
pub const MODERN: &str = "2026-07-28";

pub struct Peer {
    client: Client,
    revision: &'static str,
    next: Cell<u64>,
}

impl Peer {
    /// A client that has shaken hands, and has a session.
    pub fn legacy(server: &Server) -> Peer {
        Peer::legacy_with(server, json!({}))
    }

    pub fn legacy_with(server: &Server, capabilities: Value) -> Peer {
        let client = Client::of(server);
        let hello = json!({
            "protocolVersion": LEGACY,
            "capabilities": capabilities,
            "clientInfo": {"name": "tests", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
        let mut answer = client.post(&hello.to_string());
        assert_eq!(answer.status, 200);
        let session = answer.header("mcp-session-id").expect("a session").to_owned();
        assert_eq!(answer.message().unwrap()["result"]["protocolVersion"], LEGACY);
        let client = client.with("Mcp-Session-Id", &session).with("MCP-Protocol-Version", LEGACY);
        let peer = Peer { client, revision: LEGACY, next: Cell::new(1) };
        assert_eq!(peer.tell(&json!({"method": "notifications/initialized"})).status, 202);
        peer
    }

    /// A client without any session.
    pub fn modern(server: &Server) -> Peer {
        let client = Client::of(server).with("MCP-Protocol-Version", MODERN);
        Peer { client, revision: MODERN, next: Cell::new(1) }
    }

    pub fn session(&self) -> &Client {
        &self.client
    }

    /// Sends what wants no answer.
    pub fn tell(&self, message: &Value) -> Answer {
        let mut message = message.clone();
        message["jsonrpc"] = "2.0".into();
        self.client.post(&message.to_string())
    }

    /// Sends a request, for somebody who wants to see the answer come.
    pub fn begin(&self, method: &str, params: Value) -> Answer {
        let id = self.next.replace(self.next.get() + 1);
        let mut params = params;
        let mut client = self.client.clone();
        if self.revision == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "tests", "version": "1"});
            client = client.with("Mcp-Method", method);
            if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                client = client.with("Mcp-Name", name);
            }
        }
        client.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())
    }

    /// The message that answers a request.
    #[track_caller]
    pub fn ask(&self, method: &str, params: Value) -> Value {
        answer_in(&mut self.begin(method, params))
    }

    /// What a tool answers, which must be no error.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        assert!(result["isError"] != true && result.is_object(), "{tool}: {answer}");
        result["structuredContent"].clone()
    }
}

/// The answer in a stream that may hold other messages before it.
#[track_caller]
pub fn answer_in(stream: &mut Answer) -> Value {
    loop {
        let message = stream.message().expect("an answer before the end");
        if message.get("method").is_none() {
            return message;
        }
    }
}
