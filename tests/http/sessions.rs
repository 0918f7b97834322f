//! Several clients of one server: what they share is the registry, and nothing else.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::client::Answer;
use crate::peer::{Peer, answer_in};
use crate::server::Server;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// Less than the protocol library takes to notice that nobody listens.
const SOON: Duration = Duration::from_secs(4);
/// A wait given up sooner teaches nothing.
const GIVEN_UP_AFTER: Duration = Duration::from_millis(1300);

/// Begins to wait for a task, and returns when the server has begun too.
pub fn wait_for_task(peer: &Peer, task: &str) -> Answer {
    let params =
        json!({"name": "delegate_wait", "arguments": {"task_id": task}, "_meta": {"progressToken": "w"}});
    let mut waiting = peer.begin("tools/call", params);
    assert_eq!(waiting.message().unwrap()["method"], "notifications/progress");
    waiting
}

/// A run that goes on until `side/go` is there.
pub fn held(env: &TestEnv) -> String {
    let go = env.side().join("go");
    env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", go.display())).task_id
}

pub fn let_go(env: &TestEnv) {
    fs::write(env.side().join("go"), "").unwrap();
}

/// How many sleep in the server: each wait, and one that looks after the queue.
fn sleepers(server: &Server) -> usize {
    let descriptors = fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().flatten();
    let links = descriptors.filter_map(|entry| fs::read_link(entry.path()).ok());
    links.filter(|link| link.as_os_str() == "anon_inode:inotify").count()
}

#[track_caller]
pub fn settle_at(server: &Server, count: usize) {
    wait_for("the sleepers", PATIENCE, || (sleepers(server) == count).then_some(()));
}

/// Begins a call that waits for a run, and returns when the server waits too. The run goes on until it is cancelled.
fn begin_to_wait(env: &TestEnv, peer: &Peer, tool: &str) -> (Answer, String) {
    let options = json!({"agent": "replay", "dedupe": false});
    let arguments = match tool {
        "delegate_wait" => json!({"task_id": held(env)}),
        _ => json!({"task": "fix-test --speed 0.01", "wait_ms": 60_000, "options": options}),
    };
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "w"}});
    let mut waiting = peer.begin("tools/call", params);
    assert_eq!(waiting.message().unwrap()["method"], "notifications/progress");
    let running = env.json(&["status", "--json"]);
    (waiting, running["data"]["tasks"][0]["task_id"].as_str().unwrap().to_owned())
}

fn end_run(env: &TestEnv, task: &str) {
    env.run(&["cancel", task]);
    env.await_final(task);
}

fn end_session(peer: &Peer) {
    assert_eq!(peer.session().send("DELETE", "/mcp", "").status, 202);
}

pub fn is_unread(env: &TestEnv, task: &str) -> bool {
    let status = env.json(&["status", task, "--json"]);
    status["data"]["recently_completed"][0]["unread"].as_bool().unwrap_or_else(|| panic!("{status}"))
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
    peer.call("delegate_status", json!({}));
    settle_at(&server, 1);
    let waiting = wait_for_task(&peer, &task);
    settle_at(&server, 2);
    drop(waiting);
    settle_at(&server, 1);
}

#[test]
fn a_wait_ends_with_its_session() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let task = held(&env);
    // Whether or not its connection was there to the end.
    for stays in [true, false] {
        let peer = Peer::legacy(&server);
        let waiting = wait_for_task(&peer, &task);
        settle_at(&server, 2);
        let stays = stays.then_some(waiting);
        end_session(&peer);
        wait_for("the end of the wait", SOON, || (sleepers(&server) == 1).then_some(()));
        drop(stays);
    }
    assert_eq!(env.json(&["status", &task, "--json"])["data"]["tasks"][0]["state"], "working");
}

/// Who asks, and how it goes away before there is an answer.
struct Way {
    of: fn(&Server) -> Peer,
    leave: fn(&Peer, Answer),
}

#[test]
fn a_client_that_vanishes_in_a_wait_gets_shorter_ones() {
    let ways = [
        Way { of: Peer::modern, leave: |_, stream| drop(stream) },
        Way { of: Peer::legacy, leave: |peer, _stream| end_session(peer) },
    ];
    for Way { of, leave } in ways {
        let env = TestEnv::new();
        let server = Server::start(&env);
        let task = held(&env);
        let peer = of(&server);
        let waiting = wait_for_task(&peer, &task);
        std::thread::sleep(GIVEN_UP_AFTER);
        leave(&peer, waiting);
        let kept = env.home().join("patience.json");
        wait_for("the server to learn", PATIENCE, || kept.exists().then_some(()));
        let mut next = wait_for_task(&of(&server), &task);
        let_go(&env);
        let waited = answer_in(&mut next)["result"]["structuredContent"]["meta"]["waited_limit_ms"].clone();
        assert!(waited.as_u64().is_some_and(|limit| limit < 10_000), "{waited}");
    }
}

#[test]
fn a_result_that_nobody_got_stays_unread() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let ways = [
        Way { of: Peer::legacy, leave: |_, stream| drop(stream) },
        Way {
            of: Peer::legacy,
            leave: |peer, stream| {
                drop(stream);
                end_session(peer);
            },
        },
        Way { of: Peer::legacy, leave: |peer, _stream| end_session(peer) },
        Way { of: Peer::modern, leave: |_, stream| drop(stream) },
    ];
    for tool in ["delegate_wait", "delegate_run"] {
        for (at, Way { of, leave }) in ways.iter().enumerate() {
            let peer = of(&server);
            let (waiting, task) = begin_to_wait(&env, &peer, tool);
            leave(&peer, waiting);
            end_run(&env, &task);
            settle_at(&server, 1);
            let status = Peer::modern(&server).call("delegate_status", json!({}));
            let notice = status["meta"]["notice"].as_str().unwrap_or_default();
            assert!(is_unread(&env, &task) && notice.contains(&task), "{tool}, {at}: {status}");
            // Whoever gets it has read it.
            let result = peer_of(&server, at).call("delegate_results", json!({"task_id": task}));
            assert_eq!((&result["data"]["state"], result["meta"].get("notice")), (&json!("cancelled"), None));
            wait_for("the mark", PATIENCE, || (!is_unread(&env, &task)).then_some(()));
        }
    }
}

fn peer_of(server: &Server, at: usize) -> Peer {
    if at.is_multiple_of(2) { Peer::legacy(server) } else { Peer::modern(server) }
}

#[test]
fn an_answer_that_is_asked_for_again_is_had_and_read() {
    let env = TestEnv::new();
    let server = Server::start(&env);
    let peer = Peer::legacy(&server);
    let (waiting, task) = begin_to_wait(&env, &peer, "delegate_wait");
    let seen = waiting.last_event().to_owned();
    drop(waiting);
    let mut again = peer.session().with("Last-Event-ID", &seen).send("GET", "/mcp", "");
    end_run(&env, &task);
    let answer = answer_in(&mut again);
    assert_eq!(answer["result"]["structuredContent"]["data"]["state"], "cancelled", "{answer}");
    wait_for("the mark", PATIENCE, || (!is_unread(&env, &task)).then_some(()));
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
            assert!(text.contains("files that control git or an agent"), "{told}");
        }
    }
}
