//! A whole delegation over HTTP, in both eras.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::peer::{LEGACY, MODERN, Peer};
use crate::server::Server;
use crate::support::env::TestEnv;

/// Delegates, waits, and reads the result.
#[track_caller]
fn check(peer: &Peer) -> Value {
    let started = peer.call("delegate_run", json!({"task": "quick", "options": {"agent": "replay"}}));
    let task = started["task_id"].clone();
    assert!(task.as_str().is_some_and(|task| task.starts_with("T-local-")), "{started}");
    let waited = peer.call("delegate_wait", json!({"task_id": task}));
    assert_eq!(waited["data"]["state"], "completed", "{waited}");
    let results = peer.call("delegate_results", json!({"task_id": task, "include_output": true}));
    assert_eq!(results["data"]["state"], "completed", "{results}");
    assert_eq!(results["data"]["task_id"], task);
    json!([started, waited, results])
}

#[test]
fn a_client_with_a_session_delegates_waits_and_reads() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    check(&Peer::legacy(&server));
}

#[test]
fn a_client_without_sessions_delegates_waits_and_reads() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    check(&Peer::modern(&server));
}

#[test]
fn a_client_without_sessions_finds_out_what_there_is() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let peer = Peer::modern(&server);
    let found = peer.ask("server/discover", json!({}));
    let supported = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(supported.contains(&LEGACY.into()) && supported.contains(&MODERN.into()), "{found}");
    let answer = peer.begin("tools/list", json!({}));
    assert_eq!((answer.status, answer.header("mcp-session-id")), (200, None));
}

#[test]
fn what_the_headers_say_has_to_be_what_the_body_says() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).to_string();
    let modern = Client::of(&server).with("MCP-Protocol-Version", MODERN);
    assert_eq!(modern.with("Mcp-Method", "tools/list").post(&body).status, 200);
    for client in [modern.clone(), modern.with("Mcp-Method", "tools/call"), Client::of(&server)] {
        let mut answer = client.post(&body);
        assert_eq!(answer.status, 400);
        assert_eq!(answer.message().unwrap()["error"]["code"], -32020);
    }
}

#[test]
fn both_eras_are_told_the_same() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let tools = |peer: &Peer| peer.ask("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(tools(&Peer::legacy(&server)), tools(&Peer::modern(&server)));
}

#[test]
fn the_token_is_nowhere_but_in_its_file() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let peer = Peer::legacy(&server);
    let mut said = check(&peer).to_string();
    let file = env.home().join("http-token");
    for uri in [
        format!("file://{}", file.display()),
        "delegator://http-token".into(),
        "delegator://tasks/../http-token".into(),
    ] {
        let answer = peer.ask("resources/read", json!({"uri": uri}));
        assert!(answer.get("error").is_some(), "{uri}: {answer}");
        said += &answer.to_string();
    }
    let asked = [
        ("delegate_results", json!({"task_id": "../http-token"})),
        ("delegate_run", json!({"task": file, "options": {"agent": "replay"}})),
        ("inspect_output", json!({"file_path": file})),
        ("inspect_output", json!({"file_path": "http-token"})),
    ];
    for (tool, arguments) in asked {
        let answer = peer.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"]["isError"] == true || answer.get("error").is_some(), "{tool}: {answer}");
        said += &answer.to_string();
    }
    assert!(!said.contains(&server.token));
    let environment = fs::read(format!("/proc/{}/environ", server.pid())).unwrap();
    let command = fs::read(format!("/proc/{}/cmdline", server.pid())).unwrap();
    assert!(!String::from_utf8_lossy(&[environment, command].concat()).contains(&server.token));
    for found in files_below(env.root()).iter().filter(|found| **found != file) {
        let bytes = fs::read(found).unwrap_or_default();
        assert!(memchr::memmem::find(&bytes, server.token.as_bytes()).is_none(), "{}", found.display());
    }
}

fn files_below(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(dir).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
