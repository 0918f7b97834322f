//! The beginning and the end of a server.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use serde_json::json;

use crate::client::Client;
use crate::peer::Peer;
use crate::server::Server;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

#[test]
fn a_free_port_is_taken_and_told_and_nothing_else_is_said() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    assert_ne!(server.address.port(), 0);
    Peer::legacy(&server).call("delegate_status", json!({}));
    Client::of(&server).without("Authorization").post("{}");
    let ended = server.end(libc::SIGTERM);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn ctrl_c_ends_it_though_a_client_waits() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let task = env.submit("sleep 600").task_id;
    let peer = Peer::legacy(&server);
    let mut waiting = peer.begin(
        "tools/call",
        json!({"name": "delegate_wait", "arguments": {"task_id": task}, "_meta": {"progressToken": 1}}),
    );
    assert_eq!(waiting.message().unwrap()["method"], "notifications/progress");
    let ended = server.end(libc::SIGINT);
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(130), "", ""));
    assert_eq!(env.json(&["results", "--json", &task])["data"]["state"], "working");
}

#[test]
fn the_end_of_a_server_is_not_the_end_of_its_runs() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let address = server.address;
    let started = Peer::modern(&server)
        .call("delegate_run", json!({"task": "fix-test", "options": {"agent": "replay"}}));
    let task = started["task_id"].as_str().unwrap().to_owned();
    assert_eq!(server.end(libc::SIGTERM).code, Some(0));
    // Its supervisor holds nothing of the server's: the port is free.
    let next = Server::start_at(&env, &address.to_string());
    let listed = Peer::modern(&next).call("delegate_status", json!({}));
    assert!(listed.to_string().contains(&task), "{listed}");
    assert_eq!(env.await_final(&task), "completed");
}

/// Starts a server that must not start.
#[track_caller]
fn check(env: &TestEnv, address: &str, code: i32, line: &str, hint: &str) {
    let ran = env.expect(code, &["serve", "--http", address]);
    assert_eq!((ran.stdout.as_str(), ran.stderr), ("", format!("delegator: {line}\nhint: {hint}\n")));
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let env = TestEnv::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8931"] {
        let line = format!("`{address}` can be reached from other machines");
        check(
            &env,
            address,
            2,
            &line,
            "use 127.0.0.1, or set `http_allow_remote = true` in the configuration",
        );
    }
}

#[test]
fn an_address_that_others_can_reach_needs_configuration_and_the_token_and_no_name() {
    let env = TestEnv::new();
    env.configure("http_allow_remote = true");
    let mut server = Server::start_at(&env, "0.0.0.0:0");
    server.address.set_ip([127, 0, 0, 1].into());
    let client = Client::of(&server);
    let status = |client: &Client| client.post("{}").status;
    assert_eq!(status(&client.without("Authorization")), 401);
    assert_eq!(status(&client.with("Host", "evil.example")), 403);
    assert_eq!(status(&client.with("Origin", "http://evil.example")), 403);
    Peer::modern(&server).call("delegate_status", json!({}));
}

#[test]
fn a_port_in_use_is_said_in_one_line() {
    let env = TestEnv::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let line = format!("failed to listen on `{address}`: Address already in use (os error 98)");
    check(&env, &address, 6, &line, "choose another port; 0 takes any free port");
}

#[test]
fn what_is_no_address_is_refused() {
    let env = TestEnv::new();
    for address in ["8931", "localhost", "example.com:80", "127.0.0.1:99999", ""] {
        let ran = env.expect(2, &["serve", "--http", address]);
        assert_eq!((ran.stdout.as_str(), ran.stderr.lines().count()), ("", 2), "{}", ran.stderr);
    }
}

#[test]
fn localhost_is_an_address() {
    let env = TestEnv::new();
    let server = Server::start_at(&env, "localhost:0");
    assert!(server.address.ip().is_loopback());
}

#[test]
fn the_token_is_private_and_stays_the_same() {
    let env = TestEnv::new();
    let servers = [Server::start(&env), Server::start(&env)];
    assert_eq!(servers[0].token, servers[1].token);
    let found = fs::metadata(env.home().join("http-token")).unwrap();
    assert_eq!((found.mode() & 0o777, servers[0].token.len()), (0o600, 64));
    let other = TestEnv::new();
    assert_ne!(Server::start(&other).token, servers[0].token);
}

#[test]
fn servers_that_start_at_once_agree_on_the_token() {
    let env = TestEnv::new();
    let tokens: Vec<String> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..8).map(|_| scope.spawn(|| Server::start(&env).token.clone())).collect();
        starting.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
    assert_eq!(
        fs::read_dir(env.home())
            .unwrap()
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|kind| kind == "tmp"))
            .count(),
        0
    );
}

#[test]
fn a_token_that_others_can_read_is_not_used() {
    let env = TestEnv::new();
    drop(Server::start(&env));
    let file = env.home().join("http-token");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let line = format!("`{}` can be read by other users (mode 644)", file.display());
    let hint = "remove it: the next start makes a new one, which you then give to your clients";
    check(&env, "127.0.0.1:0", 6, &line, hint);
}

#[test]
fn a_server_at_rest_is_at_rest() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    Peer::legacy(&server).call("delegate_status", json!({}));
    // User and system time, in hundredths of a second.
    let spent = || -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", server.pid())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
    };
    let mut before = spent();
    wait_for("a second without work", PATIENCE, || {
        std::thread::sleep(std::time::Duration::from_secs(1));
        let now = spent();
        let rested = now == before;
        before = now;
        rested.then_some(())
    });
}
