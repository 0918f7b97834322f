//! Claude Code, with a scripted model, in both eras.

use std::process::Command;

use serde_json::{Value, json};

use crate::installed::installed;
use crate::model::task;
use crate::story::list;
use crate::world::World;

#[test]
fn claude_code_delegates_over_the_newest_revision() {
    check("auto", "2026-07-28");
}

#[test]
fn claude_code_delegates_after_a_handshake() {
    check("legacy", "2025-11-25");
}

fn check(negotiation: &str, protocol: &str) {
    let world = World::new();
    let [program, args @ ..] = &world.server()[..] else { unreachable!("a command line") };
    let servers = json!({ "mcpServers": { "delegator": { "command": program, "args": args } } });
    world.write("servers.json", &servers.to_string());
    let call = |tool: &str, args: Value| json!({ "tool": format!("mcp__delegator__{tool}"), "args": args });
    let seen = json!({ "seen": "T-local-" });
    let calls = [
        call("delegate_run", json!({ "task": "fix-test --speed 2", "options": { "agent": "replay" } })),
        call("delegate_wait", json!({ "task_id": seen })),
        call("delegate_results", json!({ "task_id": seen })),
    ];
    let prompt = task("call", &json!({ "calls": calls, "answer": "Claude is done." }));

    let mut command = claude(&world);
    command.args(["-p", &prompt, "--output-format", "json", "--strict-mcp-config", "--mcp-config"]);
    command.arg(world.path("servers.json")).args(["--allowedTools", "mcp__delegator"]);
    command.env("MCP_PROTOCOL_NEGOTIATION", negotiation);
    let ran = world.run(&mut command).ended(0);
    assert_eq!(ran.json()["result"], "Claude is done.", "{ran}");

    let wire = world.conversation();
    assert_eq!(wire.protocol(), protocol);
    let sent: Vec<Value> = wire.calls().into_iter().filter_map(|call| call.result).collect();
    let [started, waited, results] = &sent[..] else { panic!("{} answered calls", sent.len()) };
    for answer in [waited, results] {
        let data = &answer["structuredContent"]["data"];
        let task = &started["structuredContent"]["task_id"];
        assert_eq!((&data["task_id"], &data["state"]), (task, &json!("completed")), "{data:#}");
    }
    assert!(wire.progress(&wire.calls()[1]).len() >= 2, "{:?}", wire.server);
    assert_eq!(
        shown(&world),
        sent.iter().map(|result| result["structuredContent"].clone()).collect::<Vec<_>>()
    );
    at_hand(&world);
}

/// Claude Code, signed in, with nobody else to talk to.
pub fn claude(world: &World) -> Command {
    let mut command = world.command(installed("claude"));
    command.env("ANTHROPIC_BASE_URL", world.model.origin()).env("ANTHROPIC_API_KEY", "made-up-key-6b02");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    command
}

/// What the model got as the results of its calls: the structured content, and nothing else.
fn shown(world: &World) -> Vec<Value> {
    let requests = world.model.requests();
    let last = requests.iter().rfind(|request| request.path.ends_with("/messages")).expect("a request");
    let messages = list(&last.body["messages"]).iter().filter_map(|message| message["content"].as_array());
    let results = messages.flatten().filter(|block| block["type"] == "tool_result");
    let text = |block: &Value| match &block["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    let read = |text: String| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    results.map(text).map(read).collect()
}

/// The tools one starts with are there without a search.
fn at_hand(world: &World) {
    let requests = world.model.requests();
    let first = requests.iter().find(|request| request.path.ends_with("/messages")).expect("a request");
    let offered: Vec<&str> =
        list(&first.body["tools"]).iter().filter_map(|tool| tool["name"].as_str()).collect();
    for tool in ["mcp__delegator__delegate_run", "mcp__delegator__delegate_wait"] {
        assert!(offered.contains(&tool), "{offered:?}");
    }
}
