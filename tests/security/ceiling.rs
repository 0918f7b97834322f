//! A client that reports its own sandbox gets no more than that.
//!
//! `reported/` holds what Codex 0.166.0 really sends; `codex` holds it against the real one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::world::World;

const STATE: &str = "codex/sandbox-state-meta";
/// The operator is generous, so that the client alone decides.
const GENEROUS: &str = "max_sandbox = \"danger-full-access\"\nallow_network = true\n";

/// What Codex reports, with the places of this machine.
pub fn reported(world: &World, name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/security/reported").join(name);
    let text = fs::read_to_string(path.with_extension("json")).unwrap();
    let text =
        text.replace("/work/project", &world.text("project")).replace("/work/more", &world.text("other"));
    serde_json::from_str(&text).unwrap()
}

fn generous() -> World {
    let world = World::new();
    let config = format!("{GENEROUS}roots = [{:?}]\n", world.path("other"));
    world.configure(&config);
    world
}

fn run(client: &mut Client, state: &Value, arguments: Value) -> Reply {
    client.call_with("delegate_run", arguments, json!({ STATE: state }))
}

fn ask(sandbox: &str, cwd: &str) -> Value {
    json!({ "task": "look", "sandbox": sandbox, "cwd": cwd, "options": { "dedupe": false } })
}

#[test]
fn nothing_is_started_with_more_than_the_client_has() {
    let world = generous();
    let mut client = world.client();
    let modes = ["read-only", "workspace-write", "danger-full-access"];
    for (has, report) in modes.iter().zip(modes) {
        let state = reported(&world, report);
        for asked in modes {
            let reply = run(&mut client, &state, ask(asked, "."));
            let more =
                modes.iter().position(|mode| mode == has) < modes.iter().position(|mode| *mode == asked);
            if more {
                reply.refused("VALIDATION", "more than the client itself has", "`sandbox_mode`");
            } else {
                assert!(world.arguments(&reply).contains(&format!("-s\n{asked}\n")));
            }
        }
    }
}

#[test]
fn a_run_that_asks_for_nothing_gets_no_more_either() {
    let world = generous();
    let config = format!("{GENEROUS}default_sandbox = \"workspace-write\"\n");
    world.configure(&config);
    let reply = run(&mut world.client(), &reported(&world, "read-only"), json!({ "task": "look" }));
    assert!(world.arguments(&reply).contains("-s\nread-only\n"));
}

#[test]
fn a_report_that_cannot_be_read_means_read_only() {
    let world = generous();
    let mut client = world.client();
    let good = reported(&world, "danger-full-access");
    let with = |change: &dyn Fn(&mut Value)| {
        let mut state = good.clone();
        change(&mut state);
        state
    };
    let states = [
        Value::Null,
        json!("danger-full-access"),
        json!({}),
        json!([good]),
        json!({ "permissionProfile": { "type": "disabled" } }),
        with(&|state| state["permissionProfile"] = "disabled".into()),
        with(&|state| state["permissionProfile"]["type"] = "Disabled".into()),
        with(&|state| state["permissionProfile"]["type"] = "external".into()),
        with(&|state| state["permissionProfile"]["except"] = json!(["/work"])),
        with(&|state| state["sandboxCwd"] = "/relative".into()),
        with(&|state| state["sandboxCwd"] = Value::Null),
        with(&|state| state["permissionProfile"] = json!({ "type": "managed", "network": "enabled" })),
    ];
    for state in states {
        for sandbox in ["workspace-write", "danger-full-access"] {
            let reply = run(&mut client, &state, ask(sandbox, &world.text("project")));
            reply.refused("VALIDATION", "more than the client itself has (`read-only`)", "in a known form");
        }
    }
    world.untouched();
    let reply = run(&mut client, &json!({}), ask("read-only", &world.text("project")));
    assert!(world.arguments(&reply).contains("-s\nread-only\n"));
}

#[test]
fn a_run_writes_only_where_the_client_may() {
    let world = generous();
    let mut client = world.client();
    let (project, other) = (world.text("project"), world.text("other"));
    let below = world.text("project/below");
    let mut check = |report: &str, dir: &str, may: bool| {
        let state = reported(&world, report);
        let started = [
            run(&mut client, &state, ask("workspace-write", dir)),
            // The same as a further directory, from one that is allowed.
            run(&mut client, &state, {
                let home = if report == "workspace-write-below" { &below } else { &project };
                json!({
                    "task": "look", "sandbox": "workspace-write", "cwd": home,
                    "options": { "dedupe": false, "add_dirs": [dir] },
                })
            }),
        ];
        for reply in started {
            match may {
                true => drop(world.arguments(&reply)),
                false => reply.refused("VALIDATION", "outside what the client itself may write", "read-only"),
            }
        }
    };
    check("workspace-write", &project, true);
    check("workspace-write", &below, true);
    check("workspace-write", &other, false);
    check("workspace-write-roots", &other, true);
    check("workspace-write-add-dir", &other, true);
    check("workspace-write-below", &below, true);
    check("workspace-write-below", &project, false);
}

#[test]
fn a_part_that_the_client_may_not_write_keeps_the_whole_from_it() {
    let world = generous();
    let mut state = reported(&world, "workspace-write");
    let secret =
        json!({ "path": { "type": "path", "path": world.path("project/below/kept") }, "access": "read" });
    state["permissionProfile"]["file_system"]["entries"].as_array_mut().unwrap().push(secret);
    let mut client = world.client();
    for dir in [".", "below"] {
        let reply = run(&mut client, &state, ask("workspace-write", dir));
        reply.refused("VALIDATION", "outside what the client itself may write", "read-only");
    }
    world.untouched();
}

#[test]
fn a_link_in_a_report_is_followed_before_it_is_believed() {
    let world = generous();
    std::os::unix::fs::symlink(world.path("other"), world.path("link")).unwrap();
    let mut state = reported(&world, "workspace-write");
    let linked = json!({ "path": { "type": "path", "path": world.path("link/src") }, "access": "read" });
    let whole = json!({ "path": { "type": "path", "path": world.path("other") }, "access": "write" });
    state["permissionProfile"]["file_system"]["entries"].as_array_mut().unwrap().extend([linked, whole]);
    let reply = run(&mut world.client(), &state, ask("workspace-write", &world.text("other")));
    reply.refused("VALIDATION", "outside what the client itself may write", "read-only");
    world.untouched();
}

#[test]
fn network_is_the_clients_own_or_none() {
    let world = generous();
    let mut client = world.client();
    let network = json!({ "task": "look", "sandbox": "workspace-write", "options": { "network": true } });
    let reply = run(&mut client, &reported(&world, "workspace-write"), network.clone());
    reply.refused("VALIDATION", "network access is more than the client itself has", "`network_access`");
    world.untouched();
    let reply = run(&mut client, &reported(&world, "workspace-write-network"), network.clone());
    assert!(world.arguments(&reply).contains("network_access=true"));
    // The operator's word still counts.
    world.configure("");
    let reply = run(&mut client, &reported(&world, "workspace-write-network"), network);
    reply.refused("VALIDATION", "network access is not allowed", "`allow_network = true`");
}

#[test]
fn temporary_directories_are_the_clients_own_or_none() {
    let world = generous();
    let mut client = world.client();
    let mut arguments = |report: &str| {
        let reply = run(&mut client, &reported(&world, report), ask("workspace-write", "."));
        world.arguments(&reply)
    };
    assert!(!arguments("workspace-write").contains("exclude_slash_tmp"));
    let without = arguments("workspace-write-no-tmp");
    assert!(without.contains("exclude_slash_tmp=true") && without.contains("exclude_tmpdir_env_var=true"));
}

#[test]
fn who_may_not_read_everything_learns_nothing_from_an_agent() {
    let world = generous();
    let state = reported(&world, "permission-profile");
    let mut client = world.client();
    for sandbox in ["read-only", "workspace-write"] {
        let reply = run(&mut client, &state, ask(sandbox, "."));
        reply.refused("UNSUPPORTED", "read access is restricted", "delegator run");
    }
    world.untouched();
}

#[test]
fn a_person_at_a_shell_is_held_by_the_configuration_alone() {
    let world = generous();
    let ran = world.person(&["run", "--wait", "--sandbox", "danger-full-access", "look"]);
    assert_eq!(ran["status"], "completed", "{ran:#}");
}
