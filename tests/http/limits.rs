//! What a client may cost: bytes, headers, time.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Answer, Client};
use crate::peer::Peer;
use crate::server::Server;
use crate::support::env::TestEnv;

const MEBIBYTE: usize = 1 << 20;

/// Sends the bytes as they are, as far as the server takes them.
fn sent(client: &Client, bytes: &[u8]) -> Answer {
    let mut stream = client.connect();
    // The answer may come, and the connection end, before all of it is sent.
    let _ = stream.write_all(bytes);
    client.answer(stream)
}

#[test]
fn a_body_that_says_it_is_too_long_is_not_even_read() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let client = Client::of(&server).with("Content-Length", &(5 * MEBIBYTE).to_string());
    assert_eq!(sent(&client, client.head("POST", "/mcp").as_bytes()).status, 413);
}

#[test]
fn a_body_that_turns_out_too_long_is_given_up() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let client = Client::of(&server).with("Transfer-Encoding", "chunked");
    let mut bytes = client.head("POST", "/mcp").into_bytes();
    let chunk = format!("{MEBIBYTE:x}\r\n{}\r\n", " ".repeat(MEBIBYTE));
    for _ in 0..5 {
        bytes.extend_from_slice(chunk.as_bytes());
    }
    assert_eq!(sent(&client, &bytes).status, 413);
    // What one client tried does not trouble the next.
    assert!(Peer::modern(&server).ask("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn a_long_task_fits() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let task = "é".repeat(MEBIBYTE);
    let answer =
        Peer::modern(&server).ask("tools/call", json!({"name": "delegate_run", "arguments": {"task": task}}));
    // Too long for a task, and still read and answered as such.
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[test]
fn a_head_has_its_limits_too() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let client = Client::of(&server);
    let long = client.with("X-Long", &"x".repeat(100_000));
    assert_eq!(sent(&client, long.head("POST", "/mcp").as_bytes()).status, 431);
    let many = (0..200).fold(client.clone(), |client, at| client.with(&format!("X-{at}"), "x"));
    assert_eq!(sent(&client, many.head("POST", "/mcp").as_bytes()).status, 431);
}

#[test]
fn what_is_no_request_gets_an_error_and_troubles_nobody() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let client = Client::of(&server);
    for bytes in [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"GET\r\n\r\n", b"POST /mcp HTTP/9.9\r\n\r\n"] {
        let mut stream = client.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{answer:?}");
    }
    for body in ["", "{", "[]", "null", "[[[[", "{\"jsonrpc\":\"2.0\"}", &"[".repeat(100_000)] {
        let status = client.post(body).status;
        assert!((400..500).contains(&status), "{status} for {:.40}", body);
    }
    assert!(Peer::legacy(&server).ask("tools/list", json!({}))["result"]["tools"].is_array());
}

#[test]
fn a_message_that_cannot_be_read_gets_an_error_of_the_protocol() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let legacy = Peer::legacy(&server);
    for client in [legacy.session(), Peer::modern(&server).session()] {
        for (body, code, id) in [
            ("", -32700, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":", -32700, json!(7)),
            ("[{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}]", -32600, json!(null)),
            ("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[]}", -32600, json!(7)),
        ] {
            let mut answer = client.post(body);
            assert_eq!((answer.status, answer.header("content-type")), (400, Some("application/json")));
            let message = answer.message().unwrap();
            assert_eq!((&message["error"]["code"], &message["id"]), (&json!(code), &id), "{body}: {message}");
        }
    }
    let plain = Client::of(&server).with("Content-Type", "text/plain");
    assert_eq!(plain.post("{").status, 415);
}

/// More than there are places for, whether they say nothing, half a request, or keep a connection on which they were
/// refused.
#[test]
fn connections_without_the_token_keep_nobody_out() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let member = Client::of(&server);
    let stranger = member.with("Authorization", "Bearer wrong").with("Content-Length", "0");
    let refused = stranger.head("POST", "/mcp");
    // A member that came first stays.
    let mut first = member.connect();
    let hello = member.with("Content-Length", "0").head("POST", "/mcp");
    first.write_all(hello.as_bytes()).unwrap();
    let mut byte = [0];
    first.read_exact(&mut byte).unwrap();
    // A server that waits until strangers are silent for too long takes 30 s.
    let begun = Instant::now();
    let strangers: Vec<TcpStream> = (0..400)
        .map(|number| {
            let mut stream = member.connect();
            let said = ["", &refused[..30], &refused][number % 3];
            // It may be gone by now, for those that came after it.
            let _ = stream.write_all(said.as_bytes());
            stream
        })
        .collect();
    assert!(Peer::modern(&server).ask("tools/list", json!({}))["result"]["tools"].is_array());
    assert!(Peer::legacy(&server).ask("tools/list", json!({}))["result"]["tools"].is_array());
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let open = fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count();
    assert!(open < 320, "{open} descriptors");
    first.write_all(hello.as_bytes()).unwrap();
    assert_eq!(first.read(&mut byte).unwrap(), 1, "the member's connection was ended");
    drop(strangers);
}

/// Whoever says nothing for half a minute is left alone: in the head, in the
/// body, and before anything.
#[test]
fn a_slow_client_is_not_waited_for() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let client = Client::of(&server).with("Content-Length", "100");
    let begun = Instant::now();
    let head = client.head("POST", "/mcp");
    let silent: Vec<TcpStream> = ["", &head[..40], &format!("{head}{{\"jsonrpc\"")]
        .iter()
        .map(|bytes| {
            let mut stream = client.connect();
            stream.write_all(bytes.as_bytes()).unwrap();
            stream
        })
        .collect();
    for mut stream in silent {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 408"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(45), "{:?}", begun.elapsed());
}
