//! An agent that asks a question: who looks sees it, `resume` answers it, and `cancel` or a dead supervisor ends the
//! run while it waits.

use std::fs;

use serde_json::Value;

use crate::support::env::{PATIENCE, Submitted, TestEnv, acknowledged, wait_for};
use crate::support::kill;

const QUESTION: &str = "Should the old configuration file be kept?";

/// A run that waits for an answer.
fn asking(env: &TestEnv) -> Submitted {
    let ran = env.expect(0, &["run", "--agent", "replay", "--json", "asks"]);
    let task = acknowledged(&ran.stdout).unwrap();
    let told = env.expect(4, &["wait", &task.task_id]).stdout;
    assert!(told.contains(&format!("asking: {QUESTION}")), "{told}");
    assert!(told.contains(&format!("`delegator resume {} \"...\"` answers", task.task_id)), "{told}");
    task
}

fn result(env: &TestEnv, task: &Submitted) -> Value {
    serde_json::from_slice(&fs::read(env.run_dir(&task.run_id).join("result.json")).unwrap()).unwrap()
}

/// The question, as `status --json` tells it.
fn question(env: &TestEnv, task: &Submitted) -> Value {
    let told = env.json(&["status", "--json", &task.task_id]);
    told.pointer("/data/tasks/0/progress/question").cloned().unwrap_or_default()
}

#[test]
fn a_question_is_shown_and_answered() {
    let env = TestEnv::new();
    let task = asking(&env);
    let id = task.task_id.as_str();
    assert_eq!(question(&env, &task), QUESTION);
    let told = env.expect(0, &["status", id]).stdout;
    assert!(told.contains(&format!("now: asking: {QUESTION}")), "{told}");
    assert!(told.contains(&format!("next: `delegator resume {id} ")), "{told}");
    env.expect(4, &["results", id]);

    env.expect(2, &["resume", id]);
    assert_eq!(question(&env, &task), QUESTION, "nothing is no answer");

    let resumed = env.expect(0, &["resume", id, "keep it"]);
    assert_eq!(resumed.stdout.trim(), id, "it is the same task");
    assert_eq!(question(&env, &task), Value::Null);
    let told = env.expect(0, &["wait", id]).stdout;
    assert!(told.contains("The answer arrived, and the work is done."), "{told}");
    assert_eq!(result(&env, &task)["exit"]["code"], 0);
    assert_eq!(env.json(&["status", "--all", "--json"]).pointer("/meta/total"), Some(&1.into()));
}

/// The player ends with 130 if it is told to stop, and by a signal otherwise.
#[test]
fn cancel_ends_an_agent_that_asks_over_its_own_protocol() {
    let env = TestEnv::new();
    let task = asking(&env);
    env.expect(0, &["cancel", &task.task_id]);
    assert_eq!(env.await_final(&task.task_id), "cancelled");
    assert_eq!(result(&env, &task)["exit"], serde_json::json!({ "code": 130 }));
}

#[test]
fn a_run_whose_supervisor_is_killed_while_it_asks_is_lost() {
    let env = TestEnv::new();
    let task = asking(&env);
    let supervisor = kill::supervisor_of(&env.run_dir(&task.run_id)).unwrap();
    kill::send(supervisor, libc::SIGKILL);
    wait_for("the supervisor to die", PATIENCE, || (!kill::alive(supervisor)).then_some(()));
    let told = env.expect(1, &["wait", &task.task_id]).stdout;
    assert!(told.contains("error: LOST") && !told.contains("answers its question"), "{told}");
    assert_eq!(env.await_final(&task.task_id), "failed");
    wait_for("its player to be gone", PATIENCE, || kill::mentioning(env.root()).is_empty().then_some(()));
}
