//! Who gets in, and what everybody else is told.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;

use crate::client::{Answer, Client};
use crate::peer::{LEGACY, Peer};
use crate::server::Server;
use crate::sessions::{held, is_unread, let_go, settle_at, wait_for_task};
use crate::support::env::TestEnv;

/// A request that everybody may make who may make any.
fn hello() -> String {
    serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}},
    })
    .to_string()
}

/// Sends what `change` makes of a good request to `target`.
#[track_caller]
fn check(change: impl Fn(&Server, Client) -> (Client, String), status: u16) -> (String, Vec<Option<String>>) {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let (client, target) = change(&server, Client::of(&server));
    let answer = client.send("POST", &target, &hello());
    assert_eq!(answer.status, status);
    let headers = ["www-authenticate", "mcp-session-id"].map(|name| answer.header(name).map(str::to_owned));
    let text = answer.text();
    assert!(!text.contains(&server.token), "the token is in {text}");
    (text, headers.to_vec())
}

#[track_caller]
fn refused(change: impl Fn(&Server, Client) -> Client, status: u16) {
    let (_, headers) = check(|server, client| (change(server, client), "/mcp".into()), status);
    let challenge = (status == 401).then(|| "Bearer".to_owned());
    assert_eq!(headers, [challenge, None]);
}

#[test]
fn whoever_shows_the_token_is_let_in() {
    let (text, headers) = check(|_, client| (client, "/mcp".into()), 200);
    assert!(text.contains("\"serverInfo\"") && headers[1].is_some(), "{text}");
}

#[test]
fn without_a_token_nobody_is_let_in() {
    refused(|_, client| client.without("Authorization"), 401);
}

#[test]
fn a_wrong_token_is_no_token() {
    refused(|_, client| client.with("Authorization", &format!("Bearer {}", "0".repeat(64))), 401);
    refused(|server, client| client.with("Authorization", &format!("Bearer {}", &server.token[1..])), 401);
    refused(|server, client| client.with("Authorization", &format!("Basic {}", server.token)), 401);
}

#[test]
fn a_token_is_worth_nothing_once_its_file_is_gone_or_holds_another() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let file = env.home().join("http-token");
    let hello = hello();
    let session = Peer::legacy(&server);
    let told = |client: &Client| client.post(&hello).status;
    let old = Client::of(&server);
    assert_eq!(told(&old), 200);
    fs::remove_file(&file).unwrap();
    assert_eq!(told(&old), 401);
    assert_eq!(session.tell(&serde_json::json!({"method": "notifications/initialized"})).status, 401);
    // The next server makes a new one, which is the one for both.
    let next = Server::start(&env);
    assert_ne!(next.token, server.token);
    assert_eq!(told(&old), 401);
    assert_eq!(told(&old.with("Authorization", &format!("Bearer {}", next.token))), 200);
}

#[test]
fn a_stream_ends_with_nothing_more_in_it_once_its_token_is_worth_nothing() {
    let changes: [fn(PathBuf) -> io::Result<()>; 2] =
        [fs::remove_file, |file| fs::write(file, "0".repeat(64))];
    for change in changes {
        let env = TestEnv::new();
        let server = Server::start(&env);
        let peer = Peer::legacy(&server);
        let task = held(&env);
        let mut listening = peer.session().send("GET", "/mcp", "");
        let uri = format!("delegator://tasks/{task}");
        assert!(peer.ask("resources/subscribe", serde_json::json!({"uri": uri}))["result"].is_object());
        let mut waiting = wait_for_task(&peer, &task);
        change(env.home().join("http-token")).unwrap();
        let_go(&env);
        // What was under way before that may still arrive, but both end, and nothing tells the result.
        let both =
            [&mut listening, &mut waiting].map(|stream| std::iter::from_fn(|| stream.message()).collect());
        let told: Vec<serde_json::Value> = both.into_iter().flat_map(|told: Vec<_>| told).collect();
        assert!(told.iter().all(|message| message["method"].is_string()), "{told:?}");
        assert!(is_unread(&env, &task));
    }
}

#[test]
fn an_answer_that_took_longer_than_its_token_was_valid_is_refused() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let peer = Peer::modern(&server);
    let task = held(&env);
    peer.call("delegate_status", serde_json::json!({}));
    settle_at(&server, 1);
    let wait = serde_json::json!({"name": "delegate_wait", "arguments": {"task_id": task}});
    let waiting = thread::spawn(move || peer.begin("tools/call", wait).status);
    settle_at(&server, 2);
    fs::remove_file(env.home().join("http-token")).unwrap();
    let_go(&env);
    assert_eq!(waiting.join().unwrap(), 401);
    assert!(is_unread(&env, &task));
}

#[test]
fn a_token_in_the_address_is_no_token() {
    for name in ["token", "access_token", "authorization"] {
        let target = |server: &Server| format!("/mcp?{name}={}", server.token);
        check(|server, client| (client.without("Authorization"), target(server)), 401);
    }
}

#[test]
fn a_foreign_name_for_this_machine_is_refused_with_and_without_the_token() {
    let names = |server: &Server| {
        let port = server.address.port();
        [
            format!("evil.example:{port}"),
            "evil.example".into(),
            "127.0.0.1".into(),
            format!("localhost:{}", port - 1),
        ]
    };
    for at in 0..4 {
        refused(|server, client| client.with("Host", &names(server)[at]), 403);
        refused(|server, client| client.without("Authorization").with("Host", &names(server)[at]), 403);
    }
    refused(|_, client| client.without("Host"), 403);
}

#[test]
fn a_page_in_a_browser_is_refused_with_and_without_the_token() {
    let own = |server: &Server| format!("http://{}", server.address);
    refused(|server, client| client.with("Origin", &own(server)), 403);
    for origin in ["http://evil.example", "http://localhost", "null"] {
        refused(|_, client| client.with("Origin", origin), 403);
        refused(|_, client| client.without("Authorization").with("Origin", origin), 403);
    }
}

#[test]
fn a_page_that_the_configuration_lists_needs_the_token_too() {
    let env = TestEnv::new();
    env.configure("http_origins = [\"http://localhost:6274\"]");
    let server = Server::start(&env);
    let page = Client::of(&server).with("Origin", "http://localhost:6274");
    let allowed = |answer: &Answer| answer.header("access-control-allow-origin").map(str::to_owned);

    let asked = page
        .without("Authorization")
        .with("Access-Control-Request-Method", "POST")
        .send("OPTIONS", "/mcp", "");
    assert_eq!((asked.status, allowed(&asked).as_deref()), (204, Some("http://localhost:6274")));
    assert!(asked.header("access-control-allow-headers").unwrap().contains("authorization"));
    let stranger = page.without("Authorization").post(&hello());
    assert_eq!((stranger.status, allowed(&stranger).as_deref()), (401, Some("http://localhost:6274")));
    let guest = page.post(&hello());
    assert_eq!((guest.status, allowed(&guest).as_deref()), (200, Some("http://localhost:6274")));
    let other = page.with("Origin", "http://localhost:6275").post(&hello());
    assert_eq!((other.status, allowed(&other)), (403, None));
}

#[test]
fn there_is_one_path() {
    for target in ["/", "/mcp/", "/sse", "/.well-known/oauth-protected-resource", "/http-token"] {
        check(|_, client| (client, target.into()), 404);
    }
}

#[test]
fn a_client_has_to_take_what_it_will_get() {
    refused(|_, client| client.with("Accept", "text/html"), 406);
    refused(|_, client| client.without("Accept"), 406);
    refused(|_, client| client.with("Content-Type", "text/plain"), 415);
    refused(|_, client| client.without("Content-Type"), 415);
}
