//! Gemini CLI, registered as `docs/clients.md` says, with a scripted model.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::{env, fs};

use serde_json::{Value, json};

use crate::installed::installed;
use crate::model::task;
use crate::story::list;
use crate::world::World;

#[test]
fn gemini_registers_the_server_and_delegates() {
    let world = World::new();
    prepare(&world);
    let (command, written, keys) = documented();
    let mut words = command.split(' ');
    assert_eq!(words.next(), Some("gemini"));
    world.run(gemini(&world).args(words)).ended(0);
    assert_eq!(
        settings(&world)["mcpServers"],
        written["mcpServers"],
        "the command writes what the section shows"
    );

    // Where nobody has said that the folder can be trusted, no server is started.
    world.run(gemini(&world).args(["mcp", "list"]).env_remove(TRUST)).ended(0);
    assert_eq!(world.connections().len(), 0);
    let listed = world.run(gemini(&world).args(["mcp", "list"])).ended(0);
    let said = listed.stdout.clone() + &listed.stderr;
    assert!(said.contains("delegator: delegator serve (stdio) - Connected"), "{listed}");
    assert_eq!(world.connections().len(), 1);

    // A key reaches the server where the settings name it, as the section says.
    let key = || {
        world.run(gemini(&world).args(["mcp", "list"]).env("CODEX_API_KEY", "made-up-key-31")).ended(0);
        fs::read_to_string(world.path("key")).expect("what the server had")
    };
    assert_eq!(key(), "\n");
    let plain = settings(&world);
    let mut named = plain.clone();
    named["mcpServers"]["delegator"]["env"] = keys["mcpServers"]["delegator"]["env"].clone();
    world.write("home/.gemini/settings.json", &named.to_string());
    assert_eq!(key(), "made-up-key-31\n");
    world.write("home/.gemini/settings.json", &plain.to_string());

    let call = |tool: &str, args: Value| json!({ "tool": format!("mcp_delegator_{tool}"), "args": args });
    let seen = json!({ "seen": "T-local-" });
    let calls = [
        call("delegate_run", json!({ "task": "fix-test --speed 2", "options": { "agent": "replay" } })),
        call("delegate_wait", json!({ "task_id": seen })),
        call("delegate_results", json!({ "task_id": seen })),
    ];
    let prompt = task("call", &json!({ "calls": calls, "answer": "Gemini is done." }));
    let ran =
        world.run(gemini(&world).args(["-m", "gemini-2.5-flash", "-o", "json", "-p", &prompt])).ended(0);
    assert_eq!(ran.json()["response"], "Gemini is done.", "{ran}");

    let wire = world.conversation();
    assert_eq!(wire.protocol(), "2025-06-18");
    let sent: Vec<Value> = wire.calls().into_iter().filter_map(|call| call.result).collect();
    let [started, waited, results] = &sent[..] else { panic!("{} answered calls", sent.len()) };
    for answer in [waited, results] {
        let data = &answer["structuredContent"]["data"];
        let task = &started["structuredContent"]["task_id"];
        assert_eq!((&data["task_id"], &data["state"]), (task, &json!("completed")), "{data:#}");
    }
    // This model gets the text, and nothing else.
    let shown = shown(&world);
    assert_eq!(shown.len(), sent.len());
    for (shown, sent) in shown.iter().zip(&sent) {
        let text = sent["content"][0]["text"].as_str().unwrap_or_default().trim_end();
        assert!(shown.contains(text) && !shown.contains("structuredContent"), "{shown}");
    }
}

/// Says of a folder that it can be trusted, where there is nobody to ask.
const TRUST: &str = "GEMINI_CLI_TRUST_WORKSPACE";

/// The login that a user would have, nobody else to talk to, and a `delegator` on the path.
pub fn prepare(world: &World) {
    fs::create_dir_all(world.path("home/.gemini")).expect("Gemini's directory");
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
    });
    world.write("home/.gemini/settings.json", &settings.to_string());
    let server = world.server();
    let [front @ .., _serve] = &server[..] else { unreachable!("a command line") };
    fs::create_dir_all(world.path("bin")).expect("a directory for programs");
    let kept = format!("echo \"$CODEX_API_KEY\" > '{}'", world.path("key").display());
    world.write("bin/delegator", &format!("#!/bin/sh\n{kept}\nexec {} \"$@\"\n", front.join(" ")));
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path("bin/delegator"), executable).expect("a program");
}

pub fn gemini(world: &World) -> Command {
    let mut command = world.command(installed("node"));
    let path = env::var("PATH").unwrap_or_default();
    command
        .arg(installed("gemini"))
        .env("PATH", format!("{}:{path}", world.path("bin").display()))
        .env(TRUST, "true")
        .env("GOOGLE_GEMINI_BASE_URL", world.model.origin())
        .env("GEMINI_API_KEY", "made-up-key-77aa");
    command
}

/// The command of the section about it, the settings that it writes, and those that hand over a key.
fn documented() -> (String, Value, Value) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/clients.md");
    let text = fs::read_to_string(path).expect("the document");
    let (_, section) = text.split_once("\n## Gemini CLI\n").expect("a section about Gemini CLI");
    let end = |rest: &str| rest.split_once("\n```").expect("its end").0.to_owned();
    let (_, command) = section.split_once("\n```\n").expect("a command");
    let mut blocks = section.split("```json\n").skip(1).map(end);
    let mut settings = || serde_json::from_str(&blocks.next().expect("a block")).expect("settings");
    (end(command), settings(), settings())
}

fn settings(world: &World) -> Value {
    let text = fs::read_to_string(world.path("home/.gemini/settings.json")).expect("Gemini's settings");
    serde_json::from_str(&text).expect("settings")
}

/// What the model got as the results of its calls.
fn shown(world: &World) -> Vec<String> {
    let requests = world.model.requests();
    let last = requests.last().expect("a request");
    let parts = list(&last.body["contents"]).iter().flat_map(|content| list(&content["parts"]));
    let results = parts.filter_map(|part| part.pointer("/functionResponse/response/output"));
    results.filter_map(Value::as_str).map(str::to_owned).collect()
}
