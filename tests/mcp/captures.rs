//! Long texts of replies are kept whole as files, cut in place, and pointed to.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::endings;
use crate::support::env::TestEnv;

/// A finished run whose agent said `summary`.
fn run_that_said(env: &TestEnv, summary: &str) -> String {
    let answer = json!({ "summary": summary, "deliverables": [], "open_questions": [], "next_actions": [] })
        .to_string();
    replayed(
        env,
        &[
            json!({ "type": "item.completed", "item": { "id": "item_0", "type": "agent_message", "text": answer } }),
        ],
    )
}

/// A finished run of an agent that wrote these lines in its one turn.
pub fn replayed(env: &TestEnv, said: &[Value]) -> String {
    let ended = json!({ "type": "turn.completed", "usage": { "input_tokens": 1, "output_tokens": 1 } });
    endings::replayed(env, &[said, &[ended]].concat(), 0)
}

fn long_summary() -> String {
    (1..=240).map(|number| format!("finding {number}: something that takes a few words\n")).collect()
}

#[test]
fn an_answer_in_prose_is_kept_whole() {
    let env = TestEnv::new();
    let prose = long_summary();
    let said =
        json!({ "type": "item.completed", "item": { "id": "i", "type": "agent_message", "text": prose } });
    let task = replayed(&env, &[said]);
    let mut client = Client::new(&env, Era::Session);
    let data = results(&mut client, &task)["structuredContent"]["data"].clone();
    let file = data["full_output_file"].as_str().unwrap_or_else(|| panic!("{data:#}"));
    assert_eq!(fs::read_to_string(file).unwrap(), prose.trim());
    let asked = json!({ "task_id": task, "artifact": "result.json", "json_path": "$.summary" });
    let read = client.call("inspect_output", asked).unwrap();
    assert_eq!(read["data"]["content"], json!(prose.trim()).to_string());
}

fn results(client: &mut Client, task: &str) -> Value {
    client.result("tools/call", json!({ "name": "delegate_results", "arguments": { "task_id": task } }))
}

#[test]
fn a_long_text_is_cut_in_place_and_kept_whole() {
    let env = TestEnv::new();
    let summary = long_summary();
    let task = run_that_said(&env, &summary);
    let mut client = Client::new(&env, Era::Session);
    let reply = results(&mut client, &task);
    let data = &reply["structuredContent"]["data"];
    let shown = data["answer"].as_str().unwrap();
    assert!(shown.ends_with('…') && summary.starts_with(shown.trim_end_matches('…')), "{shown}");
    assert!(shown.lines().count() <= 101 && shown.chars().count() <= 5_000);
    let file = data["full_output_file"].as_str().unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), summary);
    assert!(Path::new(file).starts_with(env.home().join("captures")));
    assert_eq!(
        (&data["total_lines"], &data["total_bytes"], &data["content_type"]),
        (&json!(240), &json!(summary.len()), &json!("text"))
    );
    assert!(data["message"].as_str().unwrap().contains("inspect_output"));
    let text = reply["content"][0]["text"].as_str().unwrap();
    let told = format!("\nfull_output_file: {file} (answer: 240 lines, {} bytes)\nnext: ", summary.len());
    assert!(text.contains(&told), "{text}");
    assert!(reply.to_string().len() < 20_000);
}

#[test]
fn what_a_long_text_is_and_how_it_is_kept_is_told() {
    let env = TestEnv::new();
    let lines = |line: &dyn Fn(u32) -> String| (0..300).map(line).collect::<String>();
    let json = json!((0..2000).collect::<Vec<u32>>()).to_string();
    let log = lines(&|number| format!("2026-11-15T10:{:02}:00Z INFO step {number}\n", number % 60));
    let prose = lines(&|number| format!("finding {number}\n"));
    let mut client = Client::new(&env, Era::Session);
    for (text, kind, extension) in [(json, "json", "json"), (log, "log", "log"), (prose, "text", "txt")] {
        let task = run_that_said(&env, &text);
        let over = results(&mut client, &task)["structuredContent"]["data"].clone();
        let waited = client.call("delegate_wait", json!({ "task_ids": [&task] })).unwrap();
        for data in [over, env.json(&["results", &task, "--json"])["data"].clone()] {
            assert_eq!(data["content_type"], kind, "{data:#}");
            assert_eq!(data["total_bytes"], json!(text.len()));
            assert_eq!(data["total_lines"], json!(text.lines().count()));
            let file = data["full_output_file"].as_str().unwrap();
            assert_eq!(Path::new(file).extension().unwrap(), extension);
            assert_eq!(fs::read_to_string(file).unwrap(), text);
        }
        // Every other reply with that text is cut and kept the same way.
        let waited = waited.to_string();
        assert!(
            waited.contains("full_output_file") && !waited.contains(&text[text.len() - 40..]),
            "{waited}"
        );
    }
}

#[test]
fn an_answer_that_a_line_cuts_is_whole_below_it() {
    let env = TestEnv::new();
    let summary = "word ".repeat(300);
    let summary = summary.trim_end();
    let task = run_that_said(&env, summary);
    let mut client = Client::new(&env, Era::Session);
    for tool in ["delegate_results", "delegate_wait"] {
        let reply = client.result("tools/call", json!({ "name": tool, "arguments": { "task_id": task } }));
        let data = &reply["structuredContent"]["data"];
        assert_eq!(data["answer"], summary);
        assert_eq!(data["summary"].as_str().unwrap().chars().count(), 200);
        let text = reply["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("\nanswer:\n```\n{summary}\n```\n")), "{text}");
    }
    let told = env.expect(0, &["results", &task]).stdout;
    assert!(told.contains(summary), "{told}");
}

#[test]
fn an_answer_that_no_reply_holds_is_read_whole_by_what_comes_next() {
    let env = TestEnv::new();
    let summary = long_summary();
    let task = run_that_said(&env, &summary);
    let mut client = Client::new(&env, Era::Session);
    let next = results(&mut client, &task)["structuredContent"]["next"][0].clone();
    assert_eq!((&next["tool"], &next["why"]), (&json!("inspect_output"), &json!("reads its whole answer")));
    let read = client.call("inspect_output", next["arguments"].clone()).unwrap();
    assert_eq!(read["data"]["content"], json!(json!(summary).to_string()));
    let told = env.expect(0, &["results", &task]).stdout;
    let command = format!("`delegator inspect {task} result.json --json-path '$.summary'`");
    assert!(told.contains(&command), "{told}");
}

#[test]
fn the_same_text_is_kept_once_whoever_asks() {
    let env = TestEnv::new();
    let task = run_that_said(&env, &long_summary());
    let mut client = Client::new(&env, Era::Session);
    let first = results(&mut client, &task);
    let mut another = Client::new(&env, Era::Stateless);
    let second = results(&mut another, &task);
    let file = |reply: &Value| reply["structuredContent"]["data"]["full_output_file"].clone();
    assert_eq!(file(&first), file(&second));
    assert_eq!(fs::read_dir(env.home().join("captures")).unwrap().count(), 1);
}

#[test]
fn what_fits_stays_inline_and_the_thresholds_are_the_operators() {
    let env = TestEnv::new();
    let summary = long_summary();
    let task = run_that_said(&env, &summary[..3_000]);
    let mut client = Client::new(&env, Era::Session);
    let data = results(&mut client, &task)["structuredContent"]["data"].clone();
    assert_eq!((&data["answer"], data.get("full_output_file")), (&json!(&summary[..3_000]), None));
    assert!(!env.home().join("captures").exists());
    for narrow in ["inline_threshold_chars = 1000\n", "inline_threshold_lines = 20\n"] {
        env.configure(narrow);
        let data = results(&mut client, &task)["structuredContent"]["data"].clone();
        let kept = fs::read_to_string(data["full_output_file"].as_str().unwrap()).unwrap();
        assert_eq!(kept, summary[..3_000], "{narrow}");
        assert!(data["answer"].as_str().unwrap().len() <= 1_100, "{narrow}");
    }
}

#[test]
fn output_that_was_asked_for_is_not_captured() {
    let env = TestEnv::new();
    let task = env.submit("seq 1 2000").task_id;
    env.await_final(&task);
    let mut client = Client::new(&env, Era::Session);
    let ask = json!({ "task_id": task, "include_output": true });
    let reply = client.result("tools/call", json!({ "name": "delegate_results", "arguments": ask }));
    let data = &reply["structuredContent"]["data"];
    assert!(data.to_string().contains("1999\\n2000"), "{data}");
    assert!(!data.to_string().contains("full_output_file"), "{data}");
}

#[test]
fn a_text_that_cannot_be_kept_is_cut_to_the_budget_all_the_same() {
    let env = TestEnv::new();
    let task = run_that_said(&env, &long_summary());
    fs::write(env.home().join("captures"), "a file where the directory belongs").unwrap();
    let mut client = Client::new(&env, Era::Session);
    let reply = results(&mut client, &task);
    assert_eq!(reply["structuredContent"]["data"].get("full_output_file"), None);
    assert!(
        reply["structuredContent"]["meta"]["notice"].as_str().unwrap().contains("shortened from"),
        "{reply}"
    );
}

#[test]
fn at_the_shell_a_document_is_captured_the_same_way() {
    let env = TestEnv::new();
    let summary = long_summary();
    let task = run_that_said(&env, &summary);
    let document = env.json(&["results", &task, "--json"]);
    let data = &document["data"];
    assert!(data["summary"].as_str().unwrap().ends_with('…'));
    assert_eq!(fs::read_to_string(data["full_output_file"].as_str().unwrap()).unwrap(), summary);
    assert_eq!((&data["total_lines"], &data["total_bytes"]), (&json!(240), &json!(summary.len())));
    let file = data["full_output_file"].as_str().unwrap();
    let last = env.expect(0, &["inspect", "--file", file, "--tail", "1"]);
    assert_eq!(last.stdout, "finding 240: something that takes a few words\n");
    let short = env.json(&["results", &run_that_said(&env, "all is well"), "--json"]);
    assert_eq!(
        (&short["data"]["summary"], short["data"].get("full_output_file")),
        (&json!("all is well"), None)
    );
}
