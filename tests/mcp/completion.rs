//! Names of tasks, of their files, and values for prompts, from their beginning.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

const TASK: &str = "delegator://tasks/{task_id}";
const ARTIFACT: &str = "delegator://tasks/{task_id}/{artifact}";

fn of_template(uri: &str, name: &str, typed: &str, known: Value) -> Value {
    json!({
        "ref": { "type": "ref/resource", "uri": uri },
        "argument": { "name": name, "value": typed },
        "context": { "arguments": known },
    })
}

#[track_caller]
fn check(client: &mut Client, params: Value, values: &[&str]) {
    let got = client.result("completion/complete", params.clone());
    let expected = json!({ "values": values, "total": values.len(), "hasMore": false });
    assert_eq!(got["completion"], expected, "{params}");
}

#[test]
fn tasks_and_their_files_are_offered_by_name() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    check(&mut client, of_template(TASK, "task_id", "", json!({})), &[]);
    assert!(!env.registry().exists());

    let first = env.submit_with(&["--alias", "Build"], "echo one").task_id;
    env.await_final(&first);
    let second = env.submit("echo two").task_id;
    env.await_final(&second);
    check(&mut client, of_template(TASK, "task_id", "", json!({})), &[&second, &first, "Build"]);
    check(&mut client, of_template(ARTIFACT, "task_id", "bu", json!({})), &["Build"]);
    check(&mut client, of_template(TASK, "task_id", &first.to_lowercase(), json!({})), &[&first]);
    check(
        &mut client,
        of_template(ARTIFACT, "artifact", "std", json!({ "task_id": first })),
        &["stdout.log", "stderr.log"],
    );
    // Of no run yet: whatever a run can have.
    check(&mut client, of_template(ARTIFACT, "artifact", "result", json!({})), &["result.json"]);
    check(&mut client, of_template(ARTIFACT, "artifact", "", json!({ "task_id": "none" })), &[]);

    let elsewhere = env.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut client = Client::in_directory(&env, &elsewhere, Era::Session);
    check(&mut client, of_template(TASK, "task_id", "", json!({})), &[]);
}

#[test]
fn no_more_than_a_hundred_are_offered_and_all_are_counted() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1");
    let mut client = Client::new(&env, Era::Stateless);
    env.submit("sleep 60");
    (0..104).for_each(|_| drop(client.replay("quick")));
    let got = client.result("completion/complete", of_template(TASK, "task_id", "T-", json!({})));
    assert_eq!(got["completion"]["values"].as_array().unwrap().len(), 100);
    assert_eq!((&got["completion"]["total"], &got["completion"]["hasMore"]), (&json!(105), &json!(true)));
}

#[test]
fn arguments_of_prompts_have_values_to_choose_from() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Stateless);
    let of_prompt = |prompt: &str, name: &str, typed: &str| json!({ "ref": { "type": "ref/prompt", "name": prompt }, "argument": { "name": name, "value": typed } });
    check(&mut client, of_prompt("review", "focus", "Sec"), &["security"]);
    check(&mut client, of_prompt("review", "where", ""), &[]);
    for wrong in [
        of_prompt("none", "focus", ""),
        of_prompt("review", "none", ""),
        of_template("file:///{path}", "path", "", json!({})),
        of_template(TASK, "artifact", "", json!({})),
    ] {
        assert_eq!(client.error("completion/complete", wrong.clone()).0, -32602, "{wrong}");
    }
}
