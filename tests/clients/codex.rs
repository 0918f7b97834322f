//! Codex as the client, with a scripted model: it delegates to a second Codex, and it asks for approval where it should.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::installed::installed;
use crate::model::task;
use crate::world::{Ran, World};

const KEY: &str = "made-up-key-41d7";

/// Of those that call tools directly.
const CLASSIC: &str = "gpt-5.5";
/// Of those that call tools from a script of theirs, as the default model does.
pub const CODE_MODE: &str = "gpt-6.1-sol";

#[test]
fn codex_delegates_to_codex_and_reads_what_came_of_it() {
    let world = World::new();
    world.write("config/delegator/config.toml", "env_allow = [\"FAKE_KEY\"]\n");
    let inner = task("shell", &json!({ "cmd": "echo inner-$((6*7))", "answer": "The inner agent is done." }));
    let call = |tool: &str, args: Value| json!({ "tool": tool, "namespace": "mcp__delegator", "args": args });
    let seen = json!({ "seen": "T-local-" });
    let calls = [
        call("delegate_run", json!({ "task": inner, "options": { "env_from": ["FAKE_KEY"] } })),
        call("delegate_wait", json!({ "task_id": seen, "timeout_sec": 60 })),
        call("delegate_results", json!({ "task_id": seen })),
    ];
    // The tools are there without a search, and `exec` has nobody to ask.
    let settings = "omit_tools_from = [\"deferred\"]\ndefault_tools_approval_mode = \"approve\"\n";
    let ran = codex(&world, CLASSIC, settings, &calls);

    let told: Vec<Value> = items(&ran.lines(), "mcp_tool_call");
    let [started, waited, results] = &told[..] else { panic!("{ran}") };
    let started = &started["result"]["structured_content"];
    assert_eq!(started["status"], "working", "{started:#}");
    for (answer, tool) in [(waited, "delegate_wait"), (results, "delegate_results")] {
        assert_eq!(answer["tool"], tool);
        let data = &answer["result"]["structured_content"]["data"];
        assert_eq!(
            (&data["task_id"], &data["state"]),
            (&started["task_id"], &json!("completed")),
            "{data:#}"
        );
        assert_eq!(data["summary"], "The inner agent is done.");
    }
    the_inner_one_ran(&world, started);
    the_model_saw(&world, &told);
    assert_eq!(world.conversation().protocol(), "2025-06-18");
}

/// Its own log names the thread and the command, and the model heard from that thread, marked as ours, with the key.
fn the_inner_one_ran(world: &World, started: &Value) {
    let directory = Path::new(started["run_dir"].as_str().expect("a run directory"));
    let log = fs::read_to_string(directory.join("events.jsonl")).expect("the log of the run");
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
    let ran = items(&events, "command_execution");
    assert!(ran[0]["aggregated_output"].as_str().is_some_and(|text| text.contains("inner-42")), "{ran:#?}");
    let thread = events[0]["thread_id"].as_str().expect("the thread of the run");
    let requests = world.model.requests();
    let own: Vec<_> = requests.iter().filter(|request| request.header("thread-id") == Some(thread)).collect();
    assert_eq!(own.len(), 2, "one request before its command, one after");
    for request in own {
        assert_eq!(request.turn()["thread_source"], "delegator");
        assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert!(!request.body["tools"].to_string().contains("delegate_run"), "the run could delegate again");
    }
}

/// This model gets the structured content, and nothing else, of each call.
fn the_model_saw(world: &World, told: &[Value]) {
    let requests = world.model.requests();
    let last = requests.last().expect("a last request");
    let input = last.body["input"].as_array().expect("a conversation");
    let outputs = input.iter().filter(|item| item["type"] == "function_call_output");
    let outputs: Vec<&str> = outputs.filter_map(|item| item["output"].as_str()).collect();
    assert_eq!(outputs.len(), told.len());
    for (output, call) in outputs.iter().zip(told) {
        let (_, shown) = output.split_once("Output:\n").expect("an output");
        let shown: Value = serde_json::from_str(shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
        assert_eq!(shown, call["result"]["structured_content"]);
    }
}

/// Runs that can only read are harmless, the hints say so, and nothing needs to be configured in Codex.
#[test]
fn codex_delegates_from_a_script_unasked_where_runs_can_only_read() {
    let world = World::new();
    world.write("config/delegator/config.toml", "max_sandbox = \"read-only\"\n");
    let ran = codex(&world, CODE_MODE, "", &[scripted()]);
    let told = items(&ran.lines(), "mcp_tool_call");
    let ended: Vec<_> = told.iter().map(|item| (&item["tool"], &item["status"])).collect();
    let (run, wait, done) = (json!("delegate_run"), json!("delegate_wait"), json!("completed"));
    assert_eq!(ended, [(&run, &done), (&wait, &done)], "{ran}");
    let seen = world.model.requests().last().expect("a last request").body["input"].to_string();
    assert!(seen.contains("Nothing needed to be changed."), "{seen}");
}

#[test]
fn codex_refuses_to_delegate_unasked_where_runs_may_write() {
    let world = World::new();
    let ran = codex(&world, CODE_MODE, "", &[scripted()]);
    let told = items(&ran.lines(), "mcp_tool_call");
    let error = told[0]["error"]["message"].as_str().unwrap_or_default();
    assert!(told.len() == 1 && error.contains("requires approval, but approval policy is never"), "{ran}");
    assert!(world.connections().iter().all(|wire| wire.calls().is_empty()));
    // The setting for one tool, as docs/clients.md names it.
    let world = World::new();
    let setting = "tools.delegate_run.approval_mode = \"approve\"\n";
    let ran = codex(&world, CODE_MODE, setting, &[scripted()]);
    let told = items(&ran.lines(), "mcp_tool_call");
    assert_eq!(
        (&told[0]["tool"], &told[0]["status"]),
        (&json!("delegate_run"), &json!("completed")),
        "{ran}"
    );
}

/// A script, in the one tool that such a model has, that delegates and waits.
fn scripted() -> Value {
    let script = "
        const run = await tools.mcp__delegator__delegate_run({ task: 'quick', options: { agent: 'replay' } });
        const { task_id } = run.structuredContent;
        const done = await tools.mcp__delegator__delegate_wait({ task_id });
        text(done.structuredContent.data.summary);";
    json!({ "tool": "exec", "text": script })
}

/// Runs Codex with a model that makes these calls. The configuration is what a user writes by hand.
fn codex(world: &World, model: &str, settings: &str, calls: &[Value]) -> Ran {
    let [server, args @ ..] = &world.server()[..] else { unreachable!("a command line") };
    let variables: Vec<String> =
        world.variables().iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    let config = format!(
        r#"{}
[mcp_servers.delegator]
command = {server:?}
args = {args:?}
# Codex hands over next to nothing of its environment.
env_vars = ["FAKE_KEY"]
env = {{ {} }}
# The first turn waits for it.
required = true
{settings}"#,
        provider(world, model),
        variables.join(", "),
    );
    world.write("home/codex/config.toml", &config);
    let prompt = task("call", &json!({ "calls": calls, "answer": "The outer agent is done." }));
    let args = ["exec", "--json", "--sandbox", "read-only", &prompt];
    let ran = world.run(program(world).args(args)).ended(0);
    assert_eq!(items(&ran.lines(), "agent_message")[0]["text"], "The outer agent is done.", "{ran}");
    let after = fs::read_to_string(world.path("home/codex/config.toml")).expect("Codex's configuration");
    assert_eq!(after, config, "the user's configuration was changed");
    ran
}

/// The configuration of a user who has a model of this kind.
pub fn provider(world: &World, model: &str) -> String {
    format!(
        r#"
model = "{model}"
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
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
"#,
        world.model.base_url(),
    )
}

/// Codex, signed in, and on the path.
pub fn program(world: &World) -> Command {
    let codex = installed("codex");
    let beside = codex.parent().unwrap_or(&codex).display();
    let path = format!("{beside}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = world.command(&codex);
    command.env("PATH", path).env("FAKE_KEY", KEY);
    command
}

pub fn items(events: &[Value], kind: &str) -> Vec<Value> {
    let completed =
        events.iter().filter(|event| event["type"] == "item.completed").map(|event| &event["item"]);
    completed.filter(|item| item["type"] == kind).cloned().collect()
}
