//! The primitives answer in the shapes that S2 shows, with the values of the run at hand.
//!
//! Every reply is also checked against its schema, and its text against its structure (`client.rs`).

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

const THREAD: &str = "01a1de11-e775-7fc2-8102-000000000001";

/// Changes files, says what `EVENTS` has for its task, and stays until `go` exists if it is told to wait.
const CODEX: &str = r#"#!/bin/sh
case "$1 $2" in
"--version "*) echo 'a codex without a version'; exit ;;
"exec --help") cat 'HELP'; exit ;;
"mcp list") echo '[]'; exit ;;
esac
prompt=$(cat)
echo 'something on the side' >&2
case "$prompt" in
*'wait for me'*) while ! [ -e SIDE/go ]; do sleep 0.02; done; cat SIDE/done ;;
*'break it'*) cat SIDE/broken; exit 1 ;;
*) echo more >> api.txt; echo new > api.test; cat SIDE/done ;;
esac
"#;

pub struct World {
    pub env: TestEnv,
    pub client: Client,
}

impl World {
    pub fn new() -> World {
        let env = TestEnv::new();
        let (side, codex) = (env.side(), env.root().join("bin/codex"));
        let help = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/codex/exec_help.txt");
        fs::write(&codex, CODEX.replace("HELP", help).replace("SIDE", side.to_str().unwrap())).unwrap();
        fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(side.join("done"), lines(&done())).unwrap();
        fs::write(side.join("broken"), lines(&broken(&env.work()))).unwrap();
        fs::write(env.work().join("service.js"), "\n".repeat(60)).unwrap();
        fs::write(env.work().join("api.txt"), "api\n").unwrap();
        for args in [&["init", "-q"][..], &["add", "."], &["commit", "-qm", "begin"]] {
            let mut git = Command::new("git");
            env.settle_in(&mut git);
            for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.org")] {
                git.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
            }
            assert!(git.args(args).status().unwrap().success(), "{args:?}");
        }
        env.configure(&format!("codex_path = {codex:?}\nmax_concurrent = 1\n"));
        let client = Client::of(&env, &["--tools", "all"], &[]);
        World { env, client }
    }

    /// Calls a tool twice, for text and for JSON. The text of the second is its structure.
    #[track_caller]
    fn both(&mut self, tool: &str, mut arguments: Value) -> Value {
        self.client.call(tool, arguments.clone()).unwrap();
        arguments["format"] = "json".into();
        let reply = self.client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text: Value = serde_json::from_str(reply["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, reply["structuredContent"]);
        text
    }

    #[track_caller]
    fn start(&mut self, task: &str) -> Value {
        let ask = json!({
            "task": task, "mode": "workspace-write", "working_dir": self.env.work(), "options": { "dedupe": false },
            "format": "json",
        });
        self.client.call("_codex_local_exec", ask).unwrap()
    }

    /// Runs a task to its end.
    #[track_caller]
    fn finish(&mut self, task: &str) -> String {
        let id = self.start(task)["data"]["task_id"].as_str().unwrap().to_owned();
        self.env.await_final(&id);
        id
    }

    pub fn release(&self) {
        fs::write(self.env.side().join("go"), "").unwrap();
    }
}

fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn begun() -> [Value; 2] {
    [json!({ "type": "thread.started", "thread_id": THREAD }), json!({ "type": "turn.started" })]
}

fn ran(command: &str, output: &str, exit_code: i32) -> Value {
    let status = if exit_code == 0 { "completed" } else { "failed" };
    let item = json!({
        "id": "item_0", "type": "command_execution", "command": command, "aggregated_output": output,
        "exit_code": exit_code, "status": status,
    });
    json!({ "type": "item.completed", "item": item })
}

fn done() -> Vec<Value> {
    let tests =
        "test result: ok. 47 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
    let answer = json!({
        "summary": "Changed the API and tested it", "deliverables": [], "open_questions": [], "next_actions": [],
    });
    let said = json!({ "id": "item_1", "type": "agent_message", "text": answer.to_string() });
    let usage = json!({ "input_tokens": 12000, "cached_input_tokens": 11160, "output_tokens": 3500 });
    let [thread, turn] = begun();
    vec![
        thread,
        turn,
        ran("cargo test", &format!("running 47 tests\n{}\n{tests}", "x".repeat(6000)), 0),
        json!({ "type": "item.completed", "item": said }),
        json!({ "type": "turn.completed", "usage": usage }),
    ]
}

fn broken(work: &Path) -> Vec<Value> {
    let file = work.join("service.js");
    let file = file.display();
    let trace = format!(
        "{file}:42\n    return user.name;\n                ^\n\nTypeError: Cannot read properties of null (reading 'name')\n    \
         at read ({file}:42:15)\n    at Object.<anonymous> ({file}:50:1)\n\nNode.js v20.1.0\n"
    );
    let [thread, turn] = begun();
    let failed = json!({ "type": "turn.failed", "error": { "message": "the model gave up" } });
    vec![thread, turn, ran("node service.js", &trace, 1), failed]
}

/// Whether `reply` has everything that `example` has, of the same type.
#[track_caller]
fn like(reply: &Value, example: &Value) {
    if let Err(what) = compare(reply, example) {
        panic!("{what} in {reply:#}");
    }
}

fn compare(reply: &Value, example: &Value) -> Result<(), String> {
    match (reply, example) {
        (Value::Object(reply), Value::Object(example)) => example.iter().try_for_each(|(name, example)| {
            let found = reply.get(name).ok_or(format!("`{name}` is missing"))?;
            compare(found, example).map_err(|what| format!("{name}: {what}"))
        }),
        (Value::Array(reply), Value::Array(example)) => match example.first() {
            Some(_) if reply.is_empty() => Err("it is empty".to_owned()),
            Some(example) => reply.iter().try_for_each(|one| compare(one, example)),
            None => Ok(()),
        },
        (Value::String(_), Value::String(_))
        | (Value::Number(_), Value::Number(_))
        | (Value::Bool(_), Value::Bool(_)) => Ok(()),
        (found, example) => Err(format!("{found} is not like {example}")),
    }
}

/// The envelope of every reply.
fn envelope(tool: &str, category: &str, meta: Value, data: Value) -> Value {
    json!({
        "version": "3.6", "schema_id": format!("codex/v3.6/{category}/v1"), "tool": tool, "tool_category": category,
        "request_id": "", "ts": "", "status": "ok", "meta": meta, "data": data,
    })
}

#[track_caller]
fn is_reply(reply: &Value, tool: &str, category: &str, meta: Value, data: Value) {
    like(reply, &envelope(tool, category, meta, data));
    for (name, value) in [("version", "3.6"), ("tool", tool), ("tool_category", category), ("status", "ok")] {
        assert_eq!(reply[name], value, "{reply:#}");
    }
    assert_eq!(reply["schema_id"], format!("codex/v3.6/{category}/v1"));
}

#[test]
fn a_start_is_acknowledged() {
    let mut world = World::new();
    let first = world.start("do it");
    let data = json!({ "task_id": "", "accepted": true, "capability": "", "started_at": "" });
    is_reply(&first, "_codex_local_exec", "execution_ack", json!({ "queue_position": 0 }), data);
    assert_eq!(
        (&first["data"]["accepted"], &first["data"]["capability"]),
        (&json!(true), &json!("background"))
    );
    assert_eq!(first["data"].get("expected_duration"), None, "there is no history yet");
    world.env.await_final(first["data"]["task_id"].as_str().unwrap());
    (0..2).for_each(|_| drop(world.finish("do it")));

    let data = json!({ "task_id": "", "accepted": true, "expected_duration": "", "started_at": "" });
    let running = world.start("wait for me");
    is_reply(&running, "_codex_local_exec", "execution_ack", json!({ "queue_position": 0 }), data.clone());
    let expected = running["data"]["expected_duration"].as_str().unwrap();
    assert!(expected.ends_with(", based on 3 earlier runs"), "{expected}");
    let queued = world.start("do it");
    is_reply(&queued, "_codex_local_exec", "execution_ack", json!({ "queue_position": 1 }), data);
    world.release();

    let parent = first["data"]["task_id"].clone();
    let resumed = json!({ "task_id": parent, "task": "go on", "format": "json" });
    world.env.await_final(queued["data"]["task_id"].as_str().unwrap());
    let resumed = world.client.call("_codex_local_resume", resumed).unwrap();
    assert_eq!(resumed["data"]["thread_id"], THREAD, "{resumed}");
}

#[test]
fn a_wait_returns_the_whole_result() {
    let mut world = World::new();
    let task = world.finish("do it");
    let reply = world.both("_codex_local_wait", json!({ "task_id": task }));
    let metadata = json!({
        "duration": 1,
        "file_operations": {
            "modified_files": [""], "added_files": [""], "deleted_files": [], "lines_changed": 1,
        },
        "test_results": { "passed": 47, "failed": 0, "skipped": 0, "failed_tests": [] },
        "thread_info": {
            "thread_id": "", "cache_hit_rate": 0.93,
            "token_usage": { "input_tokens": 1, "cached_input_tokens": 1, "output_tokens": 1 },
        },
    });
    let data = json!({
        "task_id": "", "state": "", "summary": "", "metadata": metadata,
        "output": { "included": false, "reason": "", "truncated": false, "max_bytes": 0 },
    });
    let meta = json!({ "started_ts": "", "completed_ts": "", "duration_ms": 1, "exit_code": 0 });
    is_reply(&reply, "_codex_local_wait", "wait_result", meta, data);
    let (data, metadata) = (&reply["data"], &reply["data"]["metadata"]);
    assert_eq!((&data["task_id"], &data["state"]), (&json!(task), &json!("completed")));
    assert_eq!(data["summary"], "Changed the API and tested it");
    let files = &metadata["file_operations"];
    assert_eq!(
        (&files["modified_files"], &files["added_files"], &files["lines_changed"]),
        (&json!(["api.txt"]), &json!(["api.test"]), &json!(2))
    );
    assert_eq!(metadata["test_results"]["passed"], 47);
    let thread = &metadata["thread_info"];
    assert_eq!((&thread["thread_id"], &thread["cache_hit_rate"]), (&json!(THREAD), &json!(0.93)));
    assert_eq!(data["output"]["included"], false);
    assert_eq!(reply["meta"]["exit_code"], 0);
}

#[test]
fn output_comes_with_a_wait_on_request_and_is_cut_where_asked() {
    let mut world = World::new();
    let task = world.finish("do it");
    let ask = json!({ "task_id": task, "include_output": true });
    let whole = world.both("_codex_local_wait", ask)["data"]["output"].clone();
    let example = json!({ "included": true, "stdout": "", "stderr": "", "truncated": false, "max_bytes": 1 });
    like(&whole, &example);
    assert_eq!((&whole["included"], &whole["truncated"]), (&json!(true), &json!(false)), "{whole}");
    assert_eq!(whole["stderr"], "something on the side\n");
    let ask = json!({ "task_id": task, "include_output": true, "max_output_bytes": 1000 });
    let results = world.both("_codex_local_results", ask.clone())["data"]["output"].clone();
    let cut = world.both("_codex_local_wait", ask)["data"]["output"].clone();
    assert_eq!(cut, results, "waits and results include the same");
    assert_eq!((&cut["truncated"], &cut["max_bytes"]), (&json!(true), &json!(1000)));
    assert!(cut["original_size"].as_u64().unwrap() > 6000, "{cut}");
    let both = json!({ "task_ids": [task, world.finish("do it")], "include_output": true });
    let refused = world.client.call("_codex_local_wait", both).unwrap_err();
    assert!(refused.contains("only for a wait for one task"), "{refused}");
}

#[test]
fn a_snapshot_shows_all_that_runs_and_waits() {
    let mut world = World::new();
    let idle = world.both("_codex_local_status", json!({}));
    let none = json!({ "running": 0, "queued": 0, "recently_completed": 0 });
    assert_eq!(idle["data"]["summary"], none);
    for list in ["tasks", "queue", "recently_completed"] {
        assert_eq!(idle["data"].get(list), None, "{list}");
    }
    let ended: Vec<String> = (0..6).map(|_| world.finish("do it")).collect();
    let running = world.start("wait for me")["data"]["task_id"].clone();
    let queued: Vec<Value> = (0..7).map(|_| world.start("do it")["data"]["task_id"].clone()).collect();
    // Under load, its supervisor needs a moment to start the agent.
    let reply = wait_for("the agent to start", PATIENCE, || {
        let reply = world.both("_codex_local_status", json!({}));
        reply["data"]["tasks"][0]["started_ts"].is_string().then_some(reply)
    });
    let data = json!({
        "summary": { "running": 1, "queued": 7, "recently_completed": 5 },
        "tasks": [{ "task_id": "", "state": "", "started_ts": "", "elapsed_seconds": 1 }],
        "queue": [{ "task_id": "", "position": 1 }],
        "recently_completed": [{ "task_id": "", "state": "", "duration_seconds": 1, "completed_ts": "" }],
    });
    is_reply(
        &reply,
        "_codex_local_status",
        "status_snapshot",
        json!({ "snapshot_ts": "", "total": 13 }),
        data.clone(),
    );
    assert_eq!((&reply["meta"]["total"], &reply["data"]["summary"]), (&json!(13), &data["summary"]));
    let ids = |list: &str| -> Vec<Value> {
        reply["data"][list].as_array().unwrap().iter().map(|one| one["task_id"].clone()).collect()
    };
    assert_eq!((ids("tasks"), ids("queue")), (vec![running.clone()], queued));
    let latest: Vec<Value> = ended.iter().rev().take(5).map(|id| json!(id)).collect();
    assert_eq!(ids("recently_completed"), latest);
    let queue = reply["data"]["queue"].as_array().unwrap();
    let positions: Vec<u64> = queue.iter().map(|one| one["position"].as_u64().unwrap()).collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6, 7]);
    // Six earlier runs tell how long one takes, but the one that works has taken longer than all of them.
    let verbose = world.both("_codex_local_status", json!({ "limit": 1, "verbose": true }));
    let one = &verbose["data"]["recently_completed"];
    assert_eq!(one.as_array().unwrap().len(), 1, "{one}");
    let last = one[0]["last_lines"].as_array().unwrap();
    assert!((1..=5).contains(&last.len()), "{last:?}");
    assert!(last.iter().all(|line| line.as_str().unwrap().chars().count() <= 200), "{last:?}");
    world.release();
    let ask =
        json!({ "task_id": running, "timeout_sec": 60, "poll_interval_sec": 5, "initial_delay_sec": 2 });
    assert_eq!(world.client.call("_codex_local_wait", ask).unwrap()["data"]["state"], "completed");
}

#[test]
fn results_have_metadata_events_and_output_as_asked_for() {
    let mut world = World::new();
    let task = world.finish("do it");
    let reply = world.both("_codex_local_results", json!({ "task_id": task }));
    let data = json!({
        "task_id": "", "state": "", "summary": "", "duration_seconds": 1, "completed_ts": "",
        "metadata": { "duration": 1, "file_operations": {}, "test_results": {}, "thread_info": {}, "task_status": "" },
        "output": { "included": false, "reason": "", "truncated": false, "max_bytes": 0 },
        "events": { "included": false, "count": 5, "reason": "" },
    });
    is_reply(&reply, "_codex_local_results", "result_set", json!({ "count": 1 }), data);
    assert_eq!(reply["data"]["metadata"]["task_status"], "completed");
    assert_eq!(reply["data"]["metadata"].get("error_context").filter(|context| !context.is_null()), None);
    assert_eq!(reply["data"]["events"]["count"], 5);
    let ask = json!({ "task_id": task, "include_events": true });
    let events = world.client.call("_codex_local_results", ask).unwrap()["data"]["events"].clone();
    assert_eq!(
        (&events["included"], events["items"].as_array().unwrap().len()),
        (&json!(true), 5),
        "{events}"
    );
}

#[test]
fn a_failed_run_explains_itself() {
    let mut world = World::new();
    let task = world.finish("break it");
    let reply = world.both("_codex_local_results", json!({ "task_id": task }));
    let context = json!({
        "error_message": "", "error_type": "", "failed_files": [""],
        "error_locations": [{ "file": "", "line": 1, "column": 1 }], "suggestions": [""],
    });
    let data = json!({
        "task_id": "", "state": "", "summary": "", "duration_seconds": 1, "completed_ts": "",
        "metadata": { "duration": 1, "error_context": context, "task_status": "" },
        "output": { "included": true, "stdout": "", "stderr": "", "truncated": false, "max_bytes": 1 },
    });
    is_reply(&reply, "_codex_local_results", "result_set", json!({ "count": 1 }), data);
    let (data, context) = (&reply["data"], &reply["data"]["metadata"]["error_context"]);
    assert_eq!((&data["state"], &data["metadata"]["task_status"]), (&json!("failed"), &json!("failed")));
    assert_eq!(
        (&context["error_type"], &context["error_locations"][0]["line"]),
        (&json!("TypeError"), &json!(42))
    );
    assert!(data["output"]["stdout"].as_str().unwrap().contains("TypeError"), "{data:#}");
}

#[test]
fn a_cleanup_says_what_it_did_or_would_do() {
    let mut world = World::new();
    world.finish("do it");
    let ask = |dry_run| json!({ "dry_run": dry_run, "stuck_threshold_seconds": 60, "old_threshold_hours": 0.000_000_1, "format": "json" });
    let meta = json!({ "dry_run": true, "stuck_threshold_seconds": 1, "old_threshold_hours": 1 });
    let data = json!({
        "stuck_tasks": { "found": 0, "cleaned": 0, "task_ids": [] },
        "old_tasks": { "found": 1, "deleted": 0, "oldest_age_hours": 1 },
        "summary": "",
    });
    for (dry_run, deleted, summary) in [(true, 0, "would remove 1 old run"), (false, 1, "removed 1 old run")]
    {
        let reply = world.client.call("_codex_cleanup_registry", ask(dry_run)).unwrap();
        is_reply(&reply, "_codex_cleanup_registry", "registry_info", meta.clone(), data.clone());
        let (meta, data) = (&reply["meta"], &reply["data"]);
        assert_eq!((&meta["dry_run"], &meta["stuck_threshold_seconds"]), (&json!(dry_run), &json!(60.0)));
        assert_eq!(
            (&data["old_tasks"]["found"], &data["old_tasks"]["deleted"]),
            (&json!(1), &json!(deleted))
        );
        assert!(data["summary"].as_str().unwrap().starts_with(summary), "{data:#}");
        // The configuration decides how long runs are kept, whatever this call asked for.
        assert_eq!(data["storage"]["runs"]["retention_hours"], 720.0, "{data:#}");
    }
    let reply = world.client.call("_codex_cleanup_registry", json!({ "dry_run": true })).unwrap();
    assert_eq!(
        (&reply["meta"]["stuck_threshold_seconds"], &reply["meta"]["old_threshold_hours"]),
        (&json!(3600.0), &json!(720.0))
    );
}

#[test]
fn an_error_names_its_code_and_what_to_do() {
    let mut world = World::new();
    for (tool, arguments, code) in [
        ("_codex_local_exec", json!({ "task": " " }), "VALIDATION"),
        ("_codex_local_run", json!({ "task": "x", "mode": "danger-full-access" }), "VALIDATION"),
        ("_codex_local_wait", json!({ "task_id": "T-local-none" }), "NOT_FOUND"),
        ("_codex_cloud_submit", json!({ "task": "x", "env_id": "e", "model": "m" }), "UNSUPPORTED"),
        ("_codex_cloud_submit", json!({ "task": "x", "attempts": 5 }), "VALIDATION"),
    ] {
        let mut arguments = arguments;
        arguments["format"] = "json".into();
        let reply = world.client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        let content = &reply["structuredContent"];
        let example = json!({
            "version": "", "schema_id": "", "tool": "", "tool_category": "", "request_id": "", "ts": "", "status": "",
            "meta": {}, "error": { "code": "", "message": "", "details": {}, "retryable": false },
        });
        like(content, &example);
        assert_eq!(
            (&content["status"], &content["error"]["code"]),
            (&json!("error"), &json!(code)),
            "{content:#}"
        );
        assert_eq!(content.get("data"), None);
    }
}

/// Codex Cloud as it was recorded (`support/codex_cloud.sh`).
struct Cloud {
    client: Client,
    dir: PathBuf,
    env: TestEnv,
}

impl Cloud {
    fn new(state: &str) -> Cloud {
        let env = TestEnv::new();
        let program = env.root().join("bin/codex");
        fs::write(&program, include_str!("../support/codex_cloud.sh")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let dir = env.side().join("cloud");
        fs::create_dir_all(dir.join("tasks")).unwrap();
        fs::write(dir.join("state"), state).unwrap();
        env.configure(&format!("codex_path = {program:?}\n"));
        let client = Client::of(&env, &["--tools", "all"], &[]);
        Cloud { client, dir, env }
    }
}

#[test]
fn a_cloud_task_is_submitted_watched_and_read() {
    let mut cloud = Cloud::new("PENDING");
    let ask = json!({ "task": "fix it", "env_id": "e", "attempts": 2, "branch": "main", "format": "json" });
    let submitted = cloud.client.call("_codex_cloud_submit", ask).unwrap();
    let data = json!({ "task_id": "", "accepted": true, "capability": "", "started_at": "" });
    is_reply(&submitted, "_codex_cloud_submit", "execution_ack", json!({ "queue_position": 0 }), data);
    let task = submitted["data"]["task_id"].as_str().unwrap().to_owned();
    assert!(task.starts_with("T-cloud-"), "{task}");
    // Any of the tools takes any task.
    for tool in ["_codex_cloud_status", "_codex_local_status", "delegate_status"] {
        let status = cloud.client.call(tool, json!({ "task_id": task })).unwrap();
        assert_eq!((&status["tool"], &status["data"]["tasks"][0]["task_id"]), (&json!(tool), &json!(task)));
    }
    for (tool, listed) in [("_codex_cloud_status", 1), ("_codex_local_status", 0), ("delegate_status", 1)] {
        let status = cloud.client.call(tool, json!({})).unwrap();
        assert_eq!(
            (&status["data"]["summary"]["running"], &status["meta"]["total"]),
            (&json!(listed), &json!(listed))
        );
    }
    let refused =
        cloud.client.call("_codex_cloud_submit", json!({ "task": "x", "env_id": "e", "model": "m" }));
    assert!(refused.unwrap_err().contains("the service chooses it"));
    let nowhere = cloud.client.call("_codex_cloud_submit", json!({ "task": "x" })).unwrap_err();
    assert!(nowhere.contains("`_codex_cloud_list_environments`"), "{nowhere}");
    fs::write(cloud.dir.join("diff"), "diff --git a/x b/x\n+more\n").unwrap();
    fs::write(cloud.dir.join("state"), "READY").unwrap();
    let ask = json!({ "task_id": task, "timeout_sec": 60 });
    let waited = cloud.client.call("_codex_cloud_wait", ask).unwrap();
    assert_eq!(
        (&waited["tool"], &waited["data"]["state"]),
        (&json!("_codex_cloud_wait"), &json!("completed"))
    );
    let results = cloud.client.call("_codex_cloud_results", json!({ "task_id": task })).unwrap();
    assert_eq!(results["data"]["state"], "completed");
    let calls = fs::read_to_string(cloud.dir.join("calls")).unwrap();
    assert_eq!(calls.lines().filter(|call| *call == "exec").count(), 1, "{calls}");
    assert_eq!(cloud.env.await_final(&task), "completed");
}

#[test]
fn the_cloud_takes_nothing_back_but_tells_where() {
    let mut cloud = Cloud::new("PENDING");
    let ask = json!({ "task": "fix it", "env_id": "e" });
    let task = cloud.client.call("_codex_cloud_submit", ask).unwrap()["data"]["task_id"].clone();
    // Once it has been asked how far the task is, it has the task.
    wait_for("the first poll", PATIENCE, || cloud.dir.join("at-status").exists().then_some(()));
    let wait = json!({ "task_id": task, "timeout_sec": 40 });
    let wait = json!({ "name": "_codex_cloud_wait", "arguments": wait, "_meta": { "progressToken": "w" } });
    let waits = cloud.client.begin("tools/call", wait);
    cloud.client.wait_for("its progress", |message| message["method"] == "notifications/progress");
    let ask = json!({ "task_id": task, "reason": "enough", "format": "json" });
    let reply = cloud.client.result("tools/call", json!({ "name": "_codex_cloud_cancel", "arguments": ask }));
    let error = &reply["structuredContent"]["error"];
    assert_eq!(error["code"], "UNSUPPORTED", "{error:#}");
    assert_eq!(error["details"]["page"], "https://chatgpt.com/codex/tasks/task_e_1", "{error:#}");
    let waited = cloud.client.answer(waits)["result"]["structuredContent"].clone();
    assert_eq!(waited["data"]["state"], "working", "{waited:#}");
    assert!(waited["meta"]["duration_ms"].as_u64().unwrap() < 30_000, "it was sent away: {waited:#}");
    let status = cloud.client.call("_codex_cloud_status", json!({ "task_id": task })).unwrap();
    assert_eq!(status["data"]["tasks"][0]["state"], "working", "it is followed on");
    fs::write(cloud.dir.join("diff"), "diff --git a/x b/x\n+more\n").unwrap();
    fs::write(cloud.dir.join("state"), "READY").unwrap();
    let waited =
        cloud.client.call("_codex_cloud_wait", json!({ "task_id": task, "timeout_sec": 60 })).unwrap();
    assert_eq!(waited["data"]["state"], "completed", "{waited:#}");
}

#[test]
fn a_cloud_task_that_fails_after_a_refused_cancel_is_seen_to_fail() {
    let mut cloud = Cloud::new("PENDING");
    let ask = json!({ "task": "fix it", "env_id": "e" });
    let task = cloud.client.call("_codex_cloud_submit", ask).unwrap()["data"]["task_id"].clone();
    wait_for("the first poll", PATIENCE, || cloud.dir.join("at-status").exists().then_some(()));
    cloud.client.call("_codex_cloud_cancel", json!({ "task_id": task })).unwrap_err();
    fs::write(cloud.dir.join("state"), "ERROR").unwrap();
    // Nobody waits: status alone tells.
    let ended = wait_for("the end", PATIENCE, || {
        let status = cloud.client.call("_codex_cloud_status", json!({ "task_id": task })).unwrap();
        status["data"]["recently_completed"].get(0).cloned()
    });
    assert_eq!(ended["state"], "failed", "{ended:#}");
}

#[test]
fn environments_are_listed_with_their_source() {
    let mut cloud = Cloud::new("PENDING");
    let none = cloud.client.call("_codex_cloud_list_environments", json!({})).unwrap();
    assert_eq!((&none["meta"]["count"], &none["data"]["environments"]), (&json!(0), &json!([])));
    let add =
        ["environments", "add", "env_a", "--name", "My Project", "--repository", "https://github.com/user/a"];
    cloud.env.expect(0, &[&add[..], &["--tech-stack", "node"]].concat());
    cloud.client.call("_codex_cloud_list_environments", json!({})).unwrap();
    let reply = cloud.client.call("_codex_cloud_list_environments", json!({ "format": "json" })).unwrap();
    let row =
        json!({ "id": "", "name": "", "repository": "", "tech_stack": "", "created_at": "", "source": "" });
    let meta = json!({ "count": 1, "source": "" });
    is_reply(
        &reply,
        "_codex_cloud_list_environments",
        "registry_info",
        meta,
        json!({ "environments": [row] }),
    );
    let row = &reply["data"]["environments"][0];
    assert_eq!((&row["id"], &row["name"]), (&json!("env_a"), &json!("My Project")));
    assert!(
        reply["meta"]["source"].as_str().unwrap().ends_with("/config/delegator/environments.json"),
        "{reply}"
    );
}

#[test]
fn the_guide_to_github_is_for_the_repository_at_hand() {
    let mut cloud = Cloud::new("PENDING");
    let ask = json!({ "repository": "user/repo", "tech_stack": "node" });
    cloud.client.call("_codex_cloud_github_setup", ask.clone()).unwrap();
    let reply = cloud.client.call("_codex_cloud_github_setup", ask).unwrap();
    let meta = json!({ "repository": "", "tech_stack": "" });
    let data = json!({
        "guide": "", "steps": [{ "step": 1, "title": "", "instructions": "" }], "verification_task": "",
    });
    is_reply(&reply, "_codex_cloud_github_setup", "registry_info", meta, data);
    assert_eq!(reply["meta"]["repository"], "https://github.com/user/repo");
    let data = &reply["data"];
    for (step, number) in data["steps"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(step["step"], number);
        assert!(data["guide"].as_str().unwrap().contains(step["instructions"].as_str().unwrap()), "{step}");
        assert!(
            !step["instructions"].as_str().unwrap().contains("[redacted"),
            "a script must stay whole: {step}"
        );
    }
    let refused = cloud.client.call("_codex_cloud_github_setup", json!({ "repository": "no" })).unwrap_err();
    assert!(refused.contains("owner/name"), "{refused}");
}
