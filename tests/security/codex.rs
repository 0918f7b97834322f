//! The real Codex: as the client, what it reports in every mode and what it then gets; as the agent, what it is held to.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::ceiling::reported;
use crate::client::Client;
use crate::model::{ModelServer, task};
use crate::support::advertised;
use crate::world::{World, real_codex, text};

/// The server, and what Codex and it said.
const TAP: &str = "#!/bin/sh\ntee 'SAID' | 'SERVER' serve | tee 'HEARD'\n";

fn configuration(world: &World, model: &ModelServer) -> String {
    let tap = TAP
        .replace("SAID", &world.text("side/said"))
        .replace("HEARD", &world.text("side/heard"))
        .replace("SERVER", env!("CARGO_BIN_EXE_delegator"));
    let tap = world.script("bin/tap", &tap);
    format!(
        r#"
model = "gpt-5.5"
model_provider = "scripted"
# It talks to nobody but the model.
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
features.apps = false
[model_providers.scripted]
name = "Scripted"
base_url = "{}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[mcp_servers.delegator]
command = {tap:?}
env = {{ DELEGATOR_HOME = {:?}, XDG_CONFIG_HOME = {:?} }}
omit_tools_from = ["deferred"]
required = true
default_tools_approval_mode = "approve"
"#,
        model.base_url(),
        world.path("state"),
        world.path("config"),
    )
}

/// A client of a machine whose agent is the real Codex, with `more` in the user's configuration of it.
fn with_real_agent(world: &World, model: &ModelServer, more: &str) -> Client {
    fs::create_dir_all(world.path("home/codex")).unwrap();
    let config = configuration(world, model)
        .replace("[mcp_servers.delegator]", "[mcp_servers.unused]\nenabled = false");
    fs::write(world.path("home/codex/config.toml"), config + more).unwrap();
    world.configure(&format!("codex_path = {:?}\n", real_codex()));
    let mut server = world.delegator(&["serve"]);
    server.env("CODEX_HOME", world.path("home/codex"));
    Client::connect(server, None)
}

#[test]
fn a_run_gets_neither_directories_nor_network_from_the_users_own_settings() {
    let (world, model) = (World::new(), ModelServer::start().unwrap());
    let more = format!(
        "[sandbox_workspace_write]\nnetwork_access = true\nwritable_roots = [{:?}]\n",
        world.path("other")
    );
    let mut client = with_real_agent(&world, &model, &more);
    let line = format!("echo x > inside; echo x > '{}/outside'", world.text("other"));
    let script = task("shell", &json!({ "cmd": line, "answer": "done" }));
    let run = json!({ "task": script, "sandbox": "workspace-write", "wait_ms": 60_000 });
    let reply = client.call("delegate_run", run);
    assert_eq!(world.ended(&reply.task()).state, "completed", "{}", reply.text);
    assert!(world.path("project/inside").exists(), "{}", reply.text);
    assert!(!world.path("other/outside").exists(), "{}", reply.text);
}

#[test]
fn a_run_gets_temporary_directories_only_where_its_client_has_them() {
    let (world, model) = (World::new(), ModelServer::start().unwrap());
    let mut client = with_real_agent(&world, &model, "");
    for (report, may) in [("workspace-write", true), ("workspace-write-no-tmp", false)] {
        let file = format!("/tmp/delegator-security-{}-{report}", std::process::id());
        let script = task(
            "shell",
            &json!({ "cmd": format!("echo x > inside-{report}; echo x > {file}"), "answer": "done" }),
        );
        let run = json!({ "task": script, "sandbox": "workspace-write", "wait_ms": 60_000 });
        let meta = json!({ "codex/sandbox-state-meta": reported(&world, report) });
        let reply = client.call_with("delegate_run", run, meta);
        assert_eq!(world.ended(&reply.task()).state, "completed", "{}", reply.text);
        assert!(world.path("project").join(format!("inside-{report}")).exists(), "{}", reply.text);
        assert_eq!(fs::remove_file(&file).is_ok(), may, "{report}");
    }
}

/// Has Codex, started with `flags`, call `delegate_run` with each of `asks`. What it reported, and how each call ended.
fn delegate(world: &World, flags: &[&str], asks: &[Value]) -> (Value, Vec<Value>) {
    let model = ModelServer::start().unwrap();
    fs::create_dir_all(world.path("home/codex")).unwrap();
    fs::write(world.path("home/codex/config.toml"), configuration(world, &model)).unwrap();
    let call = |args: &Value| json!({ "tool": "delegate_run", "namespace": "mcp__delegator", "args": args });
    let calls: Vec<Value> = asks.iter().map(call).collect();
    let script = task("call", &json!({ "calls": calls, "answer": "done" }));
    let mut codex = world.command(real_codex());
    let path = std::env::var("PATH").unwrap_or_default();
    codex.env("PATH", path).env("CODEX_HOME", world.path("home/codex")).arg("exec").arg("--json").args(flags);
    let output = codex.arg(script).stdin(Stdio::null()).output().unwrap();
    let events = String::from_utf8(output.stdout).unwrap();
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let done =
        events.filter(|event| event["type"] == "item.completed" && event["item"]["type"] == "mcp_tool_call");
    let results: Vec<Value> = done.map(|event| event["item"]["result"].clone()).collect();
    assert_eq!(results.len(), asks.len(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = fs::read_to_string(world.path("side/said")).unwrap();
    let said = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let call = said.into_iter().find(|message| message["method"] == "tools/call").expect("a call");
    let heard = fs::read_to_string(world.path("side/heard")).unwrap();
    let heard: Vec<Value> = heard.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
    advertised::check(&heard);
    for file in ["side/said", "side/heard"] {
        fs::remove_file(world.path(file)).unwrap();
    }
    (call["params"]["_meta"]["codex/sandbox-state-meta"].clone(), results)
}

/// The report without what differs from run to run.
fn comparable(mut state: Value) -> Value {
    let state = state.as_object_mut().expect("a report");
    state.remove("codexLinuxSandboxExe");
    let mut state = Value::Object(state.clone());
    if let Some(entries) =
        state.pointer_mut("/permissionProfile/file_system/entries").and_then(Value::as_array_mut)
    {
        // Codex lets itself read the directory of its own helpers.
        entries.retain(|entry| !entry["path"]["path"].as_str().is_some_and(|path| path.contains("/arg0-")));
        // A further directory that is a repository is named twice.
        let mut seen = Vec::new();
        entries.retain(|entry| {
            let rule = (entry["path"].clone(), entry["access"].clone());
            let new = !seen.contains(&rule);
            seen.push(rule);
            new
        });
    }
    state
}

fn ask(sandbox: &str, cwd: &Path, options: Value) -> Value {
    json!({ "task": "look", "sandbox": sandbox, "cwd": cwd, "options": options })
}

const MODES: [(&str, &[&str]); 8] = [
    ("read-only", &["-s", "read-only"]),
    ("workspace-write", &["-s", "workspace-write"]),
    (
        "workspace-write-network",
        &["-s", "workspace-write", "-c", "sandbox_workspace_write.network_access=true"],
    ),
    (
        "workspace-write-roots",
        &["-s", "workspace-write", "-c", "sandbox_workspace_write.writable_roots=[OTHER]"],
    ),
    ("workspace-write-add-dir", &["-s", "workspace-write", "--add-dir", "DIR"]),
    (
        "workspace-write-no-tmp",
        &[
            "-s",
            "workspace-write",
            "-c",
            "sandbox_workspace_write.exclude_slash_tmp=true",
            "-c",
            "sandbox_workspace_write.exclude_tmpdir_env_var=true",
        ],
    ),
    ("workspace-write-below", &["-s", "workspace-write", "-C", "BELOW"]),
    ("danger-full-access", &["-s", "danger-full-access"]),
];

#[test]
fn codex_reports_what_was_recorded_and_gets_no_more_than_that() {
    let world = World::new();
    let other = world.path("other");
    world.configure(&format!(
        "max_sandbox = \"danger-full-access\"\nallow_network = true\nroots = [{other:?}]\n"
    ));
    for (name, flags) in MODES {
        let flags: Vec<String> = flags
            .iter()
            .map(|flag| {
                flag.replace("OTHER", &format!("{other:?}"))
                    .replace("DIR", &text(&other))
                    .replace("BELOW", &world.text("project/below"))
            })
            .collect();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let asks = [
            ask("workspace-write", &world.path("project/below"), json!({ "dedupe": false })),
            ask("workspace-write", &world.path("project"), json!({ "dedupe": false })),
            ask("workspace-write", &other, json!({ "dedupe": false })),
            ask("workspace-write", &world.path("project/below"), json!({ "dedupe": false, "network": true })),
            ask("danger-full-access", &world.path("project"), json!({ "dedupe": false })),
        ];
        let (state, results) = delegate(&world, &flags, &asks);
        assert_eq!(comparable(state), comparable(reported(&world, name)), "{name}");
        let started: Vec<bool> =
            results.iter().map(|result| result["structured_content"]["task_id"].is_string()).collect();
        let expected = match name {
            "read-only" => [false, false, false, false, false],
            "workspace-write" | "workspace-write-no-tmp" => [true, true, false, false, false],
            "workspace-write-network" => [true, true, false, true, false],
            "workspace-write-roots" | "workspace-write-add-dir" => [true, true, true, false, false],
            "workspace-write-below" => [true, false, false, false, false],
            "danger-full-access" => [true, true, true, true, true],
            other => panic!("{other}"),
        };
        assert_eq!(started, expected, "{name}: {results:#?}");
    }
}
