//! A run that delegates on: known by its mark, by its thread, and by the processes above it.

use std::fs;

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::advertised;
use crate::world::World;

const RUN: &str = "2026-11-15_093000123_0a1b2c3d4e5f";

#[test]
fn a_server_that_carries_the_mark_starts_nothing() {
    let world = World::new();
    for mark in [RUN.to_owned(), format!("{RUN}:{RUN}"), format!("junk:{RUN}")] {
        let mut command = world.delegator(&["serve"]);
        command.env("DELEGATOR_RUNS", mark);
        let reply = Client::connect(command, None).call("delegate_run", json!({ "task": "look" }));
        reply.refused("VALIDATION", "from inside another one", "`max_depth`");
    }
    world.untouched();
}

#[test]
fn a_call_from_a_thread_of_ours_starts_nothing() {
    let world = World::new();
    let mut client = world.client();
    let turn = json!({ "thread_id": "x", "thread_source": "delegator", "sandbox_mode": "read-only" });
    for turn in [turn.clone(), turn.to_string().into()] {
        for agent in ["codex", "replay"] {
            let arguments = json!({ "task": "quick", "options": { "agent": agent } });
            let reply =
                client.call_with("delegate_run", arguments, json!({ "x-codex-turn-metadata": turn.clone() }));
            reply.refused("VALIDATION", "from inside another one (depth 1, allowed 1)", "`max_depth`");
        }
    }
    world.untouched();
    let user = json!({ "x-codex-turn-metadata": { "thread_source": "user" } });
    client.call_with("delegate_run", json!({ "task": "look" }), user).task();
}

/// What a client says that delegates once, a message a line.
fn conversation() -> String {
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let call = json!({ "name": "delegate_run", "arguments": { "task": "quick --instant", "options": { "agent": "replay" } } });
    [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ]
    .map(|message| message.to_string() + "\n")
    .concat()
}

/// How a server came to be below a run.
enum Way {
    /// With so many processes between them.
    Through(u32),
    /// In a session of its own, its parents gone.
    Detached,
}

/// Runs a server below a run, with nothing of its environment but `more`. What it answered to the call.
fn below_a_run(world: &World, way: &Way, more: &str) -> Value {
    fs::write(world.path("side/said"), conversation()).unwrap();
    let serve = format!(
        "env -i HOME='{}' XDG_CONFIG_HOME='{}' DELEGATOR_HOME='{}' {more} '{}' serve",
        world.text("home"),
        world.text("config"),
        world.text("state"),
        env!("CARGO_BIN_EXE_delegator"),
    );
    let (said, answers) = (world.text("side/said"), world.text("side/answers"));
    let answered = [2, 3].map(|id| format!("until grep -q '\"id\":{id}' '{answers}'; do sleep 0.02; done"));
    let answered = answered.join("; ");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" -gt 0 ]; then \"$0\" $(($1 - 1)); exit $?; fi\n\
         {{ cat '{said}'; {answered}; }} | {serve} > '{answers}'\n",
    );
    let script = world.script("bin/deeper", &script);
    fs::write(&answers, "").unwrap();
    let task = match way {
        Way::Through(between) => format!("'{}' {between}", script.display()),
        Way::Detached => format!("(setsid '{}' 0 &); {answered}", script.display()),
    };
    let ran = world.person(&["run", "--agent", "command", "--wait", "--hard", "60", &task]);
    assert_eq!(ran["status"], "completed", "{ran:#}");
    let answers = fs::read_to_string(answers).unwrap();
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    advertised::check(&answers);
    answers.into_iter().find(|answer| answer["id"] == 2).expect("an answer")["result"].take()
}

#[test]
fn a_scrubbed_environment_does_not_hide_the_run_above() {
    let world = World::new();
    let answer = below_a_run(&world, &Way::Through(0), "");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(answer["isError"] == true && text.contains("depth 1, allowed 1"), "{text}");
    assert!(text.contains("`max_depth`"), "{text}");
    assert_eq!(fs::read_dir(world.path("state/runs")).unwrap().count(), 1, "only the run above");
}

#[test]
fn a_long_line_of_processes_does_not_hide_it_either() {
    let world = World::new();
    let answer = below_a_run(&world, &Way::Through(90), "");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(answer["isError"] == true && text.contains("depth 1, allowed 1"), "{text}");
}

#[test]
fn a_process_whose_parents_are_gone_is_still_below_the_run() {
    let world = World::new();
    let answer = below_a_run(&world, &Way::Detached, "");
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(answer["isError"] == true && text.contains("depth 1, allowed 1"), "{text}");
}

#[test]
fn a_forged_mark_does_not_cut_a_run_off_from_the_one_above() {
    let world = World::configured("max_depth = 2\n");
    let answer = below_a_run(&world, &Way::Through(0), &format!("DELEGATOR_RUNS={RUN}"));
    let task = answer["structuredContent"]["task_id"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    let within = world.run_file(task, "request.json")["within"].clone();
    assert_eq!(within.as_array().map(Vec::len), Some(1), "{within}");
    assert_ne!(within[0], RUN, "it would outlive the run that it was started from");
}
