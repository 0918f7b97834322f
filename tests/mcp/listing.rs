//! What is listed: the index of tasks, and nothing else, however many there are.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

/// All resources; there is one page.
fn all(client: &mut Client) -> Vec<Value> {
    let page = client.result("resources/list", json!({}));
    assert!(page.get("nextCursor").is_none(), "{page}");
    page["resources"].as_array().unwrap().clone()
}

fn uris(resources: &[Value]) -> Vec<&str> {
    resources.iter().map(|one| one["uri"].as_str().unwrap()).collect()
}

#[test]
fn asking_before_there_is_a_task_makes_nothing() {
    for era in [Era::Session, Era::Stateless] {
        let env = TestEnv::new();
        let mut client = Client::new(&env, era);
        assert_eq!(uris(&all(&mut client)), ["delegator://tasks"]);
        client.result("resources/templates/list", json!({}));
        client.result("prompts/list", json!({}));
        assert!(!env.registry().exists());
    }
}

/// Some clients give the whole list to the model, or make a tool of every resource.
#[test]
fn the_list_stays_small_after_many_runs_and_leads_to_all_of_them() {
    let env = TestEnv::new();
    let tasks: Vec<String> = (0..61).map(|number| env.submit(&format!("printf {number}")).task_id).collect();
    tasks.iter().for_each(|task| drop(env.await_final(task)));
    for era in [Era::Session, Era::Stateless] {
        let mut client = Client::new(&env, era);
        let listed = client.result("resources/list", json!({})).to_string();
        assert!(listed.len() < 600, "{} bytes: {listed}", listed.len());
        let resources = all(&mut client);
        assert_eq!(uris(&resources), ["delegator://tasks"]);
        assert_eq!(resources[0]["mimeType"], "application/json");
        let (index, _) = client.read("delegator://tasks");
        assert!(index.contains(tasks.last().unwrap()), "{index}");
        let templates = client.result("resources/templates/list", json!({}));
        let templates = templates["resourceTemplates"].as_array().unwrap().iter();
        let templates: Vec<&str> = templates.map(|one| one["uriTemplate"].as_str().unwrap()).collect();
        assert_eq!(templates, ["delegator://tasks/{task_id}", "delegator://tasks/{task_id}/{artifact}"]);
        // The oldest one too.
        let (text, about) = client.read(&format!("delegator://tasks/{}/stdout.log", tasks[0]));
        assert_eq!((text.as_str(), &about["mimeType"]), ("0", &json!("text/plain")));
    }
}

#[test]
fn another_projects_tasks_are_not_listed() {
    let env = TestEnv::new();
    let task = env.submit_with(&["--alias", "secret-work"], "echo foreign").task_id;
    env.await_final(&task);
    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut client = Client::in_directory(&env, &elsewhere, Era::Session);
    assert_eq!(uris(&all(&mut client)), ["delegator://tasks"]);
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
