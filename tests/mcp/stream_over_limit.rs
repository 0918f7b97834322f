//! A stream that has passed `max_stream_bytes`: what is kept of it is the same,
//! whether the run still goes on or is over.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// Every number as a line of JSON on one stream and as it is on the other, of
/// which a quarter of a mebibyte at the end is kept.
const COMMAND: &str =
    "seq -f '{\"number\":%.0f}' 1 200000; seq 1 400000 >&2; until [ -e go ]; do sleep 0.02; done";

fn questions() -> Vec<Value> {
    let of = |artifact: &str, mut question: Value| {
        question["artifact"] = artifact.into();
        question
    };
    vec![
        of("stdout.log", json!({ "mode": "tail", "lines": 3 })),
        of("stderr.log", json!({ "mode": "tail", "lines": 3 })),
        of("stderr.log", json!({ "mode": "head", "lines": 3 })),
        of("stderr.log", json!({ "mode": "grep", "pattern": "left out here", "context_lines": 2 })),
        of("stderr.log", json!({ "mode": "grep", "pattern": "^39999[0-9]$", "context_lines": 1 })),
        of("stderr.log", json!({ "mode": "grep", "pattern": "7$", "max_matches": 40 })),
        of("stderr.log", json!({ "mode": "grep", "pattern": "nowhere" })),
        of("stderr.log", json!({ "mode": "summary" })),
        of("stdout.log", json!({ "mode": "summary" })),
        of("stdout.log", json!({ "json_path": "$.number", "max_matches": 20 })),
        of("stderr.log", json!({ "mode": "range", "start_line": 150_000, "end_line": 150_040 })),
        of("stderr.log", json!({ "mode": "range", "start_line": 999_999, "end_line": 1_000_000 })),
    ]
}

/// The answer, but for what is only said while the run goes on.
#[track_caller]
fn ask(client: &mut Client, task: &str, question: &Value) -> Value {
    let mut question = question.clone();
    question["task_id"] = task.into();
    let told = client.call("inspect_output", question.clone());
    let mut data = told.unwrap_or_else(|error| panic!("{question}: {error}"))["data"].clone();
    for name in ["warning", "live"] {
        data.as_object_mut().unwrap().remove(name);
    }
    data
}

/// The first pages of every answer, and the lines around the cut by their numbers.
fn all(client: &mut Client, task: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for question in questions() {
        let first = ask(client, task, &question);
        let mut cursor = first["next_cursor"].clone();
        all.push(first);
        for _ in 0..3 {
            if cursor.is_null() {
                break;
            }
            let mut next = question.clone();
            next["cursor"] = cursor;
            let page = ask(client, task, &next);
            cursor = page["next_cursor"].clone();
            all.push(page);
        }
    }
    let cut = ask(client, task, &questions()[3])["matches"][0]["line_number"].as_u64().unwrap();
    let around =
        json!({ "artifact": "stderr.log", "mode": "range", "start_line": cut - 1, "end_line": cut + 2 });
    all.push(ask(client, task, &around));
    all
}

#[test]
fn what_is_kept_of_it_is_the_same_while_it_grows_and_at_its_end() {
    let env = TestEnv::new();
    env.configure("max_stream_bytes = 1048576");
    let task = env.submit(COMMAND).task_id;
    let mut client = Client::new(&env, Era::Session);
    let tail = |name: &str| json!({ "task_id": task, "artifact": name, "mode": "tail", "lines": 2 });
    for (name, last) in [("stdout.log", "{\"number\":200000}"), ("stderr.log", "400000")] {
        let live = wait_for("the last of the numbers", PATIENCE, || {
            let reply = client.call("inspect_output", tail(name)).ok()?;
            reply["data"]["content"].as_str().unwrap().ends_with(last).then(|| reply["data"].clone())
        });
        let warning = live["warning"].as_str().unwrap();
        assert!(warning.contains("`max_stream_bytes`") && warning.contains("were left out"), "{warning}");
    }

    let before = all(&mut client, &task);
    let shell = |arguments: &[&str]| {
        let given = [&["inspect", task.as_str()][..], arguments].concat();
        env.expect(0, &given).stdout
    };
    let asked = [
        &["stderr.log", "--tail", "2"][..],
        &["stderr.log", "--range", "100000:100010"],
        &["stderr.log", "--grep", "39999[89]"],
        &["stderr.log", "--grep", "left out", "-C", "1"],
        &["stdout.log", "--json-path", "$.number", "-m", "3"],
        &["stderr.log", "--summary"],
    ];
    let printed: Vec<String> = asked.iter().map(|arguments| shell(arguments)).collect();
    assert_eq!(printed[0], "399999\n400000\n");
    assert!(printed[3].contains("bytes were left out here]"), "{}", printed[3]);
    let cut = &before.last().unwrap()["content"];
    let lines: Vec<&str> = cut.as_str().unwrap().lines().collect();
    let [last, line, _, next] = lines[..] else { panic!("{cut}") };
    assert!(line.starts_with("[delegator: ") && line.ends_with(" bytes were left out here]"), "{cut}");
    assert!(last.parse::<u32>().unwrap() < 200_000 && next.parse::<u32>().unwrap() > 300_000, "{cut}");

    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&task);
    let over = client.call("inspect_output", tail("stderr.log")).unwrap();
    let warning = over["data"]["warning"].as_str().unwrap();
    assert!(warning.contains("were left out") && !warning.contains("continues"), "{warning}");
    for (before, after) in before.iter().zip(all(&mut client, &task)) {
        assert_eq!(*before, after);
    }
    for (arguments, printed) in asked.iter().zip(&printed) {
        assert_eq!(shell(arguments), *printed, "{arguments:?}");
    }
}
