//! Who follows a run is told of it, once a second at most and at its end, in
//! both eras; who gives up is not.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Value, json};

use crate::client::{Client, Era, is_update};
use crate::support::env::{PATIENCE, TestEnv, wait_for};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Follows `uris` in the way of the era; the id of the request that stays open.
fn follow(client: &mut Client, era: Era, uris: &[String]) -> Option<u64> {
    match era {
        Era::Session => {
            for uri in uris {
                client.result("resources/subscribe", json!({ "uri": uri }));
            }
            None
        }
        Era::Stateless => {
            let wanted = json!({ "notifications": { "resourceSubscriptions": uris } });
            let id = client.begin("subscriptions/listen", wanted);
            let ack = client.wait_for("the acknowledgement", |message| {
                message["method"] == "notifications/subscriptions/acknowledged"
            });
            assert_eq!(ack["params"]["_meta"][SUBSCRIPTION], id);
            assert_eq!(ack["params"]["notifications"]["resourceSubscriptions"], json!(uris));
            Some(id)
        }
    }
}

/// The state that the task's own resource shows.
fn state(client: &mut Client, task: &str) -> String {
    let (text, _) = client.read(&format!("delegator://tasks/{task}"));
    let result: Value = serde_json::from_str(&text).unwrap();
    result["data"]["state"].as_str().unwrap().to_owned()
}

fn a_run_is_followed_to_its_end(era: Era) {
    let env = TestEnv::new();
    let mut client = Client::new(&env, era);
    let task = client.replay("fix-test");
    let begun = Instant::now();
    let base = format!("delegator://tasks/{task}");
    // The last is not there before the end.
    let uris = [base.clone(), format!("{base}/events.jsonl"), format!("{base}/result.json")];
    let id = follow(&mut client, era, &uris);
    let mut told: BTreeMap<String, usize> = BTreeMap::new();
    let mut at_work = 0;
    loop {
        let update = client.wait_for("an update", is_update);
        assert_eq!(update["params"]["_meta"].get(SUBSCRIPTION), id.map(|id| json!(id)).as_ref());
        let uri = update["params"]["uri"].as_str().unwrap().to_owned();
        let is_last = uri == uris[2];
        *told.entry(uri).or_default() += 1;
        if is_last {
            break;
        }
        at_work += usize::from(state(&mut client, &task) == "working");
    }
    assert_eq!(state(&mut client, &task), "completed");
    let seconds = begun.elapsed().as_secs_f64().ceil() as usize;
    assert!(at_work >= 3, "{at_work} updates while it worked: {told:?}");
    for uri in &uris[..2] {
        assert!((2..=seconds + 2).contains(&told[uri]), "{told:?} in {seconds} s");
    }
    client.leave();
}

#[test]
fn a_session_is_told_of_a_run_to_its_end() {
    a_run_is_followed_to_its_end(Era::Session);
}

#[test]
fn an_open_request_is_told_of_a_run_to_its_end() {
    a_run_is_followed_to_its_end(Era::Stateless);
}

fn who_gives_up_is_left_alone(era: Era) {
    let env = TestEnv::new();
    let mut client = Client::new(&env, era);
    let (one, other) = (client.replay("fix-test"), client.replay("fix-test"));
    let uri = |task: &str| format!("delegator://tasks/{task}");
    let id = follow(&mut client, era, &[uri(&one)]);
    follow(&mut client, era, &[uri(&other)]);
    client.wait_for("an update", |message| is_update(message) && message["params"]["uri"] == uri(&one));
    match id {
        None => drop(client.result("resources/unsubscribe", json!({ "uri": uri(&one) }))),
        Some(id) => client.notify("notifications/cancelled", json!({ "requestId": id })),
    }
    // What was under way comes before the answer to this.
    state(&mut client, &one);
    client.updates();
    env.await_final(&one);
    while state(&mut client, &other) == "working" {
        client.wait_for("an update of the other", is_update);
    }
    env.await_final(&other);
    assert!(client.updates().iter().all(|told| *told == uri(&other)));
    client.leave();
}

#[test]
fn after_unsubscribing_nothing_comes() {
    who_gives_up_is_left_alone(Era::Session);
}

#[test]
fn after_cancelling_nothing_comes() {
    who_gives_up_is_left_alone(Era::Stateless);
}

#[test]
fn the_list_is_told_of_when_a_task_begins_and_ends() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let list = "delegator://tasks".to_owned();
    follow(&mut client, Era::Session, &[list]);
    let task = env.submit("sleep 60").task_id;
    client.wait_for("an update when it begins", is_update);
    env.expect(0, &["cancel", &task]);
    client.wait_for("an update when it ends", is_update);
    client.leave();
}

/// Whoever keeps a request open is told once: it may have ended since the acknowledgement.
#[test]
fn what_has_ended_can_be_followed_and_says_so_at_most_once() {
    let env = TestEnv::new();
    let task = env.submit("true").task_id;
    env.await_final(&task);
    let uri = format!("delegator://tasks/{task}");
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        follow(&mut client, era, std::slice::from_ref(&uri));
        if era == Era::Stateless {
            client.wait_for("an update", |message| is_update(message) && message["params"]["uri"] == *uri);
        }
        assert_eq!(state(&mut client, &task), "completed");
        assert_eq!(client.updates(), [""; 0]);
        client.leave();
    }
}

#[test]
fn what_does_not_exist_cannot_be_followed() {
    let env = TestEnv::new();
    let task = env.submit("true").task_id;
    env.await_final(&task);
    let missing = "delegator://tasks/T-local-000000000000";
    let mut client = Client::new(&env, Era::Session);
    for uri in [missing, "file:///etc/passwd", &format!("delegator://tasks/{task}/env.json")] {
        let (code, _) = client.error("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(code, -32002, "{uri}");
    }
    assert_eq!(client.error("resources/subscribe", json!({})).0, -32602);
    let mut client = Client::new(&env, Era::Stateless);
    let listen = |uri: &str| json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let (code, message) = client.error("subscriptions/listen", listen(missing));
    assert!(code == -32602 && message.contains(missing), "{code} {message}");
    // Beside others it keeps nobody from following those.
    let sleeping = env.submit("sleep 60").task_id;
    let there = format!("delegator://tasks/{sleeping}");
    let wanted = json!({ "notifications": { "resourceSubscriptions": [missing, there] } });
    let id = client.begin("subscriptions/listen", wanted);
    client.wait_for("the acknowledgement", |message| message["params"]["_meta"][SUBSCRIPTION] == id);
    client.call("delegate_cancel", json!({ "task_id": sleeping })).unwrap();
    client.wait_for("an update", |message| is_update(message) && message["params"]["uri"] == there.as_str());
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    // What is not even one of ours is left out of what is agreed on.
    let id = client.begin("subscriptions/listen", listen("file:///etc/passwd"));
    let agreed =
        client.wait_for("the acknowledgement", |message| message["params"]["_meta"][SUBSCRIPTION] == id);
    assert_eq!(agreed["params"]["notifications"], json!({}));
}

fn nothing_stays_open_for_who_gave_up(era: Era) {
    let env = TestEnv::new();
    let task = env.submit("sleep 60").task_id;
    let mut client = Client::new(&env, era);
    let uri = format!("delegator://tasks/{task}");
    state(&mut client, &task);
    // SQLite keeps the database itself open for the next one; its log it does not.
    let registry = env.home().join("registry.db-wal");
    // One looks after the queue all the time, one is left for the next call.
    let open = |client: &Client, expected: usize| {
        wait_for(&format!("{expected} registries to be open"), PATIENCE, || {
            (client.open_files(&registry) == expected).then_some(())
        });
    };
    open(&client, 2);
    // Who follows takes the one that is left.
    let id = follow(&mut client, era, std::slice::from_ref(&uri));
    open(&client, 2);
    match id {
        None => drop(client.result("resources/unsubscribe", json!({ "uri": uri }))),
        Some(id) => client.notify("notifications/cancelled", json!({ "requestId": id })),
    }
    open(&client, 1);
    // Who leaves without a word does not keep the server either.
    follow(&mut client, era, &[uri]);
    open(&client, 2);
    client.leave();
}

#[test]
fn a_session_leaves_nothing_open() {
    nothing_stays_open_for_who_gave_up(Era::Session);
}

#[test]
fn a_cancelled_request_leaves_nothing_open() {
    nothing_stays_open_for_who_gave_up(Era::Stateless);
}

#[test]
fn no_more_than_64_tasks_are_followed_at_a_time() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1");
    let running = env.submit("sleep 60").task_id;
    let mut client = Client::new(&env, Era::Session);
    let tasks: Vec<String> = (0..64).map(|_| client.replay("quick")).collect();
    let uri = |task: &str| json!({ "uri": format!("delegator://tasks/{task}") });
    client.result("resources/subscribe", uri(&running));
    // Another file of the same task takes no more room.
    client.result("resources/subscribe", uri(&format!("{running}/stdout.log")));
    for task in &tasks[..63] {
        client.result("resources/subscribe", uri(task));
    }
    let (code, message) = client.error("resources/subscribe", uri(&tasks[63]));
    assert!(code == -32602 && message.contains("64 tasks are already followed"), "{code} {message}");
    client.result("resources/unsubscribe", uri(&tasks[0]));
    wait_for("room for another", PATIENCE, || {
        let id = client.begin("resources/subscribe", uri(&tasks[63]));
        client.answer(id).get("result").map(|_| ())
    });
    client.leave();
}
