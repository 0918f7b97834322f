//! Every command with `--json`: one document, of its schema, that says what
//! the text says.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::normalized_output::{fits, value};
use crate::support::env::TestEnv;

/// Runs a command both ways.
#[track_caller]
fn check(env: &TestEnv, schema: &str, code: i32, args: &[&str]) -> (String, Value) {
    let text = env.expect(code, args).stdout;
    let ran = env.expect(code, &[args, &["--json"]].concat());
    assert_eq!(ran.stderr, "", "{args:?}");
    let document =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", ran.stdout));
    fits(schema, &document);
    (text, document)
}

#[track_caller]
fn run(env: &TestEnv, code: i32, options: &[&str]) -> Value {
    let ran = env.expect(code, &[&["run", "--json"], options].concat());
    let document =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", ran.stdout, ran.stderr));
    fits("delegate_run", &document);
    document
}

/// Asserts that the first suggestion is a call of `tool` for this task.
#[track_caller]
fn suggests(reply: &Value, tool: &str, task: &str) {
    let first = &reply["next"][0];
    assert_eq!((&first["tool"], &first["arguments"]["task_id"]), (&json!(tool), &json!(task)), "{reply:#}");
}

fn id(report: &Value) -> &str {
    report["task_id"].as_str().unwrap()
}

#[test]
fn a_report_has_the_facts_of_the_run() {
    let env = TestEnv::new();
    let report = run(&env, 0, &["--agent", "replay", "--wait", "fix-test --instant"]);
    assert_eq!(report["status"], "completed");
    assert_eq!(report["report_by"], "agent");
    assert_eq!(report["subagent_thread_id"], "01a20000-0000-7000-8000-00000000f1c5");
    assert_eq!(report["deliverables"][1]["path"], "tests/leap_years.rs");
    assert_eq!(report["next_actions"], json!(["review the two files and commit them"]));
    assert_eq!(report["error"], Value::Null);
    assert!(report["timing"]["duration_ms"].is_u64(), "{report:#}");

    let failed = run(&env, 1, &["--agent", "command", "--wait", "echo no >&2; exit 3"]);
    assert_eq!((&failed["status"], &failed["summary"]), (&json!("failed"), &json!("exit 3: no")));
    assert_eq!(failed["error"], "the command ended with exit code 3");
    assert_eq!(failed.get("report_by"), None, "a command reports nothing");

    let late = run(&env, 4, &["--agent", "command", "--wait", "--timeout", "0.1", "sleep 60"]);
    assert_eq!((&late["status"], &late["wait_exceeded"]), (&json!("working"), &json!(true)));
    assert_eq!(late["timing"]["finished_at"], Value::Null);
}

#[test]
fn a_task_without_a_wait_is_acknowledged_as_it_is() {
    let env = TestEnv::new();
    let first = run(&env, 0, &["--agent", "command", "--key", "k", "sleep 60"]);
    assert_eq!(first["status"], "working");
    assert_eq!(first.get("deduplicated"), None);
    let again = run(&env, 0, &["--agent", "command", "--key", "k", "sleep 60"]);
    assert_eq!((&again["task_id"], &again["deduplicated"]), (&first["task_id"], &json!(true)));
}

#[test]
fn results_and_wait_say_what_their_text_says() {
    let env = TestEnv::new();
    let done = run(&env, 0, &["--agent", "replay", "--wait", "fix-test --instant"]);
    let failed = run(&env, 1, &["--agent", "command", "--wait", "echo half; echo no >&2; exit 3"]);
    let cancelled = run(&env, 4, &["--agent", "command", "--wait", "--timeout", "0", "sleep 60"]);
    env.expect(0, &["cancel", id(&cancelled)]);
    for (report, code) in [(&done, 0), (&failed, 1), (&cancelled, 5)] {
        let (text, results) = check(&env, "result_set", code, &["results", id(report)]);
        let (waited_text, waited) = check(&env, "wait_result", code, &["wait", id(report)]);
        for (text, data) in [(&text, &results["data"]), (&waited_text, &waited["data"])] {
            let said = |name: &str| data[name].as_str().unwrap().to_owned();
            assert_eq!(value(text, "task_id"), said("task_id"));
            assert_eq!(value(text, "run_dir"), said("run_dir"));
            assert!(value(text, "status").starts_with(&said("state")), "{text}");
            let label =
                if data["report_by"] == "agent" { "summary (reported by the agent)" } else { "summary" };
            assert_eq!(value(text, label), said("summary"));
        }
        let dir = Path::new(results["data"]["run_dir"].as_str().unwrap());
        for file in results["data"]["files"].as_array().unwrap() {
            assert!(dir.join(file.as_str().unwrap()).is_file(), "{file}");
        }
        assert_eq!(
            waited["meta"]["duration_ms"],
            (waited["data"]["duration_seconds"].as_f64().unwrap() * 1000.0).round() as u64
        );
    }
}

/// Versions before this one wrote the hashes of large files into it.
#[test]
fn a_result_with_the_hashes_of_large_files_still_opens() {
    let env = TestEnv::new();
    let done = run(&env, 0, &["--agent", "command", "--wait", "echo hi"]);
    let data = || env.json(&["results", id(&done), "--json"])["data"].take();
    let before = data();
    let path = Path::new(done["run_dir"].as_str().unwrap()).join("result.json");
    let mut result: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    result["large_files"] = json!([{ "name": "stdout.log", "bytes": 3, "sha256": "0".repeat(64) }]);
    fs::write(&path, result.to_string()).unwrap();
    assert_eq!(data(), before);
}

#[test]
fn tokens_and_output_are_there_where_they_are_known() {
    let env = TestEnv::new();
    let done = run(&env, 0, &["--agent", "replay", "--wait", "fix-test --instant"]);
    let (_, results) = check(&env, "result_set", 0, &["results", id(&done), "--output", "--events"]);
    assert_eq!(results["next"], json!([]), "all of it is there");
    let data = &results["data"];
    let thread = &data["metadata"]["thread_info"];
    assert_eq!(thread["token_usage"]["output_tokens"], 912);
    assert!(thread["cache_hit_rate"].as_f64().is_some_and(|rate| (0.77..0.78).contains(&rate)), "{thread:#}");
    assert_eq!((&data["output"]["included"], &data["events"]["included"]), (&json!(true), &json!(true)));
    assert!(data["output"]["stdout"].as_str().unwrap().contains("$ cargo test --quiet"), "{data:#}");
    assert_eq!(data["events"]["items"].as_array().map(Vec::len), Some(20));
    assert_eq!(data["metadata"].get("error_context"), None);
    let files = &data["metadata"]["file_operations"];
    assert_eq!(
        (&files["source"], &files["files_changed"]),
        (&json!("none"), &json!(null)),
        "nothing is guessed"
    );
}

#[test]
fn what_others_wrote_is_made_safe_to_show() {
    let env = TestEnv::new();
    let task = "printf '\\033[31mred\\033[0m \\342\\200\\256turned\\n'";
    let report = run(&env, 0, &["--agent", "command", "--wait", task]);
    assert_eq!(report["summary"], "exit 0: red turned");
    let (text, results) = check(&env, "result_set", 0, &["results", id(&report), "--output"]);
    assert_eq!(results["data"]["output"]["stdout"], "red turned\n");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    let (text, status) = check(&env, "status_snapshot", 0, &["status", "--all"]);
    assert_eq!(status["data"]["recently_completed"][0]["summary"], "exit 0: red turned");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    // The owner's files keep every byte.
    let kept = env.expect(0, &["logs", id(&report)]).stdout;
    assert_eq!(kept, "\u{1b}[31mred\u{1b}[0m \u{202e}turned\n");
}

#[test]
fn a_large_output_is_cut_to_its_ends() {
    let env = TestEnv::new();
    let task = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo failed >&2; exit 1";
    let failed = run(&env, 1, &["--agent", "command", "--wait", task]);
    let output = |args: &[&str]| {
        let ran = env.expect(1, &[&["results", id(&failed), "--json"], args].concat());
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        fits("result_set", &document);
        document["data"]["output"].clone()
    };
    let unasked = output(&[]);
    assert_eq!((&unasked["included"], &unasked["truncated"]), (&json!(true), &json!(true)));
    let stdout = unasked["stdout"].as_str().unwrap();
    assert!(stdout.starts_with('…') && stdout.ends_with("line 2999\n") && stdout.len() < 2200, "{stdout}");
    assert_eq!(unasked["stderr"], "failed\n");

    let asked = output(&["--output", "--max-output-bytes", "1000"]);
    let stdout = asked["stdout"].as_str().unwrap();
    assert!(
        stdout.starts_with("line 0\n") && stdout.ends_with("line 2999\n") && stdout.len() < 1100,
        "{stdout}"
    );
    assert_eq!(asked["original_size"], 28_890 + 7);
}

#[test]
fn a_limit_is_told_with_how_far_the_run_came() {
    let env = TestEnv::new();
    let report = run(&env, 1, &["--agent", "command", "--wait", "--idle", "0.3", "echo so far; sleep 60"]);
    let (_, results) = check(&env, "result_set", 1, &["results", id(&report)]);
    assert_eq!(results["data"]["state"], "timeout");
    let context = &results["data"]["metadata"]["error_context"];
    assert_eq!((&context["code"], &context["timeout_type"]), (&json!("TIMEOUT"), &json!("idle")));
    assert!(context["elapsed_seconds"].as_f64().is_some_and(|seconds| seconds >= 0.3), "{context:#}");
    assert_eq!(context["retryable"], true);
    assert_eq!(context["partial_results"]["last_output"], "so far\n");
    let hard = run(&env, 1, &["--agent", "replay", "--wait", "--hard", "0.5", "fix-test"]);
    let (_, results) = check(&env, "result_set", 1, &["results", id(&hard)]);
    let context = &results["data"]["metadata"]["error_context"];
    assert_eq!((&context["timeout_type"], &context["retryable"]), (&json!("hard"), &json!(false)));
    assert_eq!(context["partial_results"]["last_events"][0]["type"], "thread.started");
}

#[test]
fn a_task_that_is_not_done_says_where_it_is() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let running = env.submit("echo begun; sleep 60").task_id;
    let queued = env.submit_with(&["--alias", "later"], "true").task_id;
    let (_, results) = check(&env, "result_set", 4, &["results", &queued]);
    // Nobody waited.
    assert_eq!((&results["data"]["state"], results["data"].get("wait_exceeded")), (&json!("pending"), None));
    assert_eq!(results["data"]["progress"]["current_activity"], "queued");
    let (_, waited) = check(&env, "wait_result", 4, &["wait", &running, "--timeout", "0.1"]);
    assert_eq!(
        (&waited["data"]["state"], &waited["meta"]["waited_limit_ms"]),
        (&json!("working"), &json!(100))
    );
    assert_eq!((waited["meta"].get("completed_ts"), waited["meta"].get("exit_code")), (None, None));
    let (_, both) = check(&env, "wait_result", 4, &["wait", &running, &queued, "--timeout", "0"]);
    assert_eq!((&both["meta"]["count"], &both["data"]["tasks"][1]["state"]), (&json!(2), &json!("pending")));

    let (_, status) = check(&env, "status_snapshot", 0, &["status"]);
    assert_eq!(status["next"][0]["arguments"]["task_ids"], json!([running, queued]));
    let data = &status["data"];
    assert_eq!(data["summary"], json!({ "running": 1, "queued": 1, "recently_completed": 0 }));
    assert_eq!(
        (&data["tasks"][0]["task_id"], &data["tasks"][0]["agent"]),
        (&json!(running), &json!("command"))
    );
    assert_eq!((&data["queue"][0]["position"], &data["queue"][0]["alias"]), (&json!(1), &json!("later")));
    assert_eq!(data.get("recently_completed"), None, "an empty list is absent");
    env.expect(0, &["cancel", &queued]);
    let (_, status) = check(&env, "status_snapshot", 0, &["status", &queued]);
    suggests(&status, "delegate_results", &queued);
    let ended = &status["data"]["recently_completed"][0];
    assert_eq!((&ended["state"], &ended["unread"]), (&json!("cancelled"), &json!(true)));
}

#[test]
fn the_other_commands_reply_about_the_registry() {
    let env = TestEnv::new();
    let task = env.submit("sleep 60").task_id;
    let ran = env.json(&["cancel", &task, "--reason", "enough", "--json"]);
    fits("registry_info", &ran);
    suggests(&ran, "delegate_results", &task);
    let data = &ran["data"];
    assert_eq!((&data["operation"], &data["state"]), (&json!("cancel"), &json!("cancelled")));
    assert_eq!((&data["previous_state"], &data["reason"]), (&json!("working"), &json!("enough")));

    let (_, cleanup) = check(&env, "registry_info", 0, &["cleanup", "--dry-run", "--older-than", "0"]);
    assert_eq!(
        (&cleanup["meta"]["dry_run"], &cleanup["data"]["old_tasks"]["found"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(
        (cleanup["tool"].as_str(), cleanup["data"]["old_tasks"]["deleted"].as_u64()),
        (Some("_codex_cleanup_registry"), Some(0))
    );
    let (_, doctor) = check(&env, "registry_info", 0, &["doctor"]);
    assert_eq!(doctor["data"]["checks"][0]["name"], "home");
    check(&env, "registry_info", 0, &["doctor", "--config"]);
    let registry = env.home().join("registry.db");
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{suffix}", registry.display()));
    }
    fs::write(&registry, "no database").unwrap();
    let rebuilt = env.json(&["doctor", "--rebuild", "--json"]);
    fits("registry_info", &rebuilt);

    let done = run(&env, 0, &["--agent", "command", "--wait", "echo one; echo two"]);
    let (text, logs) = check(&env, "registry_info", 0, &["logs", id(&done), "--tail", "1"]);
    assert_eq!((text.as_str(), logs["data"]["text"].as_str()), ("two\n", Some("two\n")));
    let (_, logs) = check(&env, "registry_info", 0, &["logs", id(&done), "-f"]);
    assert_eq!((&logs["data"]["stream"], &logs["data"]["total_bytes"]), (&json!("output"), &json!(8)));
    let ran = env.json(&["demo", "--instant", "--json"]);
    fits("delegate_run", &ran);
}

#[test]
fn schema_prints_what_is_shipped() {
    let env = TestEnv::new();
    let all = env.json(&["schema"]);
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for (name, schema) in all.as_object().unwrap() {
        let shipped = fs::read_to_string(dir.join(format!("{name}.json"))).unwrap();
        assert_eq!(env.expect(0, &["schema", name]).stdout, shipped);
        assert_eq!(serde_json::from_str::<Value>(&shipped).unwrap(), *schema);
    }
    assert_eq!(all.as_object().unwrap().len(), fs::read_dir(dir).unwrap().count());
    assert_eq!(env.json(&["schema", "delegate_wait", "--json"]), all["wait_result"]);
}
