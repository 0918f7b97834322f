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

/// Calls `delegate_run`, and answers the question for its roots with these.
fn run_at(client: &mut Client, roots: &[&std::path::Path]) -> serde_json::Value {
    let arguments = json!({ "task": "quick", "options": { "agent": "replay", "dedupe": false } });
    let begun = client.begin("tools/call", json!({ "name": "delegate_run", "arguments": arguments }));
    let asked = client.wait_for("the question for its roots", |message| message["method"] == "roots/list");
    let roots: Vec<_> =
        roots.iter().map(|root| json!({ "uri": format!("file://{}", root.display()) })).collect();
    client.reply(&asked["id"], json!({ "roots": roots }));
    client.answer(begun)["result"].clone()
}

#[test]
fn the_first_root_that_is_a_directory_counts_and_an_error_names_one() {
    let env = TestEnv::new();
    let [gone, file, project] = ["gone", "file", "project"].map(|name| env.root().join(name));
    std::fs::create_dir(&project).unwrap();
    std::fs::write(&file, "").unwrap();
    let announcing = || Client::announcing(&env, json!({ "roots": { "listChanged": true } }));
    let started = run_at(&mut announcing(), &[&gone, &file, &project]);
    let task = started["structuredContent"]["task_id"].as_str().unwrap_or_else(|| panic!("{started}"));
    assert_eq!(cwd(&env, task), project.to_str().unwrap());
    for only in [&gone, &file] {
        let refused = run_at(&mut announcing(), &[only]);
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(refused["isError"] == true && text.contains(only.to_str().unwrap()), "{text}");
    }
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
