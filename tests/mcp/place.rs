//! Where work is done when nobody says where: in the client's own project.

use serde_json::json;

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

#[test]
fn the_clients_roots_come_first_and_are_asked_for_once() {
    let env = TestEnv::new();
    let project = env.root().join("a project");
    std::fs::create_dir(&project).unwrap();
    let mut client = Client::announcing(&env, json!({ "roots": { "listChanged": true } }));
    let run = || json!({ "name": "delegate_run", "arguments": { "task": "quick", "options": { "agent": "replay", "dedupe": false } } });
    let begun = client.begin("tools/call", run());
    let asked = client.wait_for("the question for its roots", |message| message["method"] == "roots/list");
    let uri = format!("file://{}", project.to_str().unwrap().replace(' ', "%20"));
    client.reply(&asked["id"], json!({ "roots": [{ "uri": uri, "name": "project" }] }));
    let task = client.answer(begun)["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(cwd(&env, &task), project.to_str().unwrap());
    // The second call knows them.
    let begun = client.begin("tools/call", run());
    let task = client.answer(begun)["result"]["structuredContent"]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(cwd(&env, &task), project.to_str().unwrap());
}

#[test]
fn without_roots_it_is_the_directory_of_the_server() {
    let env = TestEnv::new();
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        let task = client.replay("quick");
        assert_eq!(cwd(&env, &task), env.work().canonicalize().unwrap().to_str().unwrap());
    }
}

fn cwd(env: &TestEnv, task: &str) -> String {
    let results = env.json(&["results", task, "--json"]);
    let request = std::path::Path::new(results["data"]["run_dir"].as_str().unwrap()).join("request.json");
    let request: serde_json::Value = serde_json::from_slice(&std::fs::read(request).unwrap()).unwrap();
    request["cwd"].as_str().unwrap().to_owned()
}
