//! The first messages: every revision is spoken, and whatever comes before a client has settled how it talks does no harm.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

#[test]
fn every_revision_without_batches_is_spoken_and_others_get_the_newest_with_sessions() {
    let env = TestEnv::new();
    let newest = "2025-11-25";
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        // Not offered, because of its batches; who speaks it may know nothing newer.
        ("2025-03-26", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("1999-01-01", newest),
        ("2030-01-01", newest),
        ("2026-07-28", newest),
        ("", newest),
    ] {
        let mut client = Client::silent(&env, Era::Session);
        assert_eq!(client.open(asked, json!({})).as_deref(), Some(agreed), "{asked}");
        client.result("ping", json!({}));
        client.call("delegate_status", json!({})).unwrap();
        client.leave();
    }
    let mut client = Client::silent(&env, Era::Stateless);
    let found = client.result("server/discover", json!({}));
    assert_eq!(
        found["supportedVersions"],
        json!(["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"]),
        "{found}"
    );
    client.open("", json!({}));
    client.call("delegate_status", json!({})).unwrap();
    client.leave();
}

#[test]
fn what_nobody_waits_for_ends_no_server_that_was_not_greeted_yet() {
    let env = TestEnv::new();
    let early = [
        json!({ "method": "notifications/initialized" }),
        json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } }),
        json!({ "method": "notifications/roots/list_changed" }),
        json!({ "method": "notifications/unheard/of" }),
        json!({ "id": 5, "result": {} }),
        json!({ "id": 5, "error": { "code": 1, "message": "x" } }),
    ];
    // What is answered, and settles nothing.
    let before: [fn(&mut Client); 4] = [
        |_| {},
        |client| drop(ask(client, "server/discover", modern())),
        |client| drop(ask(client, "ping", json!({}))),
        |client| assert_eq!(ask(client, "tools/list", json!({}))["error"]["code"], -32602),
    ];
    for era in [Era::Session, Era::Stateless] {
        for before in before {
            let mut client = Client::silent(&env, era);
            before(&mut client);
            for message in &early {
                let mut message = message.clone();
                message["jsonrpc"] = "2.0".into();
                client.raw(format!("{message}\n").as_bytes());
            }
            client.open("2025-06-18", json!({}));
            client.call("delegate_status", json!({})).unwrap();
            client.leave();
        }
    }
}

#[test]
fn an_unreadable_first_line_does_not_settle_how_a_client_talks() {
    let env = TestEnv::new();
    let lines: [(&[u8], i64); 4] = [
        (b"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"x\xff\"}\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"server/discover\",\"params\":{\"x\":\"\\ud800\"}}\n", -32700),
        (b"{\"id\":900 broken\n", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"initialize\",\"params\":[]}\n", -32600),
    ];
    for era in [Era::Session, Era::Stateless] {
        for (line, code) in lines {
            let mut client = Client::silent(&env, era);
            client.raw(line);
            assert_eq!(client.answer(900)["error"]["code"], code);
            client.open("2025-06-18", json!({}));
            client.call("delegate_status", json!({})).unwrap();
            client.leave();
        }
    }
}

#[test]
fn a_request_before_the_greeting_is_told_how_a_session_begins() {
    let env = TestEnv::new();
    let mut client = Client::silent(&env, Era::Session);
    let told = ask(&mut client, "tools/list", json!({}))["error"].clone();
    assert_eq!(told["code"], -32602, "{told}");
    assert!(told["message"].as_str().unwrap().contains("starts with `initialize`"), "{told}");
    client.open("2025-06-18", json!({}));
    client.leave();
}

#[test]
fn a_greeting_of_the_wrong_kind_is_told_so_and_the_next_one_is_heard() {
    let env = TestEnv::new();
    let mut client = Client::silent(&env, Era::Session);
    let told = ask(&mut client, "initialize", json!({ "protocolVersion": 5 }))["error"].clone();
    assert_eq!(told["code"], -32602);
    assert!(told["message"].as_str().unwrap().contains("parameters for `initialize`"), "{told}");
    client.open("2025-06-18", json!({}));
    client.leave();
}

#[test]
fn a_server_that_nobody_can_hear_says_so_and_fails() {
    let env = TestEnv::new();
    let mut command = env.command(&["serve"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = command.spawn().unwrap();
    drop(server.stdout.take());
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).unwrap();
    // It ends while it could still be talked to.
    let output = server.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("the server stopped"), "{}: {said}", output.status);
    assert!(said.lines().count() == 1 && !said.contains("::"), "{said}");
}

fn ask(client: &mut Client, method: &str, params: Value) -> Value {
    let id = client.begin_as_it_is(method, params);
    client.answer(id)
}

fn modern() -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } })
}
