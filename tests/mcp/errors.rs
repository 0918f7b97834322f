//! Errors carry a code that says whose fault it is, and details that a program
//! can act on.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::TestEnv;

#[track_caller]
fn error(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let reply = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
    assert_eq!(reply["isError"], true, "{reply}");
    reply["structuredContent"]["error"].clone()
}

#[test]
fn details_name_the_reason_and_the_values() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let replay = json!({ "agent": "replay" });
    for (tool, arguments, details) in [
        ("delegate_run", json!({ "work": "x" }), json!({ "reason": "unknown_field", "field": "work" })),
        ("delegate_resume", json!({ "work": "x" }), json!({ "reason": "unknown_field", "field": "work" })),
        (
            "delegate_status",
            json!({ "task_id": "T-local-none" }),
            json!({ "reason": "no_task", "asked": "T-local-none" }),
        ),
        ("delegate_wait", json!({ "task": "x" }), json!({ "reason": "unknown_field", "field": "task" })),
        (
            "_codex_local_run",
            json!({ "task": "quick", "sandbox": "danger-full-access", "options": replay }),
            json!({ "reason": "agent_cannot", "agent": "replay", "field": "sandbox" }),
        ),
        (
            "_codex_local_run",
            json!({ "task": "true", "options": { "agent": "command" } }),
            json!({ "reason": "beyond_configuration", "field": "agent", "config_key": "command_over_mcp" }),
        ),
        (
            "_codex_local_run",
            json!({ "task": "quick", "sandbox": "none", "options": replay }),
            json!({ "reason": "bad_value", "field": "sandbox" }),
        ),
        (
            "_codex_local_run",
            json!({ "task": " ", "options": replay }),
            json!({ "reason": "empty", "field": "task" }),
        ),
        (
            "inspect_output",
            json!({ "task_id": "T", "lines": 0 }),
            json!({ "reason": "bad_value", "field": "lines" }),
        ),
        (
            "inspect_output",
            json!({ "task_id": "T", "lines": "many" }),
            json!({ "reason": "bad_value", "field": "lines" }),
        ),
        ("delegate_results", json!({}), json!({ "reason": "missing", "field": "task_id" })),
        (
            "delegate_results",
            json!({ "task_id": "T", "taskId": "U" }),
            json!({ "reason": "given_twice", "field": "task_id" }),
        ),
    ] {
        let error = error(&mut client, tool, arguments);
        assert_eq!(error["details"], details, "{error}");
    }
}

#[test]
fn an_error_names_the_call_that_helps() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let task = client.replay("quick --instant");
    env.await_final(&task);
    let list =
        json!({ "tool": "delegate_status", "arguments": {}, "why": "lists the tasks of this project" });
    let shows =
        json!({ "tool": "delegate_results", "arguments": { "task_id": task }, "why": "lists what it has" });
    for (tool, arguments, next) in [
        ("delegate_results", json!({ "task_id": "T-local-none" }), json!([list])),
        ("delegate_resume", json!({ "task_id": "none", "task": "x" }), json!([list])),
        ("delegate_wait", json!({}), json!([list])),
        ("delegate_cancel", json!({}), json!([list])),
        ("inspect_output", json!({ "task_id": task, "artifact": "x.log" }), json!([shows])),
        ("delegate_run", json!({ "work": "x" }), json!(null)),
    ] {
        let reply = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(reply["isError"], true, "{reply}");
        assert_eq!(reply["structuredContent"]["next"], next, "{tool}: {reply}");
    }
}

#[test]
fn a_hint_leads_to_what_would_be_taken() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    for tool in ["delegate_run", "delegate_resume", "_codex_local_run"] {
        let told = error(&mut client, tool, json!({ "task": "quick", "sandbox": "readonly" }));
        let hint = "did you mean `read-only`? Known: read-only, workspace-write";
        assert_eq!((&told["hint"], &told["details"]["field"]), (&json!(hint), &json!("sandbox")), "{told}");
    }
    let many: Vec<String> = (0..51).map(|at| format!("T-local-{at}")).collect();
    let told = error(&mut client, "delegate_wait", json!({ "task_ids": many }));
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("50") && hint.contains("several calls"), "{told}");
    let told = error(&mut client, "delegate_wait", json!({}));
    assert!(told["hint"].as_str().unwrap().contains("`task_ids`"), "{told}");
}

#[test]
fn an_agent_that_cannot_be_run_is_the_tools_fault() {
    let env = TestEnv::new();
    let program = env.side().join("codex");
    fs::write(&program, "no program").unwrap();
    env.configure(&format!("codex_path = {:?}\n", program.display().to_string()));
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let error = error(&mut client, "_codex_local_run", json!({ "task": "x", "skip_git_repo_check": true }));
    assert_eq!((&error["code"], &error["retryable"]), (&json!("TOOL_ERROR"), &json!(false)), "{error}");
    assert_eq!(error["details"]["reason"], "cannot_be_run");
}

#[test]
fn a_registry_that_stays_busy_is_a_timeout_that_may_be_tried_again() {
    let env = TestEnv::new();
    env.expect(0, &["status"]);
    let registry = rusqlite::Connection::open(env.registry()).unwrap();
    registry.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let run = json!({ "task": "quick", "options": { "agent": "replay" } });
    let error = error(&mut client, "_codex_local_run", run.clone());
    assert_eq!((&error["code"], &error["retryable"]), (&json!("TIMEOUT"), &json!(true)), "{error}");
    assert_eq!(error["details"]["reason"], "registry_busy");
    registry.execute_batch("ROLLBACK").unwrap();
    client.call("_codex_local_run", run).unwrap();
}

#[test]
fn a_server_follows_a_registry_that_was_set_aside() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let before = client.replay("quick --instant");
    env.await_final(&before);
    // As `doctor --rebuild` does with a damaged one.
    for suffix in ["", "-wal", "-shm"] {
        let name = env.home().join(format!("registry.db{suffix}"));
        fs::rename(&name, name.with_extension(format!("aside{suffix}"))).unwrap();
    }
    let after = client.replay("quick --instant");
    env.await_final(&after);
    // Another process sees both: the new registry was filled from the directories.
    for task in [&before, &after] {
        assert_eq!(env.json(&["status", task, "--json"])["status"], "ok");
    }
}

#[test]
fn what_is_not_enforced_yet_is_named_as_it_was_given() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let options = json!({ "agent": "replay", "dedupe": false });
    for (given, fields) in
        [(json!({ "options": { "agent": "replay", "max_tokens_total": 9 } }), vec!["max_tokens_total"])]
    {
        let mut ask = json!({ "task": "quick --instant", "options": options });
        ask.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        for tool in ["delegate_run", "_codex_local_run"] {
            let told = error(&mut client, tool, ask.clone());
            let names: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
            let hint = format!("leave out {}", names.join(", "));
            assert_eq!((&told["code"], &told["hint"]), (&json!("UNSUPPORTED"), &json!(hint)), "{told}");
            assert_eq!(told["details"]["fields"], json!(fields), "{told}");
        }
    }
}

#[test]
fn skills_are_refused_only_where_they_would_be_ignored() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let mut ask = |tool: &str, given: Value| {
        let mut ask = json!({ "task": "quick --instant", "options": { "agent": "replay", "dedupe": false } });
        ask.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        client.result("tools/call", json!({ "name": tool, "arguments": ask }))
    };
    for tool in ["delegate_run", "_codex_local_run"] {
        for (given, code, hint) in [
            (json!({ "skills": ["review"] }), "UNSUPPORTED", "leave out `skills`"),
            (json!({ "skills": ["review"], "skills_mode": "explicit" }), "UNSUPPORTED", "leave out `skills`"),
            (
                json!({ "skills": ["review"], "skills_mode": "auto" }),
                "VALIDATION",
                "set `skills_mode` to `explicit`",
            ),
            (
                json!({ "skills": ["review"], "skills_mode": "none" }),
                "VALIDATION",
                "set `skills_mode` to `explicit`",
            ),
            (json!({ "max_skills": 101 }), "VALIDATION", ""),
        ] {
            let told = &ask(tool, given)["structuredContent"]["error"];
            assert_eq!(told["code"], code, "{told}");
            assert!(told["hint"].as_str().unwrap_or_default().contains(hint), "{told}");
        }
        // The defaults, and what asks for nothing.
        for given in [
            json!({ "skills_mode": "auto", "max_skills": 6, "includeRepoSkills": true, "include_global_skills": true }),
            json!({ "skills_mode": "explicit", "skills": [] }),
            json!({ "skills_mode": "none" }),
            json!({ "max_skills": 0, "include_repo_skills": false }),
        ] {
            let reply = ask(tool, given);
            assert_ne!(reply["isError"], true, "{reply}");
        }
    }
}

#[test]
fn a_tool_that_is_not_there_is_no_reason_to_propose_what_ends_tasks() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let mut told = |name: &str| client.error("tools/call", json!({ "name": name, "arguments": {} })).1;
    for later in ["claude_code", "gemini"] {
        let said = told(later);
        assert!(said.contains("not available yet") && !said.contains("did you mean"), "{said}");
    }
    assert!(told("delegate_stauts").contains("did you mean `delegate_status`"));
    assert!(!told("delegate_cance").contains("delegate_cancel"));
    assert!(told("_codex_local_cancel").contains("--tools all"));
}

#[test]
fn an_error_is_json_where_json_was_asked_for() {
    let env = TestEnv::new();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    for (tool, arguments) in [
        ("delegate_run", json!({ "task": " ", "format": "json" })),
        ("delegate_status", json!({ "task_id": "T-local-none", "format": "json" })),
        ("_codex_local_wait", json!({ "task_id": "T-local-none", "format": "json" })),
        ("_codex_local_results", json!({ "format": "json", "unknown": 1 })),
    ] {
        let reply = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(reply["isError"], true, "{reply}");
        let text: Value = serde_json::from_str(reply["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, reply["structuredContent"]);
        let error = &text["error"];
        assert!(
            error["message"].is_string() && error["hint"].is_string() && error["retryable"] == false,
            "{error}"
        );
    }
}
