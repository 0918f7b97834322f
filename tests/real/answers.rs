//! Runs that do what they were asked: what the caller gets, what is on disk, what Codex was told.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::env::{KEY, TestEnv, artifact, document, items, text};
use crate::model::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS, task};

/// An answer in the shape that delegator asks for by default.
fn report() -> Value {
    json!({
        "summary": "Looked at everything.",
        "deliverables": [{ "path": "README.md", "description": "what it is" }],
        "open_questions": ["Which licence?"],
        "next_actions": ["Choose one"],
    })
}

#[test]
fn a_plain_answer_comes_back_with_its_thread_and_its_cost() {
    let env = TestEnv::new();
    let run = env.run(&[], &task("answer", &json!({ "value": "Nothing to do." }))).ended(0);
    assert_eq!(run["status"], "completed");
    assert_eq!(run["summary"], "Nothing to do.");
    assert_eq!(run["error"], Value::Null);
    assert_eq!(run["report_by"], "agent");

    let requests = env.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(requests[0].header("thread-id"), run["subagent_thread_id"].as_str());
    assert_eq!(requests[0].turn()["sandbox_mode"], "read-only");
    assert_eq!(requests[0].turn()["thread_source"], "delegator");

    let results = env.results(&run);
    assert_eq!(results["state"], "completed");
    let thread = &results["metadata"]["thread_info"];
    assert_eq!(thread["thread_id"], run["subagent_thread_id"]);
    assert_eq!(thread["token_usage"]["input_tokens"], INPUT_TOKENS);
    assert_eq!(thread["token_usage"]["cached_input_tokens"], CACHED_TOKENS);
    assert_eq!(thread["token_usage"]["output_tokens"], OUTPUT_TOKENS);
}

#[test]
fn the_key_is_handed_over_and_written_nowhere() {
    let env = TestEnv::new();
    let run = env.run(&[], &task("plain", &json!({}))).ended(0);
    assert_eq!(env.requests()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(artifact(&run, "command.json").contains("FAKE_KEY"), "the name is part of the record");
    let holding = files_holding(KEY, &env.path("state"));
    assert!(holding.is_empty(), "the value is in {holding:?}");
}

#[test]
fn a_command_runs_and_its_output_is_kept() {
    let env = TestEnv::new();
    let script = json!({ "cmd": "echo the answer is $((6 * 7))", "answer": report() });
    let run = env.run(&[], &task("shell", &script)).ended(0);
    assert_eq!(run["status"], "completed");

    let commands = items(&run, "command_execution");
    assert_eq!(commands.len(), 1);
    assert_eq!(commands[0]["aggregated_output"], "the answer is 42\n");
    assert_eq!(commands[0]["exit_code"], 0);
    let seen = env.requests()[1].body["input"].to_string();
    assert!(seen.contains("the answer is 42"), "the model saw no output: {seen}");
}

#[test]
fn a_patch_changes_the_repository_when_the_run_may_write() {
    let env = TestEnv::new();
    let script = json!({ "path": "added.txt", "body": "one\ntwo", "answer": report() });
    let run = env.run(&["--sandbox", "workspace-write"], &task("patch", &script)).ended(0);
    assert_eq!(run["status"], "completed");
    assert_eq!(fs::read_to_string(env.repo("added.txt")).unwrap(), "one\ntwo\n");
    assert_eq!(items(&run, "file_change")[0]["status"], "completed");
    // The agent's change and nothing else: no index, no stash, no commit of ours.
    assert_eq!(env.git(&["status", "--porcelain"]), "?? added.txt\n");
    assert_eq!(env.git(&["stash", "list"]), "");
    assert_eq!(env.git(&["rev-list", "--count", "HEAD"]), "1\n");
}

#[test]
fn a_patch_changes_nothing_when_the_run_may_only_read() {
    let env = TestEnv::new();
    let script = json!({ "path": "added.txt", "body": "one" });
    env.run(&[], &task("patch", &script)).ended(0);
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn an_answer_in_the_default_shape_is_taken_apart() {
    let env = TestEnv::new();
    let run = env.run(&[], &task("answer", &json!({ "value": report() }))).ended(0);
    assert_eq!(run["status"], "completed");
    for key in ["summary", "deliverables", "open_questions", "next_actions"] {
        assert_eq!(run[key], report()[key], "{key}");
    }
    assert_eq!(run.get("warnings"), None);
    assert_eq!(document(&run, "last_message.json"), report());
    assert_eq!(env.requests()[0].body["text"]["format"]["type"], "json_schema");
}

#[test]
fn an_answer_outside_the_default_shape_is_kept_with_a_warning() {
    let env = TestEnv::new();
    let run = env.run(&[], &task("answer", &json!({ "value": "Just prose, {not JSON}." }))).ended(0);
    assert_eq!(run["status"], "completed");
    assert_eq!(run["summary"], "Just prose, {not JSON}.");
    assert_eq!(run["warnings"].as_array().map(Vec::len), Some(1), "{run:#}");
}

#[test]
fn an_answer_that_fits_the_callers_schema_completes() {
    let env = TestEnv::new();
    let run = with_schema(&env, &json!({ "count": 3 }), 0);
    assert_eq!(run["status"], "completed");
    assert_eq!(run.get("warnings"), None);
    assert_eq!(document(&run, "last_message.json"), json!({ "count": 3 }));
    assert_eq!(env.requests()[0].body["text"]["format"]["schema"]["required"], json!(["count"]));
}

#[test]
fn an_answer_that_breaks_the_callers_schema_fails() {
    for wrong in [json!({ "count": "three" }), json!("prose")] {
        let env = TestEnv::new();
        let run = with_schema(&env, &wrong, 1);
        assert_eq!(run["status"], "failed");
        assert_eq!(env.results(&run)["metadata"]["error_context"]["code"], "SCHEMA");
        let kept = artifact(&run, "last_message.json");
        assert_eq!(kept, wrong.as_str().map_or_else(|| wrong.to_string(), str::to_owned));
    }
}

fn with_schema(env: &TestEnv, answer: &Value, code: i32) -> Value {
    let schema = json!({
        "type": "object",
        "properties": { "count": { "type": "integer" } },
        "required": ["count"],
        "additionalProperties": false,
    });
    env.write("schema.json", &schema.to_string());
    let file = env.path("schema.json");
    let flags = ["--output-schema", text_of(&file)];
    env.run(&flags, &task("answer", &json!({ "value": answer }))).ended(code)
}

fn text_of(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

fn files_holding(needle: &str, directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_holding(needle, &path));
        } else if fs::read(&path)
            .is_ok_and(|bytes| bytes.windows(needle.len()).any(|w| w == needle.as_bytes()))
        {
            found.push(text(&json!({ "path": path }), "path").to_owned());
        }
    }
    found
}
