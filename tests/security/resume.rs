//! A resumed task inherits; nothing of it may be more than its caller can have now.

use std::fs;

use serde_json::{Value, json};

use crate::ceiling::reported;
use crate::world::World;

const GENEROUS: &str = "max_sandbox = \"danger-full-access\"\nallow_network = true\nenv_allow = [\"KEY\"]\n";

/// A task that a person ran with everything there is.
fn powerful(world: &World, sandbox: &str) -> String {
    world.configure(GENEROUS);
    let mut command = world.delegator(&["run", "--wait", "--json", "--sandbox", sandbox, "--network"]);
    command.args(["--env", "KEY", "--config", "model_verbosity=high", "--add-dir"]).arg(world.path("other"));
    let output = command.arg("look").env("KEY", "v").output().unwrap();
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    assert_eq!(ran["status"], "completed", "{ran:#}");
    ran["task_id"].as_str().unwrap().to_owned()
}

fn warned(reply: &Value, word: &str) -> bool {
    reply["warnings"].as_array().unwrap().iter().any(|warning| warning.as_str().unwrap().contains(word))
}

#[test]
fn what_the_operator_no_longer_allows_is_not_inherited() {
    let world = World::new();
    let before = powerful(&world, "danger-full-access");
    world.configure("");
    let reply = world.client().call("delegate_resume", json!({ "task_id": before, "task": "go on" }));
    let arguments = world.arguments(&reply);
    assert!(arguments.contains("-s\nworkspace-write\n"), "{arguments}");
    assert!(arguments.contains("network_access=false") && !arguments.contains("--add-dir"), "{arguments}");
    for word in ["danger-full-access", "network", &world.text("other")] {
        assert!(warned(&reply.structured, word), "{word}: {:#}", reply.structured);
    }
}

#[test]
fn variables_and_settings_are_not_inherited() {
    let world = World::new();
    let before = powerful(&world, "workspace-write");
    let reply = world.client().call("delegate_resume", json!({ "task_id": before, "task": "go on" }));
    assert!(!world.arguments(&reply).contains("model_verbosity"));
    let request = world.run_file(&reply.task(), "request.json");
    assert_eq!((&request["env_from"], &request["config_overrides"]), (&json!([]), &json!([])));
    assert!(!request["env_names"].to_string().contains("KEY\""));
}

#[test]
fn a_client_inherits_no_more_than_its_own_sandbox() {
    let world = World::new();
    let before = powerful(&world, "danger-full-access");
    let mut client = world.client();
    let mut resume = |report: &str| {
        let meta = json!({ "codex/sandbox-state-meta": reported(&world, report) });
        client.call_with("delegate_resume", json!({ "task_id": before, "task": "go on" }), meta)
    };
    let reader = resume("read-only");
    let arguments = world.arguments(&reader);
    assert!(
        arguments.contains("-s\nread-only\n") && !arguments.contains("network_access=true"),
        "{arguments}"
    );
    let writer = world.arguments(&resume("workspace-write"));
    assert!(writer.contains("-s\nworkspace-write\n") && writer.contains("network_access=false"), "{writer}");
    assert!(!writer.contains("--add-dir"), "{writer}");
}

#[test]
fn asking_for_it_again_is_refused() {
    let world = World::new();
    let before = powerful(&world, "danger-full-access");
    world.configure("");
    let rows = || fs::read_dir(world.path("state/runs")).unwrap().count();
    let there = rows();
    let mut client = world.client();
    let mut resume = |more: Value| {
        let mut arguments = json!({ "task_id": before, "task": "go on" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("delegate_resume", arguments)
    };
    resume(json!({ "sandbox": "danger-full-access" })).refused("VALIDATION", "danger", "`max_sandbox`");
    resume(json!({ "options": { "network": true } })).refused(
        "VALIDATION",
        "network",
        "`allow_network = true`",
    );
    resume(json!({ "options": { "env_from": ["KEY"] } })).refused("VALIDATION", "KEY", "`env_allow`");
    resume(json!({ "options": { "add_dirs": [world.text("other")] } })).refused(
        "VALIDATION",
        "outside",
        "`roots`",
    );
    resume(json!({ "options": { "config_overrides": ["notify=[\"sh\"]"] } })).refused(
        "VALIDATION",
        "notify",
        "",
    );
    assert_eq!(rows(), there);
}

#[test]
fn a_task_of_another_project_is_not_a_way_to_write_there() {
    let world = World::new();
    let mut command = world.delegator(&["run", "--wait", "--json", "--sandbox", "workspace-write", "look"]);
    let output = command.current_dir(world.path("other")).output().unwrap();
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    let task = ran["task_id"].as_str().unwrap();
    let mut client = world.client();
    let resumed = client.call("delegate_resume", json!({ "task_id": task, "task": "go on" }));
    resumed.refused("VALIDATION", "outside this client's project", "`roots`");
    let reading =
        client.call("delegate_resume", json!({ "task_id": task, "task": "go on", "sandbox": "read-only" }));
    assert!(world.arguments(&reading).contains("-s\nread-only\n"));
}
