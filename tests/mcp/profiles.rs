//! Which tools are listed, and that only those answer.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

fn names(client: &mut Client) -> Vec<String> {
    let tools = client.result("tools/list", json!({}));
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_option_goes_before_the_variable_and_that_before_the_configuration() {
    let env = TestEnv::new();
    let default = names(&mut Client::new(&env, Era::Session));
    assert_eq!(
        default,
        [
            "delegate_run",
            "delegate_resume",
            "delegate_autopilot",
            "delegate_status",
            "delegate_wait",
            "delegate_results",
            "delegate_cancel",
            "inspect_output",
            "delegate_apply",
            "codex"
        ]
    );
    let all = names(&mut Client::of(&env, &["--tools", "all"], &[]));
    assert!(all.starts_with(&default) && all.contains(&"_codex_local_run".to_owned()), "{all:?}");
    assert_eq!(names(&mut Client::of(&env, &[], &[("DELEGATOR_TOOLS", "all")])), all);
    assert_eq!(names(&mut Client::of(&env, &["--tools", "default"], &[("DELEGATOR_TOOLS", "all")])), default);
    for config in ["tools = \"all\"\n", "allow_internal_tools = true\n"] {
        env.configure(config);
        assert_eq!(names(&mut Client::of(&env, &[], &[])), all);
        assert_eq!(names(&mut Client::of(&env, &[], &[("DELEGATOR_TOOLS", "default")])), default);
    }
    assert_eq!(names(&mut Client::of(&env, &["--tools", "codex"], &[])), ["codex"]);
    let ran = env.expect(2, &["serve", "--tools", "codx"]);
    assert!(ran.stderr.contains("`default`, `all` or `codex`"), "{}", ran.stderr);
}

#[test]
fn the_primitives_do_the_same_under_their_older_names() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let options = json!({ "agent": "replay", "dedupe": false });
    let ack = client
        .call("_codex_local_run", json!({ "task": "fix-test --speed 0.01", "options": options }))
        .unwrap();
    assert_eq!(
        (&ack["schema_id"], &ack["data"]["accepted"], &ack["meta"]["queue_position"]),
        (&json!("codex/v3.6/execution_ack/v1"), &json!(true), &json!(0)),
        "{ack}"
    );
    let task = ack["data"]["task_id"].as_str().unwrap().to_owned();
    let status = client.call("_codex_local_status", json!({ "task_id": task })).unwrap();
    assert_eq!(
        (&status["tool"], &status["data"]["tasks"][0]["task_id"]),
        (&json!("_codex_local_status"), &json!(task))
    );
    let cancelled =
        client.call("_codex_local_cancel", json!({ "task_id": task, "reason": "enough" })).unwrap();
    assert_eq!(
        (&cancelled["data"]["state"], &cancelled["data"]["reason"]),
        (&json!("cancelled"), &json!("enough"))
    );
    let waited =
        client.call("_codex_local_wait", json!({ "task_id": task, "poll_interval_sec": 5 })).unwrap();
    assert_eq!(waited["data"]["state"], "cancelled");
    client.call("_codex_local_results", json!({ "task_id": task })).unwrap();
    let quick = json!({ "task": "quick --instant", "wait_ms": 20_000, "options": options });
    let ack: Value = client.call("_codex_local_exec", quick).unwrap();
    assert_eq!(ack["data"]["result"]["state"], "completed", "{ack}");
    let cleaned = client.call("_codex_cleanup_registry", json!({ "dry_run": true })).unwrap();
    assert_eq!(cleaned["meta"]["dry_run"], true);
    let refused = client.call("_codex_local_resume", json!({ "task": "go on" })).unwrap_err();
    assert!(refused.contains("neither `task_id` nor `thread_id`"), "{refused}");
}
