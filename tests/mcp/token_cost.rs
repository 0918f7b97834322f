//! What replies cost a model that sees only their structure.

use std::process::Command;

use serde_json::{Value, json};

use crate::agreement::world_of;
use crate::client::{Client, Era};
use crate::support::env::TestEnv;

/// A home of the usual length.
const HOME: &str = "/home/user/.local/state/delegator";

/// The length of `text`, had the home been one of the usual length.
fn length(text: &str, env: &TestEnv) -> usize {
    text.replace(env.home().to_str().unwrap(), HOME).len()
}

fn reply(client: &mut Client, tool: &str, arguments: Value) -> (Value, String) {
    let reply = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
    (reply["structuredContent"].clone(), reply["content"][0]["text"].as_str().unwrap().to_owned())
}

/// A checkout with a Codex that finds nothing to change.
fn quiet_world() -> TestEnv {
    let summary = "The parser accepts trailing commas since 2.1; nothing has to change. All 12 tests pass.";
    let answer = json!({ "summary": summary, "deliverables": [], "open_questions": [], "next_actions": [] });
    let env = world_of("codex-cli 0.166.0", &answer);
    let git = Command::new("git").args(["init", "-q"]).current_dir(env.work()).status().unwrap();
    assert!(git.success());
    env
}

#[test]
fn a_run_that_changed_nothing_is_short() {
    let env = quiet_world();
    let mut client = Client::new(&env, Era::Session);
    let run = json!({ "task": "does the parser accept trailing commas?", "wait_ms": 20_000 });
    let (content, text) = reply(&mut client, "delegate_run", run);
    assert_eq!(content["status"], "completed", "{text}");
    let (structure, text_length) = (length(&content.to_string(), &env), length(&text, &env));
    assert!(structure <= 1_500, "{structure}: {content:#}");
    assert!(text_length <= 900, "{text_length}: {text}");
}

#[test]
fn an_acknowledgement_is_shorter() {
    let env = quiet_world();
    env.configure("max_concurrent = 1\n");
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let slow = json!({ "task": "fix-test --speed 0.01", "options": { "agent": "replay", "dedupe": false } });
    for state in ["starting", "queued"] {
        let (content, text) = reply(&mut client, "delegate_run", slow.clone());
        assert_eq!(content["status"], "working", "{text}");
        let structure = length(&content.to_string(), &env);
        assert!(structure <= 500, "{state}: {structure}: {content:#}");
    }
    let (content, _) = reply(&mut client, "_codex_local_run", slow);
    let structure = length(&content.to_string(), &env);
    assert!(structure <= 550, "{structure}: {content:#}");
}

/// A token is about three bytes of such JSON: 1,200 tokens in all.
#[test]
fn a_run_a_wait_and_its_results_fit_into_3600_bytes() {
    let env = quiet_world();
    let mut client = Client::new(&env, Era::Session);
    let (started, _) =
        reply(&mut client, "delegate_run", json!({ "task": "does it accept trailing commas?" }));
    let task = json!({ "task_id": started["task_id"] });
    let (waited, text) = reply(&mut client, "delegate_wait", task.clone());
    assert_eq!(waited["data"]["state"], "completed", "{text}");
    let (results, _) = reply(&mut client, "delegate_results", task);
    let all = [&started, &waited, &results].map(|content| length(&content.to_string(), &env));
    assert!(all.iter().sum::<usize>() <= 3_600, "{all:?}: {started:#} {waited:#} {results:#}");
}
