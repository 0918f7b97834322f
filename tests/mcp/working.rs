//! What is told of a run that works: how far it is, and its moments.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agreement::{Reply, world};
use crate::client::Client;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// Plans, does a little, and goes on until somebody ends it.
const BUSY: &str = r#"echo '{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000002"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"false","aggregated_output":"","exit_code":1,"status":"failed"}}'
echo '{"type":"item.started","item":{"id":"2","type":"todo_list","items":[{"text":"look","completed":true},{"text":"mend","completed":true},{"text":"test","completed":false},{"text":"tell","completed":false}]}}'
while :; do sleep 0.05; done
"#;

const RETENTION_DAYS: i64 = 3;

/// A run whose plan is known, the only one that may work.
fn busy() -> (TestEnv, Client, Value) {
    let env = world();
    let codex = env.root().join("bin/codex");
    let script = fs::read_to_string(&codex).unwrap();
    let (before, _) = script.split_once("echo 'something on the side'").unwrap();
    fs::write(&codex, format!("{before}{BUSY}")).unwrap();
    env.configure(&format!(
        "codex_path = {codex:?}\nmax_concurrent = 1\nretention_days = {RETENTION_DAYS}\n"
    ));
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let ask = json!({ "task": "go on", "wait_ms": 50, "skip_git_repo_check": true });
    let report = Reply::to(&mut client, "delegate_run", ask);
    let run_dir = PathBuf::from(report.content["run_dir"].as_str().unwrap());
    wait_for("the plan", PATIENCE, || {
        fs::read_to_string(run_dir.join("progress.json")).ok()?.contains("mend").then_some(())
    });
    let task = report.content["task_id"].clone();
    (env, client, task)
}

#[test]
fn how_far_a_run_is_is_told_the_same_twice() {
    let (_env, mut client, task) = busy();
    let wait = json!({ "task_id": task, "timeout_sec": 0.05 });
    for (tool, ask) in [("delegate_wait", wait), ("delegate_results", json!({ "task_id": task }))] {
        let reply = Reply::to(&mut client, tool, ask).has(&[
            "subagent_thread_id: 01a1de11-e775-7fc2-8102-000000000002\n",
            "progress: 50%, 2 of 4 steps, 1 command (1 failed)\n",
            "steps:\n- [x] look\n- [x] mend\n- [ ] test\n- [ ] tell\n",
        ]);
        reply.no_line_can_be_missed();
        reply.no_fact_can_be_changed(&[
            "/data/progress/percent",
            "/data/progress/steps",
            "/data/progress/steps/2/done",
            "/data/progress/counters/commands",
            "/data/metadata/thread_info/thread_id",
        ]);
    }
    let status = Reply::to(&mut client, "delegate_status", json!({}));
    assert!(status.text.contains(", 50%, 2/4 steps)\n"), "{}", status.text);
    Reply::to(&mut client, "delegate_cancel", json!({ "task_id": task }));
}

#[test]
fn whoever_waits_for_several_is_told_how_far_each_of_them_is() {
    let (env, mut client, task) = busy();
    let waits = env.submit("true").task_id;
    let both = |seconds: f64| json!({ "task_ids": [task, waits], "until": "all", "timeout_sec": seconds });
    let told = Reply::to(&mut client, "delegate_wait", both(0.05)).has(&["status: 0 of 2 done\n"]);
    let line = "; progress: 50%, 2 of 4 steps, 1 command (1 failed)";
    assert_eq!(told.text.matches(&format!("{line}\n")).count(), 1, "{}", told.text);
    assert_eq!(told.content.pointer("/data/tasks/1/progress"), None, "it waits in the queue");
    told.no_line_can_be_missed();
    told.no_fact_can_be_changed(&["/data/tasks/0/progress", "/data/tasks/0/summary"]);
    let shell = env.run(&["wait", task.as_str().unwrap(), &waits, "--timeout", "0"]).stdout;
    assert_eq!(shell.matches(line).count(), 1, "{shell}");
    Reply::to(&mut client, "delegate_cancel", json!({ "task_id": task }));
    let over = Reply::to(&mut client, "delegate_wait", both(60.0)).has(&["status: 2 of 2 done\n"]);
    assert!(!over.text.contains("progress: "), "{}", over.text);
}

#[test]
fn a_run_has_begun_when_its_agent_has_and_not_when_it_was_asked_for() {
    let (env, mut client, task) = busy();
    let results = Reply::to(&mut client, "delegate_results", json!({ "task_id": task }));
    let run_dir = PathBuf::from(results.content["data"]["run_dir"].as_str().unwrap());
    let started: Value = serde_json::from_slice(&fs::read(run_dir.join("started.json")).unwrap()).unwrap();
    let status = Reply::to(&mut client, "delegate_status", json!({}));
    assert_eq!(status.content["data"]["tasks"][0]["started_ts"], started["started_at"]);
    let wait = |id: &Value| json!({ "task_id": id, "timeout_sec": 0.05 });
    let waited = Reply::to(&mut client, "delegate_wait", wait(&task));
    assert_eq!(waited.content["meta"]["started_ts"], started["started_at"]);
    let queued = json!(env.submit("true").task_id);
    let waited = Reply::to(&mut client, "delegate_wait", wait(&queued));
    assert_eq!(
        (&waited.content["meta"]["started_ts"], &waited.content["meta"]["duration_ms"]),
        (&Value::Null, &json!(0))
    );
    assert_eq!(waited.content["data"]["progress"]["phase"], "queued");
    Reply::to(&mut client, "delegate_cancel", json!({ "task_id": task }));
}

fn millis(moment: &Value) -> i64 {
    let text = moment.as_str().unwrap_or_else(|| panic!("{moment} is no moment"));
    text.parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

#[test]
fn when_it_was_heard_of_when_to_ask_again_and_how_long_it_is_kept() {
    let (_env, mut client, task) = busy();
    let kept_ms = RETENTION_DAYS * 24 * 60 * 60 * 1000;
    let now = || jiff::Timestamp::now().as_millisecond();
    let status = Reply::to(&mut client, "delegate_status", json!({}));
    let started = millis(&status.content["data"]["tasks"][0]["started_ts"]);
    let of_wait = json!({ "task_id": task, "timeout_sec": 0.05 });
    for (tool, ask, place) in [
        ("delegate_status", json!({}), "/data/tasks/0/progress"),
        ("delegate_wait", of_wait, "/data/progress"),
        ("delegate_results", json!({ "task_id": task }), "/data/progress"),
    ] {
        let asked = now();
        let reply = Reply::to(&mut client, tool, ask);
        let progress = reply.content.pointer(place).unwrap();
        let heard = millis(&progress["last_event_at"]);
        assert!((started..=asked).contains(&heard), "{tool}: {started} {asked} {progress:#}");
        assert_eq!(progress["poll_frequency_ms"], 15_000, "{tool}");
        let kept = millis(&progress["keep_alive_until"]) - kept_ms;
        assert!((asked..=now()).contains(&kept), "{tool}: {asked} {progress:#}");
    }
    Reply::to(&mut client, "delegate_cancel", json!({ "task_id": task }));
    let over = Reply::to(&mut client, "delegate_status", json!({ "task_id": task }));
    let over = &over.content["data"]["recently_completed"][0];
    assert_eq!(millis(&over["keep_alive_until"]) - millis(&over["completed_ts"]), kept_ms, "{over:#}");
}
