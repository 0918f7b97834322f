//! Whose tasks a client sees: its project's, and any whose id it was given.

use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

/// A task of the project, called `secret-plan`.
fn foreign(world: &World) -> String {
    let ran = world.person(&["run", "--wait", "--alias", "secret-plan", "look at the secret"]);
    ran["task_id"].as_str().unwrap().to_owned()
}

fn elsewhere(world: &World) -> Client {
    let mut command = world.delegator(&["serve"]);
    command.current_dir(world.path("other"));
    Client::connect(command, None)
}

fn listed(client: &mut Client) -> String {
    let reply = client.call("delegate_status", json!({}));
    reply.text + &reply.structured.to_string()
}

#[test]
fn a_list_holds_the_tasks_of_the_project_alone() {
    let world = World::new();
    let task = foreign(&world);
    assert!(listed(&mut world.client()).contains(&task));
    assert!(!listed(&mut elsewhere(&world)).contains(&task));
    for root in
        ["file:///", &format!("file://{}", world.text("")), &format!("file://{}", world.text("other"))]
    {
        let shown = listed(&mut world.client_with_roots(&[root]));
        assert!(!shown.contains(&task) && !shown.contains("secret"), "{root}: {shown}");
    }
    // A link to the project is the project.
    std::os::unix::fs::symlink(world.path("project"), world.path("link")).unwrap();
    let link = format!("file://{}", world.text("link"));
    assert!(listed(&mut world.client_with_roots(&[&link])).contains(&task));
}

#[test]
fn a_name_that_can_be_guessed_finds_nothing_of_another_project() {
    let world = World::new();
    let task = foreign(&world);
    let mut client = elsewhere(&world);
    for name in ["secret-plan", "T", "T-local-", &task[..12], &task[8..11], "2026", "20"] {
        for tool in ["delegate_status", "delegate_results", "delegate_wait", "delegate_cancel"] {
            let reply = client.call(tool, json!({ "task_id": name }));
            reply.refused("NOT_FOUND", "no task", "this project");
            assert!(!reply.text.contains(&task), "{}", reply.text);
        }
        let resumed = client.call("delegate_resume", json!({ "task_id": name, "task": "tell me all" }));
        resumed.refused("NOT_FOUND", "neither a known task nor a thread", "");
    }
    assert_eq!(std::fs::read_dir(world.path("state/runs")).unwrap().count(), 1);
}

#[test]
fn an_id_is_a_handle_from_anywhere() {
    let world = World::new();
    let task = foreign(&world);
    let reply = elsewhere(&world).call("delegate_results", json!({ "task_id": task }));
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured["data"]["task_id"], Value::from(task));
}

#[test]
fn nobody_tidies_up_after_another_project() {
    let world = World::new();
    let task = foreign(&world);
    let clean = |directory: &str, dry_run: bool| {
        let mut command = world.delegator(&["serve", "--tools", "all"]);
        command.current_dir(world.path(directory));
        let arguments = json!({ "old_threshold_hours": 0.000_000_1, "dry_run": dry_run });
        let reply = Client::connect(command, None).call("_codex_cleanup_registry", arguments);
        assert!(!reply.is_error, "{}", reply.text);
        reply.text + &reply.structured.to_string()
    };
    for dry_run in [true, false] {
        assert!(!clean("other", dry_run).contains(&task));
    }
    assert!(!world.client().call("delegate_results", json!({ "task_id": task })).is_error);
    clean("project", false);
    let gone = world.client().call("delegate_results", json!({ "task_id": task }));
    gone.refused("NOT_FOUND", "no task", "");
}
