//! What replies cost a model, and whether `docs/token-cost.md` says so.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use crate::agreement::world_of;
use crate::client::{Client, Era};
use crate::primitives::World;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// A home of the usual length.
const HOME: &str = "/home/user/.local/state/delegator";

/// The text, had the home been one of the usual length.
fn usual(text: &str, env: &TestEnv) -> String {
    text.replace(env.home().to_str().unwrap(), HOME).replace(env.root().to_str().unwrap(), "/home/user")
}

fn length(text: &str, env: &TestEnv) -> usize {
    usual(text, env).len()
}

/// Ids and times, which differ from run to run, and what stands for them where tokens are counted.
const CHANGING: [(&str, &str); 4] = [
    ("T-local-[0-9a-z]{12}", "T-local-ywj9ctb1txc4"),
    ("[0-9-]{10}_[0-9]{9}_[0-9a-f]{12}", "2026-11-19_235500750_45cbe13abad8"),
    ("[0-9-]{10}T[0-9:.]{12}Z", "2026-11-19T23:55:00.750Z"),
    ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "0de2e3f0-9e42-43c5-b181-d54b2be3d089"),
];

/// The tokens of `text` in the vocabulary of current OpenAI models.
fn tokens(text: &str, env: &TestEnv) -> usize {
    let text = CHANGING.iter().fold(usual(text, env), |text, (changing, fixed)| {
        Regex::new(changing).unwrap().replace_all(&text, *fixed).into_owned()
    });
    tiktoken_rs::o200k_base_singleton().count_ordinary(&text)
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

#[test]
fn a_run_a_wait_and_its_results_cost_at_most_1200_tokens() {
    let env = quiet_world();
    let mut client = Client::new(&env, Era::Session);
    let (started, _) =
        reply(&mut client, "delegate_run", json!({ "task": "does it accept trailing commas?" }));
    let task = json!({ "task_id": started["task_id"] });
    let (waited, text) = reply(&mut client, "delegate_wait", task.clone());
    assert_eq!(waited["data"]["state"], "completed", "{text}");
    let (results, _) = reply(&mut client, "delegate_results", task);
    let all = [&started, &waited, &results].map(|content| tokens(&content.to_string(), &env));
    assert!(all.iter().sum::<usize>() <= 1_200, "{all:?}: {started:#} {waited:#} {results:#}");
}

/// A row of the table: what was asked, and bytes and tokens of the reply in Markdown and in JSON.
type Row = (&'static str, [usize; 4]);

/// Calls a tool and adds the costs of its reply to the table.
fn ask(world: &mut World, rows: &mut Vec<Row>, what: &'static str, tool: &str, arguments: Value) -> Value {
    let (content, text) = reply(&mut world.client, tool, arguments);
    let json = content.to_string();
    let env = &world.env;
    rows.push((what, [length(&text, env), tokens(&text, env), length(&json, env), tokens(&json, env)]));
    content
}

/// What becomes of tasks in ten calls.
fn measure() -> Vec<Row> {
    let (mut world, mut table) = (World::new(), Vec::new());
    let (world, rows) = (&mut world, &mut table);
    let run = |task: &str, more: Value| {
        let mut arguments =
            json!({ "task": task, "sandbox": "workspace-write", "options": { "dedupe": false } });
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        arguments
    };
    let id = |content: &Value| json!({ "task_id": content["task_id"] });
    let started = ask(world, rows, "`delegate_run`, started", "delegate_run", run("wait for me", json!({})));
    let errors = world.env.run_dir(started["run_id"].as_str().unwrap()).join("stderr.log");
    wait_for("the agent", PATIENCE, || fs::metadata(&errors).ok().filter(|file| file.len() > 0));
    ask(world, rows, "`delegate_status` of a running task", "delegate_status", id(&started));
    world.release();
    ask(world, rows, "`delegate_wait`, completed", "delegate_wait", id(&started));
    ask(world, rows, "`delegate_results`, completed", "delegate_results", id(&started));
    let failed = world.client.call("delegate_run", run("break it", json!({}))).unwrap();
    ask(world, rows, "`delegate_wait`, failed", "delegate_wait", id(&failed));
    ask(world, rows, "`delegate_results`, failed", "delegate_results", id(&failed));
    fs::remove_file(world.env.side().join("go")).unwrap();
    let quick = json!({ "options": { "dedupe": false, "timeout": { "idle_s": 1 } } });
    let late = world.client.call("delegate_run", run("wait for me", quick)).unwrap();
    ask(world, rows, "`delegate_wait`, stopped by a limit", "delegate_wait", id(&late));
    ask(world, rows, "`delegate_results`, stopped by a limit", "delegate_results", id(&late));
    let now = json!({ "wait_ms": 20_000 });
    ask(world, rows, "`delegate_run` with `wait_ms`, completed", "delegate_run", run("change it", now));
    for _ in 0..21 {
        world.client.call("delegate_run", run("wait for me", json!({}))).unwrap();
    }
    let queue = ask(world, rows, "`delegate_status`, 20 tasks queued", "delegate_status", json!({}));
    assert_eq!(queue["data"]["summary"]["queued"], 20);
    table
}

/// Durations differ from run to run.
fn near(kept: usize, found: usize) -> bool {
    kept.abs_diff(found) * 20 <= kept.max(200)
}

#[test]
fn the_table_of_the_docs_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/token-cost.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, kept) = page
        .split_once("|---")
        .and_then(|(before, table)| Some((before, table.split_once('\n')?.1)))
        .unwrap();
    let found = measure();
    if std::env::var_os("BLESS").is_some() {
        let mut page = format!("{before}|---|---:|---:|---:|---:|\n");
        for (what, [bytes, tokens, json_bytes, json_tokens]) in found {
            writeln!(page, "| {what} | {bytes} | {tokens} | {json_bytes} | {json_tokens} |").unwrap();
        }
        return fs::write(path, page).unwrap();
    }
    assert_eq!(kept.lines().count(), found.len());
    for (line, (what, figures)) in kept.lines().zip(found) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        assert_eq!(cells[1], what);
        let kept: Vec<usize> = cells[2..6].iter().map(|cell| cell.parse().unwrap()).collect();
        let same = kept.iter().zip(figures).all(|(kept, found)| near(*kept, found));
        assert!(same, "{what}: the page says {kept:?}, found {figures:?}: run this test once with BLESS=1");
    }
}
