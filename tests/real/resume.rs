//! Going on with a thread: the same one, under the same terms, counted from where it stood.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, document, text};
use crate::model::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS, task};

/// `delegator resume` with the key, to the end of the run.
fn resume(env: &TestEnv, what: &str, more: &[&str]) -> Value {
    let given = ["resume", what];
    env.delegator(&[&given, more, &["--env", "FAKE_KEY", "--wait", "--json"]].concat()).ended(0)
}

/// Codex reports what the whole thread has cost; a run's part is the difference.
fn costs_one_answer(env: &TestEnv, run: &Value) {
    let thread = &env.results(run)["metadata"]["thread_info"];
    let usage = &thread["token_usage"];
    assert_eq!(usage["input_tokens"], INPUT_TOKENS, "{usage:#}");
    assert_eq!(usage["output_tokens"], OUTPUT_TOKENS);
    let rate = thread["cache_hit_rate"].as_f64().unwrap_or_default();
    assert!((rate - CACHED_TOKENS as f64 / INPUT_TOKENS as f64).abs() < 0.001, "{rate}");
}

#[test]
fn a_thread_goes_on_under_its_own_terms_and_costs_the_difference() {
    let env = TestEnv::new();
    let terms = ["--model", "gpt-5.6-luna", "--effort", "low", "--sandbox", "workspace-write"];
    let first = env.run(&terms, &task("answer", &json!({ "value": "first" }))).ended(0);
    let thread = text(&first, "subagent_thread_id");

    let second = resume(&env, thread, &[&task("answer", &json!({ "value": "second" }))]);
    // A task names its thread as well as the thread does, and no words mean "go on".
    let third = resume(&env, text(&second, "task_id"), &[]);

    assert_eq!(second["summary"], "second");
    assert_ne!(second["run_id"], first["run_id"]);
    let requests = env.requests();
    assert_eq!(requests.len(), 3);
    for (run, request) in [&first, &second, &third].into_iter().zip(&requests) {
        assert_eq!(run["subagent_thread_id"], thread);
        assert_eq!(request.header("thread-id"), Some(thread));
        assert_eq!(request.turn()["model"], "gpt-5.6-luna");
        assert_eq!(request.turn()["reasoning_effort"], "low");
        assert_eq!(request.turn()["sandbox_mode"], "workspace-write");
        costs_one_answer(&env, run);
    }
    assert!(requests[1].body["input"].to_string().contains("first"), "the history is not there");
    assert_eq!(document(&third, "result.json")["usage_total"]["input_tokens"], 3 * INPUT_TOKENS);
    assert_eq!(document(&first, "result.json")["parent_thread_id"], Value::Null);
    assert_eq!(document(&third, "result.json")["parent_thread_id"], thread);
    assert_eq!(document(&second, "request.json")["resume"]["parent_task_id"], first["task_id"]);
    assert_eq!(document(&third, "request.json")["resume"]["parent_task_id"], second["task_id"]);
}

/// The thread has moved on since that task; what it cost until now is not this run's.
#[test]
fn an_old_task_stands_for_its_thread_as_it_is_now() {
    let env = TestEnv::new();
    let task = task("plain", &json!({}));
    let first = env.run(&[], &task).ended(0);
    resume(&env, text(&first, "subagent_thread_id"), &[&task]);
    let third = resume(&env, text(&first, "task_id"), &[&task]);
    assert_eq!(third["subagent_thread_id"], first["subagent_thread_id"]);
    costs_one_answer(&env, &third);
}

#[test]
fn a_thread_codex_does_not_know_fails_with_its_reason() {
    let env = TestEnv::new();
    let thread = "01a1de94-60c4-7f62-aeb1-1bc06eee8abd";
    let task = task("plain", &json!({}));
    let flags = ["resume", thread, &task, "--env", "FAKE_KEY", "--wait", "--json"];
    let run = env.delegator(&flags).ended(1);
    assert_eq!(run["status"], "failed");
    let error = text(&run, "error");
    assert!(error.contains("no rollout found") && error.contains(thread), "{error}");
    assert!(env.requests().is_empty(), "a new thread was started instead");
}

/// Codex takes a name it does not know for a new thread, and succeeds.
#[test]
fn a_name_that_is_no_thread_is_refused_before_anything_exists() {
    let env = TestEnv::new();
    let task = task("plain", &json!({}));
    let output = env.delegator(&["resume", "last tuesday", &task, "--env", "FAKE_KEY", "--wait", "--json"]);
    assert_eq!(output.code, Some(3), "{output}");
    assert!(env.requests().is_empty());
    let runs = fs::read_dir(env.path("state/runs")).map(|entries| entries.count()).unwrap_or(0);
    assert_eq!(runs, 0, "a run directory exists");
    let status = env.delegator(&["status", "--json"]).ended(0);
    assert_eq!(status["meta"]["total"], 0, "{status:#}");
}
