//! The tasks extension: waits that a client polls.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

/// Asks with the capability to poll.
fn ask(client: &mut Client, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
    });
    let id = client.begin_as_it_is(method, params);
    client.answer(id)
}

fn wait_for(client: &mut Client, task: &str) -> Value {
    ask(client, "tools/call", json!({ "name": "delegate_wait", "arguments": { "task_id": task } }))["result"]
        .clone()
}

#[test]
fn a_wait_becomes_a_task_that_outlives_its_server() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Stateless);
    let run = client.replay("fix-test --speed 0.01");
    let wait = wait_for(&mut client, &run);
    assert_eq!((&wait["resultType"], &wait["status"]), (&json!("task"), &json!("working")), "{wait}");
    assert!(wait["ttlMs"].as_u64() > Some(0) && wait["pollIntervalMs"].as_u64() > Some(0), "{wait}");
    let id = wait["taskId"].as_str().unwrap().to_owned();
    assert!(id.starts_with("wait_") && id.len() >= 37, "{id}");
    client.kill();
    let mut client = Client::new(&env, Era::Stateless);
    let get = |client: &mut Client| ask(client, "tasks/get", json!({ "taskId": id }))["result"].clone();
    assert_eq!(get(&mut client)["status"], "working");
    client.call("delegate_cancel", json!({ "task_id": run })).unwrap();
    let done = get(&mut client);
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["structuredContent"]["data"]["state"], "cancelled", "{done}");
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains(&run), "{done}");
    // What is final stays so.
    assert_eq!(
        ask(&mut client, "tasks/cancel", json!({ "taskId": id }))["result"],
        json!({ "resultType": "complete" })
    );
    assert_eq!(get(&mut client)["status"], "completed");
}

#[test]
fn what_a_wait_ended_with_stays_its_answer_whatever_the_run_does() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Stateless);
    let run = client.replay("fix-test --speed 0.01");
    let arguments = json!({ "task_id": run, "timeout_sec": 0.2 });
    let wait = ask(&mut client, "tools/call", json!({ "name": "delegate_wait", "arguments": arguments }));
    let id = wait["result"]["taskId"].as_str().unwrap().to_owned();
    let get = |client: &mut Client| ask(client, "tasks/get", json!({ "taskId": id }))["result"].clone();
    let first = loop {
        let now = get(&mut client);
        if now["status"] != "working" {
            break now;
        }
    };
    assert_eq!(first["result"]["structuredContent"]["data"]["state"], "working", "{first}");
    client.call("delegate_cancel", json!({ "task_id": run })).unwrap();
    assert_eq!(get(&mut client), first);
    ask(&mut client, "tasks/cancel", json!({ "taskId": id }));
    assert_eq!(get(&mut client), first);
}

#[test]
fn giving_up_a_wait_leaves_the_run_alone() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Stateless);
    let run = client.replay("fix-test --speed 0.01");
    let id = wait_for(&mut client, &run)["taskId"].as_str().unwrap().to_owned();
    assert!(
        ask(&mut client, "tasks/update", json!({ "taskId": id, "inputResponses": {} }))
            .get("result")
            .is_some()
    );
    ask(&mut client, "tasks/cancel", json!({ "taskId": id }));
    assert_eq!(ask(&mut client, "tasks/get", json!({ "taskId": id }))["result"]["status"], "cancelled");
    let status = client.call("delegate_status", json!({ "task_id": run })).unwrap();
    assert_eq!(status["data"]["tasks"][0]["state"], "working", "{status}");
    client.call("delegate_cancel", json!({ "task_id": run })).unwrap();
}

#[test]
fn nobody_gets_a_task_who_did_not_ask_for_one() {
    let env = TestEnv::new();
    let mut modern = Client::new(&env, Era::Stateless);
    let run = modern.replay("quick --instant");
    env.await_final(&run);
    // What is done already needs no polling.
    let answer = wait_for(&mut modern, &run);
    assert_eq!(answer["structuredContent"]["data"]["state"], "completed", "{answer}");
    for method in ["tasks/get", "tasks/cancel"] {
        // Without the capability, and with an id that nobody knows.
        assert_eq!(modern.error(method, json!({ "taskId": "wait_0" })).0, -32021);
        let unknown = ask(&mut modern, method, json!({ "taskId": "wait_0" }));
        assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    }
    // An older client may name the extension all it likes.
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let mut old = Client::announcing(&env, capabilities);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let told = old.error(method, json!({ "taskId": "wait_0", "inputResponses": {} }));
        assert_eq!(told.0, -32601, "{told:?}");
    }
    let run = old.replay("fix-test --speed 0.01");
    let waited = old.call("delegate_wait", json!({ "task_id": run, "timeout_sec": 0.1 })).unwrap();
    assert_eq!(waited["data"]["state"], "working", "{waited}");
    old.call("delegate_cancel", json!({ "task_id": run })).unwrap();
}
