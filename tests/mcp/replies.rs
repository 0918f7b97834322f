//! Replies are short, whole, and say the same twice.

use serde_json::{Value, json};

use crate::agreement::world_of;
use crate::client::{Client, Era, told};
use crate::support::env::TestEnv;

#[test]
fn an_error_is_no_longer_than_any_other_reply() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let long = "x".repeat(1_000_000);
    for (tool, arguments) in [
        ("delegate_status", json!({ "task_id": long })),
        ("delegate_wait", json!({ "task_ids": [long] })),
        ("delegate_run", json!({ "task": "quick", "cwd": long, "options": { "agent": "replay" } })),
        ("delegate_cancel", json!({ "task_id": "T", "reason": long })),
    ] {
        let reply = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(reply.to_string().len() < 20_000, "{tool}: {} bytes", reply.to_string().len());
        told(&reply).unwrap_err();
    }
}

#[test]
fn a_failed_run_shows_what_it_printed_to_whoever_started_it() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let options = json!({ "agent": "replay" });
    let run = json!({ "task": "fails --instant", "wait_ms": 60_000, "options": options });
    let started = client.result("tools/call", json!({ "name": "delegate_run", "arguments": run }));
    let task = &started["structuredContent"]["task_id"];
    let waited =
        client.result("tools/call", json!({ "name": "delegate_wait", "arguments": { "task_id": task } }));
    let printed = |reply: &Value| {
        let text = reply["content"][0]["text"].as_str().unwrap().to_owned();
        let (from, to) =
            (text.find("\nstdout:\n").unwrap_or_else(|| panic!("{text}")), text.rfind("\nnext: ").unwrap());
        text[from..to].to_owned()
    };
    assert_eq!(printed(&started), printed(&waited));
    assert_eq!(started["structuredContent"]["output"], waited["structuredContent"]["data"]["output"]);
}

#[test]
fn a_wait_for_many_names_every_one_of_them() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let tasks: Vec<String> = (0..20).map(|_| client.replay("quick --instant")).collect();
    tasks.iter().for_each(|task| drop(env.await_final(task)));
    let ask = json!({ "name": "delegate_wait", "arguments": { "task_ids": tasks, "until": "all" } });
    let reply = client.result("tools/call", ask);
    let (text, data) = (reply["content"][0]["text"].as_str().unwrap(), &reply["structuredContent"]["data"]);
    assert_eq!(data["tasks"].as_array().unwrap().len(), 20, "{reply}");
    for task in &tasks {
        assert!(text.contains(task.as_str()) && data.to_string().contains(task.as_str()), "{task}: {text}");
    }
    assert!(reply.to_string().len() < 20_000);
}

#[test]
fn a_result_that_nobody_got_stays_unread() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let (done, runs) = (client.replay("quick --instant"), client.replay("fix-test --speed 0.01"));
    env.await_final(&done);
    let wait = json!({ "name": "delegate_wait", "arguments": { "task_ids": [done, runs], "until": "all" } });
    let begun = client.begin("tools/call", wait);
    client.call("delegate_status", json!({})).unwrap();
    client.notify("notifications/cancelled", json!({ "requestId": begun }));
    // The wait notices within a second; after that its end must have changed nothing.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(3);
    while std::time::Instant::now() < deadline {
        let status = client.call("delegate_status", json!({})).unwrap();
        assert_eq!(status["meta"]["notice"], format!("1 finished run unread: {done}"), "{status}");
    }
    client.call("delegate_cancel", json!({ "task_id": runs })).unwrap();
}

#[test]
fn text_and_structure_name_the_same_state() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let mut client = Client::new(&env, Era::Session);
    let limit = json!({ "agent": "replay", "dedupe": false, "timeout": { "hard_s": 1 } });
    let run = json!({ "task": "fix-test --speed 0.01", "options": limit });
    let first = client.call("delegate_run", run).unwrap()["task_id"].as_str().unwrap().to_owned();
    let second = client.replay("quick");
    for (task, wait) in [(&second, 0.05), (&first, 60.0)] {
        let ask = json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": wait } });
        let reply = client.result("tools/call", ask);
        let state = reply["structuredContent"]["data"]["state"].as_str().unwrap();
        let text = reply["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("\nstatus: {state}")), "{state}: {text}");
    }
    let reply =
        client.result("tools/call", json!({ "name": "delegate_results", "arguments": { "task_id": first } }));
    let text = reply["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\nstatus: timeout") && text.contains("(TIMEOUT"), "{text}");
}

#[test]
fn what_ended_last_comes_first_and_the_notice_names_what_nobody_has_read() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let forgotten = client.replay("quick --instant");
    env.await_final(&forgotten);
    let options = json!({ "agent": "replay", "dedupe": false });
    let mut ended = vec![json!(forgotten)];
    for _ in 0..8 {
        let run = json!({ "task": "quick --instant", "wait_ms": 20_000, "options": options });
        ended.insert(0, client.call("delegate_run", run).unwrap()["task_id"].clone());
    }
    let ids = |status: &Value| -> Vec<Value> {
        let listed = status["data"]["recently_completed"].as_array().unwrap().iter();
        listed.map(|one| one["task_id"].clone()).collect()
    };
    let status = client.call("delegate_status", json!({})).unwrap();
    assert_eq!(ids(&status), ended[..5], "{status}");
    assert_eq!(status["meta"]["notice"], format!("1 finished run unread: {forgotten}"));
    let status = client.call("delegate_status", json!({ "limit": 50 })).unwrap();
    assert_eq!(ids(&status), ended, "{status}");
    assert_eq!(status["data"]["recently_completed"][8]["unread"], true, "{status}");
}

#[test]
fn a_broken_configuration_keeps_nobody_from_looking_and_ending() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("fix-test --speed 0.01");
    env.configure("max_sandbx = 1\n");
    client.call("delegate_status", json!({})).unwrap();
    client.call("delegate_results", json!({ "task_id": task })).unwrap();
    let refused = client
        .call("delegate_run", json!({ "task": "quick", "options": { "agent": "replay" } }))
        .unwrap_err();
    assert!(refused.contains("max_sandbx") && refused.contains("ask the user"), "{refused}");
    let cancelled = client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
    assert_eq!(cancelled["data"]["state"], "cancelled");
    env.expect(0, &["status"]);
}

#[test]
fn a_start_that_waited_says_how_far_it_came() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let run = |wait: u64, options: Value| {
        let mut given = json!({ "agent": "replay", "dedupe": false });
        given.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        json!({ "task": "fix-test --speed 0.01", "wait_ms": wait, "options": given })
    };
    let works = client.call("delegate_run", run(300, json!({}))).unwrap();
    assert_eq!((&works["status"], &works["wait_exceeded"]), (&json!("working"), &json!(true)));
    assert!(works["progress"]["current_activity"].is_string(), "{works:#}");
    assert_eq!(works["next"][0]["tool"], "delegate_wait", "{works:#}");
    // Nobody waited for this one.
    let results = client.call("delegate_results", json!({ "task_id": works["task_id"] })).unwrap();
    assert_eq!(results["data"].get("wait_exceeded"), None, "{results:#}");
    assert!(results["data"]["progress"].is_object(), "{results:#}");
    let limited = client.call("delegate_run", run(20_000, json!({ "timeout": { "hard_s": 1 } }))).unwrap();
    let context = &limited["error_context"];
    assert_eq!((&limited["status"], &context["timeout_type"]), (&json!("failed"), &json!("hard")));
    assert!(context["elapsed_seconds"].as_f64().unwrap() >= 1.0, "{context:#}");
    assert!(context["partial_results"]["last_output"].is_string(), "{context:#}");
    client.call("delegate_cancel", json!({ "task_id": works["task_id"] })).unwrap();
}

#[test]
fn an_answer_to_a_schema_of_the_callers_is_parsed() {
    let answer = json!({ "summary": "two bugs", "bugs": [{ "line": 3 }, { "line": 7 }] });
    let env = world_of("codex-cli 0.166.0", &answer);
    let mut client = Client::new(&env, Era::Session);
    let options = json!({ "output_schema": { "type": "object" } });
    let run =
        json!({ "task": "find bugs", "wait_ms": 20_000, "skip_git_repo_check": true, "options": options });
    let report = client.call("delegate_run", run).unwrap();
    assert_eq!((&report["answer"], &report["summary"]), (&answer, &json!("two bugs")), "{report:#}");
    for tool in ["delegate_results", "delegate_wait"] {
        let reply = client.call(tool, json!({ "task_id": report["task_id"] })).unwrap();
        assert_eq!((&reply["data"]["answer"], &reply["data"]["summary"]), (&answer, &json!("two bugs")));
    }
    let long = json!({ "bugs": vec!["the same again"; 400] });
    let env = world_of("codex-cli 0.166.0", &long);
    let mut client = Client::new(&env, Era::Session);
    let options = json!({ "output_schema": { "type": "object" } });
    let run =
        json!({ "task": "find bugs", "wait_ms": 20_000, "skip_git_repo_check": true, "options": options });
    let report = client.call("delegate_run", run).unwrap();
    let results = client.call("delegate_results", json!({ "task_id": report["task_id"] })).unwrap();
    let data = &results["data"];
    assert_eq!((data.get("answer"), data["answer_bytes"].as_u64().unwrap() > 4_000), (None, true));
    assert_eq!(results["next"][0]["tool"], "inspect_output", "{results:#}");
}

/// A Codex that fails with this reason, on a thread of its own or before it has one.
fn failing(reason: &str, has_thread: bool) -> TestEnv {
    let env = world_of("codex-cli 0.166.0", &json!({}));
    let thread = json!({ "type": "thread.started", "thread_id": "01a1de11-e775-7fc2-8102-000000000001" });
    let failed = json!({ "type": "turn.failed", "error": { "message": reason } });
    let events = if has_thread { format!("{thread}\n{failed}\n") } else { format!("{failed}\n") };
    std::fs::write(env.side().join("answer"), events).unwrap();
    env
}

#[test]
fn a_failed_run_suggests_what_may_help() {
    for (reason, has_thread, why) in [
        ("stream disconnected before completion", true, Some("tries again")),
        ("rate limit exceeded", false, Some("tries again")),
        ("401 Unauthorized", true, Some("tries again, after what the hint says")),
        ("something unheard of", false, None),
    ] {
        let env = failing(reason, has_thread);
        let mut client = Client::new(&env, Era::Session);
        let run = json!({ "task": "do it", "wait_ms": 20_000, "skip_git_repo_check": true });
        let report = client.call("delegate_run", run).unwrap();
        let next = report["next"].as_array().unwrap();
        let again = json!({
            "task": "do it", "cwd": env.work(), "sandbox": "read-only", "skip_git_repo_check": true,
        });
        let first = match has_thread {
            true => {
                json!({ "tool": "delegate_resume", "arguments": { "task_id": report["task_id"] }, "why": why })
            }
            false => json!({ "tool": "delegate_run", "arguments": again, "why": why }),
        };
        assert_eq!(next.first(), why.map(|_| &first), "{reason}: {report:#}");
        // All of its output is there.
        assert_eq!(report["output"]["truncated"], false);
        assert!(next.iter().all(|call| call["tool"] != "inspect_output"), "{reason}: {report:#}");
        if why.is_some() && !has_thread {
            let again = client.call("delegate_run", next[0]["arguments"].clone()).unwrap();
            assert_eq!(again["status"], "working", "{again:#}");
        }
    }
}

/// A refusal is only on standard error.
#[test]
fn a_run_that_its_sandbox_refused_suggests_the_one_that_allows_it() {
    let answer = json!({ "summary": "s", "deliverables": [], "open_questions": [], "next_actions": [] });
    for (max, suggested) in [("workspace-write", true), ("read-only", false)] {
        let env = world_of("codex-cli 0.166.0", &answer);
        let codex = env.root().join("bin/codex");
        let refusal = "2026-11-15T07:23:46.9Z ERROR codex_core: error=patch rejected: writing is blocked; no";
        let script = std::fs::read_to_string(&codex).unwrap();
        std::fs::write(&codex, script.replace("something on the side", refusal)).unwrap();
        env.configure(&format!("codex_path = {codex:?}\nmax_sandbox = \"{max}\"\n"));
        let mut client = Client::new(&env, Era::Session);
        let run = json!({ "task": "do it", "wait_ms": 20_000, "skip_git_repo_check": true });
        let report = client.call("delegate_run", run).unwrap();
        let arguments = json!({ "task_id": report["task_id"], "sandbox": "workspace-write" });
        assert_eq!(report["next"][0]["arguments"] == arguments, suggested, "{report:#}");
    }
}
