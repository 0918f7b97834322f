//! What is listed: this project's, page by page, and nothing before there is
//! anything.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

/// All pages, and how many there were.
fn all(client: &mut Client) -> (Vec<Value>, usize) {
    let (mut resources, mut cursor) = (Vec::new(), Value::Null);
    for pages in 1.. {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let mut page = client.result("resources/list", params);
        resources.append(page["resources"].as_array_mut().unwrap());
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            return (resources, pages);
        }
    }
    unreachable!()
}

fn uris(resources: &[Value]) -> Vec<&str> {
    resources.iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

#[test]
fn asking_before_there_is_a_task_makes_nothing() {
    for era in [Era::Session, Era::Stateless] {
        let env = TestEnv::new();
        let mut client = Client::new(&env, era);
        assert_eq!(uris(&all(&mut client).0), ["delegator://tasks"]);
        client.result("resources/templates/list", json!({}));
        client.result("prompts/list", json!({}));
        assert!(!env.registry().exists());
    }
}

#[test]
fn a_task_is_listed_with_the_files_of_its_run() {
    let env = TestEnv::new();
    let task = env.submit("printf hello");
    env.await_final(&task.task_id);
    let mut client = Client::new(&env, Era::Session);
    let (resources, _) = all(&mut client);
    let named = |end: &str| {
        let uri = format!("delegator://tasks{end}");
        resources.iter().find(|one| one["uri"] == uri).unwrap_or_else(|| panic!("{uri}: {resources:#?}"))
    };
    assert_eq!(named("")["mimeType"], "application/json");
    // The list ends somewhere, and says where to find the rest.
    assert!(
        named("")["description"]
            .as_str()
            .unwrap()
            .contains("newest 50 are listed; any other is read by its id")
    );
    let id = &task.task_id;
    assert_eq!(named(&format!("/{id}"))["title"], "completed: printf hello");
    let stdout = named(&format!("/{id}/stdout.log"));
    assert_eq!((&stdout["mimeType"], &stdout["size"]), (&json!("text/plain"), &json!(5)));
    assert_eq!(named(&format!("/{id}/result.json"))["mimeType"], "application/json");
    for hidden in ["env.json", "run.lock", "ctl.sock", "registry.db", "reserve"] {
        assert!(uris(&resources).iter().all(|uri| !uri.ends_with(hidden)), "{hidden}");
    }
    let templates = client.result("resources/templates/list", json!({}));
    let templates = templates["resourceTemplates"].as_array().unwrap().iter();
    let templates: Vec<&str> = templates.map(|one| one["uriTemplate"].as_str().unwrap()).collect();
    assert_eq!(templates, ["delegator://tasks/{task_id}", "delegator://tasks/{task_id}/{artifact}"]);
}

#[test]
fn many_tasks_come_page_by_page_each_once_the_newest_first() {
    let env = TestEnv::new();
    let mut tasks: Vec<String> = (0..7).map(|number| env.submit(&format!("echo {number}")).task_id).collect();
    tasks.iter().for_each(|task| drop(env.await_final(task)));
    tasks.reverse();
    let mut client = Client::new(&env, Era::Stateless);
    let (resources, pages) = all(&mut client);
    assert_eq!(pages, 2);
    let all = uris(&resources);
    assert_eq!(all.len(), all.iter().collect::<BTreeSet<_>>().len(), "each once");
    let of_tasks = all.iter().filter_map(|uri| uri.strip_prefix("delegator://tasks/"));
    let of_tasks: Vec<&str> = of_tasks.filter(|rest| !rest.contains('/')).collect();
    assert_eq!(of_tasks, tasks);
    let (code, message) = client.error("resources/list", json!({ "cursor": "x" }));
    assert!(code == -32602 && message.contains("cursor"), "{code} {message}");
}

#[test]
fn another_projects_tasks_are_not_listed() {
    let env = TestEnv::new();
    let task = env.submit_with(&["--alias", "secret-work"], "echo foreign").task_id;
    env.await_final(&task);
    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut client = Client::in_directory(&env, &elsewhere, Era::Session);
    assert_eq!(uris(&all(&mut client).0), ["delegator://tasks"]);
    let (text, _) = client.read("delegator://tasks");
    assert!(!text.contains(&task), "{text}");
    // Whoever has its id may read it; a name that can be guessed is no key.
    let (text, _) = client.read(&format!("delegator://tasks/{task}/stdout.log"));
    assert_eq!(text, "foreign\n");
    for guess in ["secret-work", &task[..task.len() - 2]] {
        let (code, _) =
            client.error("resources/read", json!({ "uri": format!("delegator://tasks/{guess}") }));
        assert_eq!(code, -32002, "{guess}");
    }
}
