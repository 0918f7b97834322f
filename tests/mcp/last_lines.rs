//! `verbose` adds to the list of tasks what each of them said last, and no more
//! than that.

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, wait_for};

const SECRET: &str = "ghp_Ab3xYz9Qw2Ab3xYz9Qw2Ab3xYz9Qw2Ab3xYz";

fn last_lines(status: &Value, list: &str) -> Vec<String> {
    let lines = &status["data"][list][0]["last_lines"];
    let lines = lines.as_array().unwrap_or_else(|| panic!("{status}"));
    lines.iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_last_five_lines_of_a_run_are_there_where_they_are_asked_for() {
    let env = TestEnv::new();
    let long = "x".repeat(300);
    let line = format!("seq 1 9; echo '  set in'; echo; echo key {SECRET}; echo {long}");
    let task = env.submit(&line).task_id;
    env.await_final(&task);
    let expected = [
        "8".to_owned(),
        "9".to_owned(),
        "  set in".to_owned(),
        "key [redacted:github]".to_owned(),
        format!("{}…", "x".repeat(199)),
    ];
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    for tool in ["delegate_status", "_codex_local_status"] {
        for ask in [json!({ "verbose": true }), json!({ "verbose": "true", "task_id": task })] {
            let reply = client.result("tools/call", json!({ "name": tool, "arguments": ask }));
            let found = last_lines(&reply["structuredContent"], "recently_completed");
            assert_eq!(found, expected, "{reply}");
            let text = reply["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("\n    | 8\n    | 9\n    |   set in\n"), "{text}");
        }
        let plain = client.call(tool, json!({})).unwrap();
        assert!(plain["data"]["recently_completed"][0].get("last_lines").is_none(), "{plain}");
    }
    let shell = env.json(&["status", "--verbose", "--json"]);
    assert_eq!(last_lines(&shell, "recently_completed"), expected);
    for args in [&["status", "-v"][..], &["status", "--verbose", &task]] {
        let said = env.expect(0, args).stdout;
        assert!(said.contains("\n    | 9\n    |   set in\n") && !said.contains("Ab3x"), "{said}");
    }
    assert!(!env.expect(0, &["status"]).stdout.contains("\n    |"));
}

#[test]
fn a_run_that_goes_on_shows_what_both_streams_said_last() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = env.submit("echo begun; sleep 0.1; echo 'and complains' >&2; sleep 60").task_id;
    wait_for("both lines", PATIENCE, || {
        let status = client.call("delegate_status", json!({ "task_id": task, "verbose": true })).ok()?;
        (last_lines(&status, "tasks") == ["begun", "and complains"]).then_some(())
    });
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
}

#[test]
fn an_agent_is_told_by_what_it_did() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("quick --instant");
    env.await_final(&task);
    let status = client.call("delegate_status", json!({ "verbose": true })).unwrap();
    let lines = last_lines(&status, "recently_completed");
    assert!(lines.iter().any(|line| line.starts_with("turn done")), "{lines:?}");
    assert!(lines.len() <= 5 && !status.to_string().contains("turn.completed"), "{status}");
}
