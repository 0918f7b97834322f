//! What a server must live through: lines that are no messages, messages that are no requests, and any bytes at all.

use serde_json::json;

use crate::client::{Client, Era};
use crate::support::env::TestEnv;
use crate::support::kill::Dice;

/// The server still answers, and at once.
#[track_caller]
fn alive(client: &mut Client) {
    client.result("tools/list", json!({}));
}

#[test]
fn a_request_that_cannot_be_read_is_answered_with_an_error() {
    let env = TestEnv::new();
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let long = "x".repeat(50_000_000);
        let cases: [(&str, Vec<u8>); 7] = [
            (
                "not UTF-8",
                b"{\"jsonrpc\":\"2.0\",\"id\":9001,\"method\":\"tools/call\",\"params\":{\"name\":\"\xff\"}}"
                    .to_vec(),
            ),
            (
                "nested too deeply",
                format!("{{\"jsonrpc\":\"2.0\",\"id\":9002,\"method\":\"tools/call\",\"params\":{deep}}}")
                    .into_bytes(),
            ),
            (
                "longer than 16 MiB",
                format!(
                    "{{\"jsonrpc\":\"2.0\",\"id\":9003,\"method\":\"tools/call\",\"params\":\"{long}\"}}"
                )
                .into_bytes(),
            ),
            (
                "longer than 16 MiB",
                format!(
                    "{{\"method\":\"tools/call\",\"params\":{{\"id\":1,\"x\":\"{long}\"}},\"jsonrpc\":\"2.0\",\"id\":9004}}"
                )
                .into_bytes(),
            ),
            ("not JSON", b"{\"jsonrpc\":\"2.0\",\"id\":9005,\"method\":".to_vec()),
            (
                "that cannot be represented",
                b"{\"jsonrpc\":\"2.0\",\"id\":9006,\"method\":\"ping\",\"params\":1e999}".to_vec(),
            ),
            (
                "that cannot be represented",
                b"{\"jsonrpc\":\"2.0\",\"id\":9007,\"method\":\"ping\",\"params\":\"\\ud800\"}".to_vec(),
            ),
        ];
        for (number, (reason, line)) in (9001..).zip(cases) {
            client.raw(&line);
            client.raw(b"\n");
            let answer = client.answer(number);
            assert_eq!(answer["error"]["code"], -32700, "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(reason), "{answer}");
            alive(&mut client);
        }
        client.leave();
    }
}

#[test]
fn parameters_of_the_wrong_kind_and_unknown_methods_are_told_apart() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let (code, message) = client.error("tools/call", json!({ "name": "delegate_status", "arguments": [1] }));
    assert_eq!(code, -32602, "{message}");
    let (code, message) = client.error("tools/call", json!({ "name": "delegate_statu", "arguments": {} }));
    assert_eq!((code, message.contains("did you mean `delegate_status`")), (-32602, true), "{message}");
    let (code, message) = client.error("tools/call", json!({ "name": "_codex_local_run", "arguments": {} }));
    assert_eq!((code, message.contains("--tools all")), (-32602, true), "{message}");
    let (code, message) = client.error("foo/bar", json!({}));
    assert_eq!((code, message.contains("foo/bar")), (-32601, true), "{message}");
    alive(&mut client);
}

#[test]
fn a_message_that_is_no_request_is_answered_under_its_own_id() {
    let env = TestEnv::new();
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        for (id, rest) in [
            (9001, "\"jsonrpc\":\"2.0\",\"method\":5"),
            (9002, "\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":[]"),
            (9003, "\"jsonrpc\":\"1.0\",\"method\":\"ping\""),
        ] {
            client.raw(format!("{{\"id\":{id},{rest}}}\n").as_bytes());
            assert_eq!(client.answer(id)["error"]["code"], -32600);
        }
        alive(&mut client);
    }
}

#[test]
fn a_line_that_is_no_json_gets_a_parse_error_without_an_id() {
    let env = TestEnv::new();
    for era in [Era::Session, Era::Stateless] {
        // Before and after the client has settled how it talks.
        for mut client in [Client::silent(&env, era), Client::new(&env, era)] {
            for (line, code, reason) in [
                (&b"nonsense"[..], -32700, "not JSON"),
                (b"\xff\xfe\x00", -32700, "not UTF-8"),
                (b"{\"jsonrpc\":\"2.0\",\"method\":", -32700, "not JSON"),
                (b"[]", -32600, "batches"),
                (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, "batches"),
            ] {
                client.raw(line);
                client.raw(b"\n");
                let told = client.wait_for("an error without an id", |message| {
                    message["id"].is_null() && message.get("error").is_some()
                });
                assert_eq!(told["error"]["code"], code, "{told}");
                assert!(told["error"]["message"].as_str().unwrap().contains(reason), "{told}");
            }
            client.open("2025-11-25", json!({}));
            alive(&mut client);
            client.leave();
        }
    }
}

#[test]
fn a_cursor_that_was_never_handed_out_is_refused_by_every_list() {
    let env = TestEnv::new();
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        for list in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            let whole = client.result(list, json!({}));
            assert!(whole.get("nextCursor").is_none(), "{list}");
            for cursor in ["x", "", "9223372036854775807"] {
                let (code, message) = client.error(list, json!({ "cursor": cursor }));
                assert_eq!((code, message.contains("cursor")), (-32602, true), "{list}: {message}");
            }
            let (code, message) = client.error(list, json!({ "cursor": 5 }));
            assert_eq!((code, message.contains("cursor")), (-32602, true), "{list}: {message}");
        }
    }
}

#[test]
fn a_refused_method_says_why() {
    let env = TestEnv::new();
    for (era, cases) in [
        (
            Era::Session,
            &[
                ("foo/bar", json!({}), "this server has tools"),
                ("logging/setLevel", json!({ "level": "info" }), "no log messages"),
                ("subscriptions/listen", json!({ "notifications": {} }), "use `resources/subscribe`"),
                ("tasks/list", json!({}), "delegate_status"),
                ("roots/list", json!({}), "servers send to clients"),
                ("notifications/initialized", json!({}), "without an `id`"),
            ][..],
        ),
        (
            Era::Stateless,
            &[
                ("ping", json!({}), "no sessions"),
                ("logging/setLevel", json!({ "level": "info" }), "no log messages"),
                ("resources/subscribe", json!({ "uri": "delegator://tasks" }), "use `subscriptions/listen`"),
            ],
        ),
    ] {
        let mut client = Client::new(&env, era);
        for (method, params, why) in cases {
            let (code, message) = client.error(method, params.clone());
            assert!(code == -32601 && message.contains(method) && message.contains(why), "{code} {message}");
        }
        client.leave();
    }
}

#[test]
fn lines_that_nobody_waits_for_are_passed_over() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let lines: [&[u8]; 5] = [
        b"",
        b"{}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/nobody_knows\"}",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":77}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}",
    ];
    for line in lines {
        client.raw(line);
        client.raw(b"\n");
        alive(&mut client);
    }
    // The same id twice: each is answered, or one of them; nothing is stuck.
    client.raw(b"{\"jsonrpc\":\"2.0\",\"id\":500,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":500,\"method\":\"ping\"}\n");
    client.answer(500);
    alive(&mut client);
    // While the first is still at work, the second is refused, and the first goes on.
    let task = client.replay("fix-test --speed 0.01");
    let id = client.begin("tools/call", json!({ "name": "delegate_wait", "arguments": { "task_id": task } }));
    client.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
    assert_eq!(client.answer(id)["error"]["code"], -32600);
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
    assert_eq!(client.answer(id)["result"]["structuredContent"]["data"]["state"], "cancelled");
    // A request that was answered is cancelled: some clients do that after every call.
    let id = client.begin("tools/list", json!({}));
    client.answer(id);
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    alive(&mut client);
    client.leave();
}

/// A fuzz target without a fuzzer: messages that are nearly right, changed at random from a fixed seed. With
/// `DELEGATOR_FUZZ` set to a number, so many of them.
#[test]
fn damaged_messages_never_stop_the_server() {
    let rounds = std::env::var("DELEGATOR_FUZZ").ok().and_then(|number| number.parse().ok()).unwrap_or(2_000);
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let seeds = [
        json!({ "jsonrpc": "2.0", "id": "n", "method": "tools/call", "params": { "name": "delegate_status", "arguments": { "task_id": "T-local-0123456789ab" } } }),
        json!({ "jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": { "name": "delegate_run", "arguments": { "task": "", "options": { "agent": "replay", "timeout": { "idle_s": 1 } } } } }),
        json!({ "jsonrpc": "2.0", "id": "r", "method": "resources/read", "params": { "uri": "delegator://tasks" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } }),
        json!({ "jsonrpc": "2.0", "id": ["x"], "method": "completion/complete", "params": { "ref": { "type": "ref/prompt", "name": "plan" }, "argument": { "name": "x", "value": "" } } }),
    ];
    let mut dice = Dice::new(0x5eed);
    let mut below = |bound: usize| dice.below(bound as u64) as usize;
    for round in 0..rounds {
        let mut line = seeds[round % seeds.len()].to_string().into_bytes();
        for _ in 0..=below(4) {
            let at = below(line.len());
            match below(5) {
                0 => line[at] = below(256) as u8,
                1 if line.len() > 1 => drop(line.remove(at)),
                2 => line.insert(at, b"{}[]\",:0\\x\xc3"[below(11)]),
                3 => line.truncate(at.max(1)),
                _ => line.extend_from_within(at..),
            }
        }
        line.retain(|byte| *byte != b'\n');
        client.raw(&line);
        client.raw(b"\n");
        if round % 50 == 0 {
            alive(&mut client);
        }
    }
    alive(&mut client);
    client.leave();
    println!("damaged messages: {rounds}");
}
