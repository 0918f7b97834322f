//! Real clients after `delegator setup`, and nothing else: they reach the server, and may call it unasked.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::installed::installed;
use crate::model::task;
use crate::story::list;
use crate::world::{Ran, World};
use crate::{claude, codex, gemini};

/// Runs `delegator setup` for one client, found by its directory.
fn delegator(world: &World, args: &[&str]) -> Ran {
    let mut command = world.command(env!("CARGO_BIN_EXE_delegator"));
    world.run(command.arg("setup").args(args).arg("--yes")).ended(0)
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What the task of a scripted model is to be.
fn arguments() -> Value {
    json!({ "task": "fix-test --speed 2", "options": { "agent": "replay" }, "wait_ms": 20_000 })
}

#[test]
fn codex_calls_the_server_unasked() {
    let world = World::new();
    let config = codex::provider(&world, codex::CODE_MODE) + "\n# mine\n[mcp_servers]\n";
    world.write("home/codex/config.toml", &config);
    delegator(&world, &["codex"]);
    let listed = world.run(codex::program(&world).args(["mcp", "list"])).ended(0);
    assert!(listed.stdout.contains("delegator") && listed.stdout.contains("enabled"), "{listed}");

    let script = format!(
        "const run = await tools.mcp__delegator__delegate_run({}); text(run.structuredContent.summary);",
        arguments()
    );
    let calls = [json!({ "tool": "exec", "text": script })];
    let prompt = task("call", &json!({ "calls": calls, "answer": "The outer agent is done." }));
    let args = ["exec", "--json", "--sandbox", "read-only", &prompt];
    let ran = world.run(codex::program(&world).args(args)).ended(0);
    let told = codex::items(&ran.lines(), "mcp_tool_call");
    assert_eq!(
        (&told[0]["tool"], &told[0]["status"]),
        (&json!("delegate_run"), &json!("completed")),
        "{ran}"
    );
    assert_eq!(told[0]["result"]["structured_content"]["status"], "completed", "{ran}");

    delegator(&world, &["codex", "--undo"]);
    assert_eq!(text(&world.path("home/codex/config.toml")), config);
    assert!(!world.path("home/.agents").exists());
}

#[test]
fn claude_code_calls_the_server_unasked() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.claude")).expect("Claude's directory");
    let settings = "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls:*)\"]\n  }\n}";
    world.write("home/.claude/settings.json", settings);
    delegator(&world, &["claude"]);
    let registered = text(&world.path("home/.claude.json"));
    let listed = world.run(claude::claude(&world).args(["mcp", "list"])).ended(0);
    assert!(listed.stdout.contains("delegator") && listed.stdout.contains("Connected"), "{listed}");

    let calls = [json!({ "tool": "mcp__delegator__delegate_run", "args": arguments() })];
    let prompt = task("call", &json!({ "calls": calls, "answer": "Claude is done." }));
    let ran = world.run(claude::claude(&world).args(["-p", &prompt, "--output-format", "json"])).ended(0);
    assert_eq!(ran.json()["permission_denials"], json!([]), "{ran}");
    let requests = world.model.requests();
    let last = requests.iter().rfind(|request| request.path.ends_with("/messages")).expect("a request");
    let seen = last.body["messages"].to_string();
    assert!(seen.contains("T-local-") && seen.contains("completed"), "{seen}");
    // The skill is offered to the model.
    assert!(
        requests.iter().any(|request| request.body.to_string().contains("Hand coding work or long commands"))
    );

    let used = text(&world.path("home/.claude.json"));
    delegator(&world, &["claude", "--undo"]);
    assert_eq!(text(&world.path("home/.claude/settings.json")), settings);
    assert!(!world.path("home/.claude/skills").exists());
    // Claude writes this file itself. What it wrote stays.
    assert_ne!(used, registered);
    let mut used: Value = serde_json::from_str(&used).expect("its state");
    let left: Value = serde_json::from_str(&text(&world.path("home/.claude.json"))).expect("its state");
    used.as_object_mut().expect("an object").remove("mcpServers");
    assert_eq!(left, used);
}

#[test]
fn gemini_reaches_the_server() {
    let world = World::new();
    gemini::prepare(&world);
    let file = world.path("home/.gemini/settings.json");
    let before = text(&file);
    delegator(&world, &["gemini"]);
    let listed = world.run(gemini::gemini(&world).args(["mcp", "list"])).ended(0);
    let said = listed.stdout.clone() + &listed.stderr;
    assert!(said.contains("delegator serve (stdio) - Connected"), "{listed}");
    delegator(&world, &["gemini", "--undo"]);
    assert_eq!(text(&file), before);
}

/// It reads the form that Cursor and most others share.
#[test]
fn the_inspector_reads_what_is_written_for_cursor() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.cursor")).expect("Cursor's directory");
    delegator(&world, &["cursor"]);
    let mut command = world.command(installed("node"));
    command.arg(installed("inspector")).arg("--cli").arg("--config").arg(world.path("home/.cursor/mcp.json"));
    command.args(["--server", "delegator", "--method", "tools/list", "--format", "json"]);
    let told = world.run(&mut command).ended(0).json();
    let tools: Vec<&Value> = list(&told["result"]["tools"]).iter().map(|tool| &tool["name"]).collect();
    // Every tool that another entry approves by its name is there.
    let approved = delegator_prints_for_cline(&world);
    assert!(
        !approved.is_empty() && approved.iter().all(|name| tools.contains(&name)),
        "{approved:?} {tools:?}"
    );
}

fn delegator_prints_for_cline(world: &World) -> Vec<Value> {
    let mut command = world.command(env!("CARGO_BIN_EXE_delegator"));
    let printed = world.run(command.args(["setup", "cline", "--print", "--json"])).ended(0).json();
    let entry = printed["data"]["clients"][0]["files"][0]["entry"].as_str().expect("an entry");
    let entry: Value = serde_json::from_str(entry).expect("JSON");
    list(&entry["mcpServers"]["delegator"]["autoApprove"]).to_vec()
}
