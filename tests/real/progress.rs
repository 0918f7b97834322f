//! A plan that the agent keeps is where the run is.

use std::fs;

use serde_json::{Value, json};

use crate::env::{TestEnv, document, text, until};
use crate::model::task;

#[test]
fn the_agents_plan_shows_how_far_the_run_is() {
    let env = TestEnv::new();
    let plan = |first: &str, second: &str| {
        let steps = json!([{ "step": "read", "status": first }, { "step": "write", "status": second }]);
        json!({ "tool": "update_plan", "args": { "plan": steps } })
    };
    // The second step is begun, and held until the test has looked.
    let held = json!({ "cmd": "until [ -e go ]; do sleep 0.05; done", "yield_time_ms": 30_000 });
    let calls = [
        plan("in_progress", "pending"),
        plan("completed", "in_progress"),
        json!({ "tool": "exec_command", "args": held }),
        plan("completed", "completed"),
    ];
    let run = env.start(&["--sandbox", "workspace-write"], &task("call", &json!({ "calls": calls })));
    let id = text(&run, "task_id");

    let progress = until("the plan's first step done", || {
        let status = env.delegator(&["status", id, "--json"]).json();
        let progress = status["data"]["tasks"][0]["progress"].clone();
        (progress["completed_steps"] == 1 && progress["phase"] == "running").then_some(progress)
    });
    assert_eq!(progress["total_steps"], 2);
    assert_eq!(progress["percent"], 50);
    assert_eq!(texts(&progress["steps"]), ["read", "write"]);
    assert!(text(&progress, "current_activity").contains("until [ -e go ]"), "{progress:#}");

    fs::write(env.repo("go"), "").unwrap();
    let waited = env.delegator(&["wait", id, "--json"]).ended(0);
    assert_eq!(waited["data"]["state"], "completed");
    assert_eq!(document(&run, "result.json")["progress"]["percent"], 100);
}

/// A plan nobody holds up, reported by the model before every step and after the last.
#[test]
fn a_finished_plan_is_part_of_the_record() {
    let env = TestEnv::new();
    let run = env.run(&[], &task("plan", &json!({ "steps": ["look", "think", "say"] }))).ended(0);
    let progress = &document(&run, "result.json")["progress"];
    assert_eq!(texts(&progress["steps"]), ["look", "think", "say"]);
    assert_eq!(progress["percent"], 100, "{progress:#}");
}

fn texts(steps: &Value) -> Vec<&str> {
    let steps = steps.as_array().map(Vec::as_slice).unwrap_or_default();
    steps.iter().map(|step| step["text"].as_str().or(step["step"].as_str()).unwrap_or_default()).collect()
}
