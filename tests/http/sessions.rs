//! Several clients of one server: what they share is the registry, and nothing else.

use std::fs;

use serde_json::json;

use crate::client::Answer;
use crate::peer::{Peer, answer_in};
use crate::server::Server;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// Begins to wait for a task, and returns when the server has begun too.
fn wait_for_task(peer: &Peer, task: &str) -> Answer {
    let params =
        json!({"name": "delegate_wait", "arguments": {"task_id": task}, "_meta": {"progressToken": "w"}});
    let mut waiting = peer.begin("tools/call", params);
    assert_eq!(waiting.message().unwrap()["method"], "notifications/progress");
    waiting
}

/// A run that goes on until `side/go` is there.
fn held(env: &TestEnv) -> String {
    let go = env.side().join("go");
    env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", go.display())).task_id
}

fn let_go(env: &TestEnv) {
    fs::write(env.side().join("go"), "").unwrap();
}

#[track_caller]
fn a_client_that_goes_away_leaves_the_run_alone(of: impl Fn(&Server) -> Peer) {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let peer = of(&server);
    let task = held(&env);
    drop(wait_for_task(&peer, &task));
    let state = || peer.call("delegate_results", json!({"task_id": task}))["data"]["state"].clone();
    assert_eq!(state(), "working");
    // The next one waits for the same run, and gets its result.
    let mut again = wait_for_task(&peer, &task);
    let_go(&env);
    assert_eq!(answer_in(&mut again)["result"]["structuredContent"]["data"]["state"], "completed");
    assert_eq!(state(), "completed");
}

#[test]
fn a_client_that_goes_away_while_it_waits_leaves_the_run_alone() {
    a_client_that_goes_away_leaves_the_run_alone(Peer::modern);
}

#[test]
fn a_client_with_a_session_that_goes_away_while_it_waits_leaves_the_run_alone() {
    a_client_that_goes_away_leaves_the_run_alone(Peer::legacy);
}

#[test]
fn a_wait_ends_with_the_client_that_went_away() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let peer = Peer::modern(&server);
    let task = held(&env);
    // Whoever waits sleeps on one of these, and so does the server itself.
    let sleepers = || {
        let descriptors = fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().flatten();
        let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
        links.filter(|link| link.as_os_str() == "anon_inode:inotify").count()
    };
    let settle_at = |count| wait_for("the sleepers", PATIENCE, || (sleepers() == count).then_some(()));
    peer.call("delegate_status", json!({}));
    settle_at(1);
    let waiting = wait_for_task(&peer, &task);
    settle_at(2);
    drop(waiting);
    settle_at(1);
}

#[test]
fn a_client_that_waits_does_not_keep_others_up() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let task = held(&env);
    let (one, other) = (Peer::legacy(&server), Peer::modern(&server));
    let mut parked: Vec<Answer> = (0..20).map(|_| wait_for_task(&one, &task)).collect();
    let quick = other
        .call("delegate_run", json!({"task": "quick", "options": {"agent": "replay"}, "wait_ms": 20_000}));
    assert_eq!(quick["status"], "completed", "{quick}");
    let_go(&env);
    for waiting in &mut parked {
        assert_eq!(answer_in(waiting)["result"]["structuredContent"]["data"]["state"], "completed");
    }
}

#[test]
fn each_session_has_its_own_directories() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let places = ["one", "two"].map(|name| env.root().join(name));
    let peers = places.each_ref().map(|place| {
        fs::create_dir(place).unwrap();
        (Peer::legacy_with(&server, json!({"roots": {}})), place)
    });
    let mut runs = Vec::new();
    // Twice in turns: what the server keeps of one client is not told to the other.
    for (peer, place) in peers.iter().chain(&peers) {
        let params = json!({"name": "delegate_run", "arguments": {"task": "quick", "options": {"agent": "replay", "dedupe": false}}});
        let mut answer = peer.begin("tools/call", params);
        let started = loop {
            let message = answer.message().unwrap();
            match message["method"].as_str() {
                Some("roots/list") => {
                    let roots = json!({"roots": [{"uri": format!("file://{}", place.display())}]});
                    let told = peer.tell(&json!({"id": message["id"], "result": roots}));
                    assert_eq!(told.status, 202);
                }
                Some(_) => {}
                None => break message,
            }
        };
        let run =
            started["result"]["structuredContent"]["run_id"].as_str().unwrap_or_else(|| panic!("{started}"));
        let request = fs::read_to_string(env.run_dir(run).join("request.json")).unwrap();
        let request: serde_json::Value = serde_json::from_str(&request).unwrap();
        assert_eq!(request["cwd"], json!(place), "{request}");
        runs.push(started["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned());
    }
    // A client that named none stands where the server does, and sees neither's.
    let listed = Peer::modern(&server).call("delegate_status", json!({})).to_string();
    assert!(!runs.iter().any(|task| listed.contains(task)), "{listed}");
    let own = peers[0].0.call("delegate_status", json!({})).to_string();
    assert!(own.contains(&runs[0]) && !own.contains(&runs[1]), "{own}");
}

#[test]
fn sessions_that_nobody_uses_make_room_for_others() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}).to_string();
    let (kept, forgotten) = (Peer::legacy(&server), Peer::legacy(&server));
    for _ in 0..2 {
        (0..128).for_each(|_| drop(Peer::legacy(&server)));
        assert_eq!(kept.session().post(&ping).status, 200);
    }
    assert_eq!(forgotten.session().post(&ping).status, 404);
}

#[test]
fn each_session_is_told_of_what_it_follows() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let sessions: Vec<(Peer, Answer, String)> = (0..2)
        .map(|_| {
            let peer = Peer::legacy(&server);
            let uri = format!("delegator://tasks/{}", held(&env));
            let stream = peer.session().send("GET", "/mcp", "");
            assert_eq!(stream.status, 200);
            let answer = peer.ask("resources/subscribe", json!({"uri": uri}));
            assert!(answer["result"].is_object(), "{answer}");
            (peer, stream, uri)
        })
        .collect();
    let_go(&env);
    for (peer, mut stream, uri) in sessions {
        let told = stream.message().unwrap();
        assert_eq!(told["method"], "notifications/resources/updated");
        assert_eq!(told["params"]["uri"], uri.as_str());
        drop(peer);
    }
}

#[test]
fn a_session_is_known_until_it_is_ended() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let (peer, other) = (Peer::legacy(&server), Peer::legacy(&server));
    let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}).to_string();
    assert_eq!(peer.session().post(&ping).status, 200);
    assert_eq!(peer.session().send("DELETE", "/mcp", "").status, 202);
    assert_eq!(peer.session().post(&ping).status, 404);
    assert_eq!(other.session().post(&ping).status, 200);
    let guessed = other.session().with("Mcp-Session-Id", "00000000-0000-4000-8000-000000000000");
    assert_eq!(guessed.post(&ping).status, 404);
    let stolen = other.session().without("Authorization");
    assert_eq!(stolen.post(&ping).status, 401);
}

#[test]
fn no_client_of_either_era_writes_to_what_git_obeys() {
    let env = TestEnv::new();
    let hooks = env.work().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    let server = Server::start(&env);
    for peer in [Peer::legacy(&server), Peer::modern(&server)] {
        for asked in [json!({"cwd": hooks}), json!({"options": {"add_dirs": [".git"]}})] {
            let mut arguments =
                json!({"task": "look", "sandbox": "workspace-write", "skip_git_repo_check": true});
            arguments.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
            let told = peer.ask("tools/call", json!({"name": "delegate_run", "arguments": arguments}));
            let text = told["result"]["content"][0]["text"].as_str().unwrap_or_default();
            assert!(text.contains("what git or an agent obeys"), "{told}");
        }
    }
}
