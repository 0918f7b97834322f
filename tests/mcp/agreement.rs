//! Text and structured content of a reply state the same facts, whatever became of a task.
//!
//! Every reply in every test is compared (`support/facts.rs`). Here are replies that have all there can be in one, and
//! the proof that a difference would be found.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::advertised::Advertised;
use crate::support::env::TestEnv;
use crate::support::facts;

/// Answers with what is in `ANSWER`, after a complaint.
const CODEX: &str = r#"#!/bin/sh
case "$1 $2" in
"--version "*) echo 'VERSION'; exit ;;
"exec --help") cat 'HELP'; exit ;;
"mcp list") echo '[]'; exit ;;
esac
cat > /dev/null
echo 'something on the side' >&2
cat 'ANSWER'
"#;

/// A world whose Codex says as much as it can.
pub fn world() -> TestEnv {
    let file = |number: usize| json!({ "path": format!("src/part {number}.rs"), "description": format!("the part\nnumber {number}") });
    let answer = json!({
        "summary": format!("I did it.\n\n{}", "And there is much to say of it. ".repeat(20)),
        "deliverables": (0..7).map(file).collect::<Vec<_>>(),
        "open_questions": ["next: is it?", "- Or is it not?"],
        "next_actions": (0..6).map(|number| format!("look at part {number}")).collect::<Vec<_>>(),
    });
    world_of("a codex without a version", &answer)
}

/// A world whose Codex gives this answer.
pub fn world_of(version: &str, answer: &Value) -> TestEnv {
    let env = TestEnv::new();
    let events = [
        json!({ "type": "thread.started", "thread_id": "01a1de11-e775-7fc2-8102-000000000001" }),
        json!({ "type": "turn.started" }),
        json!({ "type": "item.completed", "item": { "id": "item_0", "type": "agent_message", "text": answer.to_string() } }),
        json!({ "type": "turn.completed", "usage": { "input_tokens": 18240, "cached_input_tokens": 14080, "output_tokens": 912, "reasoning_output_tokens": 356 } }),
    ];
    let said = env.side().join("answer");
    fs::write(&said, events.map(|event| format!("{event}\n")).concat()).unwrap();
    let help = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/codex/exec_help.txt");
    let codex = env.root().join("bin/codex");
    fs::write(
        &codex,
        CODEX.replace("HELP", help).replace("VERSION", version).replace("ANSWER", said.to_str().unwrap()),
    )
    .unwrap();
    fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
    env.configure(&format!("codex_path = {codex:?}\nmax_concurrent = 1\n"));
    env
}

/// A reply and who gave it.
pub struct Reply {
    tool: &'static str,
    pub text: String,
    pub content: Value,
}

impl Reply {
    #[track_caller]
    pub fn to(client: &mut Client, tool: &'static str, arguments: Value) -> Reply {
        let result = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(result["structuredContent"].is_object(), "{text}");
        Reply { tool, text, content: result["structuredContent"].clone() }
    }

    #[track_caller]
    pub fn has(self, lines: &[&str]) -> Reply {
        for line in lines {
            assert!(self.text.contains(&format!("\n{line}")), "`{line}` is missing:\n{}", self.text);
        }
        self
    }

    /// Whether text and content agree when this is the text, and this the content.
    fn agrees(&self, text: &str, content: &Value) -> bool {
        facts::agree(self.tool, text, content).is_ok()
    }

    /// Somebody left a line of the text out, or put one in.
    #[track_caller]
    pub fn no_line_can_be_missed(&self) {
        let lines: Vec<&str> = self.text.lines().collect();
        for at in 0..lines.len() {
            let rest = [&lines[..at], &lines[at + 1..]].concat().join("\n") + "\n";
            // The text chooses which files it names.
            if !lines[at].starts_with("- ") || !lines[at].contains(": /") {
                assert!(
                    !self.agrees(&rest, &self.content),
                    "nobody misses `{}` in\n{}",
                    lines[at],
                    self.text
                );
            }
        }
        assert!(!self.agrees(&format!("{}mood: fine\n", self.text), &self.content));
    }

    /// Somebody changed what stands at one of these places.
    #[track_caller]
    pub fn no_fact_can_be_changed(&self, places: &[&str]) {
        assert!(self.agrees(&self.text, &self.content));
        for place in places {
            let mut content = self.content.clone();
            let fact =
                content.pointer_mut(place).unwrap_or_else(|| panic!("nothing at {place}: {}", self.text));
            *fact = match &*fact {
                Value::String(text) => format!("un{text}").into(),
                Value::Number(number) => (number.as_f64().unwrap() + 70.0).into(),
                Value::Bool(is_true) => (!is_true).into(),
                Value::Array(_) => json!([]),
                other => panic!("{place} is {other}"),
            };
            assert!(!self.agrees(&self.text, &content), "nobody notices {place} in\n{}", self.text);
        }
    }
}

const OF_A_REPORT: [&str; 13] = [
    "/status",
    "/task_id",
    "/run_dir",
    "/subagent_thread_id",
    "/summary",
    "/deliverables/0/path",
    "/deliverables/1/description",
    "/deliverables",
    "/open_questions/1",
    "/next_actions",
    "/artifacts",
    "/warnings",
    "/timing/duration_ms",
];

const OF_A_RESULT: [&str; 12] = [
    "/data/state",
    "/data/task_id",
    "/data/run_dir",
    "/data/metadata/thread_info/thread_id",
    "/data/summary",
    "/data/report_by",
    "/data/deliverables/0/path",
    "/data/open_questions",
    "/data/next_actions/4",
    "/data/warnings",
    "/data/duration_seconds",
    "/meta/notice",
];

#[test]
fn an_answer_that_has_everything_is_told_the_same_twice() {
    let env = world();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let unread = client.replay("quick --instant");
    env.await_final(&unread);
    let all = [
        "summary (reported by the agent): I did it.",
        "deliverables (reported by the agent):\n- src/part 0.rs: the part number 0 (not on disk)\n",
        "... (+2 more)\nopen_questions (reported by the agent):\n- next: is it?\n- - Or is it not?\n",
        "... (+1 more)\n",
        "warnings:\n- this Codex does not report its version",
        "notice: 1 finished run unread: T-local-",
        "next: delegate_results {",
    ];
    let ask = json!({ "task": "do it", "wait_ms": 20_000, "skip_git_repo_check": true, "options": { "idempotency_key": "once" } });
    let report = Reply::to(&mut client, "delegate_run", ask.clone()).has(&all);
    report.no_line_can_be_missed();
    report.no_fact_can_be_changed(&OF_A_REPORT);
    let task = report.content["task_id"].clone();
    let resumed = json!({ "task_id": task, "task": "go on", "wait_ms": 20_000 });
    let again = Reply::to(&mut client, "delegate_resume", resumed.clone()).has(&all);
    again.no_fact_can_be_changed(&OF_A_REPORT);
    // Who lost the thread sees what goes on with what, wherever it looks.
    let parent = format!("parent_task_id: {}\n", task.as_str().unwrap());
    let again = again.has(&[&parent]);
    again.no_fact_can_be_changed(&["/parent_task_id"]);
    let goes_on = json!({ "task_id": again.content["task_id"] });
    for tool in ["delegate_wait", "delegate_results"] {
        let reply = Reply::to(&mut client, tool, goes_on.clone()).has(&[&parent]);
        reply.no_fact_can_be_changed(&["/data/metadata/parent_task_id"]);
    }
    let reply = Reply::to(&mut client, "delegate_status", goes_on);
    assert!(reply.text.contains(" (parent T-local-"), "{}", reply.text);
    assert_eq!(reply.content["data"]["recently_completed"][0]["parent_task_id"], task);
    reply.no_fact_can_be_changed(&["/data/recently_completed/0/parent_task_id"]);
    // The same request again is the same task.
    Reply::to(&mut client, "delegate_run", ask.clone())
        .has(&["status: completed ("])
        .no_fact_can_be_changed(&["/deduplicated"]);

    for tool in ["delegate_wait", "_codex_local_wait", "delegate_results", "_codex_local_results"] {
        let reply = Reply::to(&mut client, tool, json!({ "task_id": task })).has(&all);
        reply.no_line_can_be_missed();
        reply.no_fact_can_be_changed(&OF_A_RESULT);
    }
    let printed = json!({ "task_id": task, "include_output": true, "include_events": true });
    let all: Vec<&str> = all.iter().copied().filter(|part| !part.starts_with("next: ")).collect();
    let reply =
        Reply::to(&mut client, "delegate_results", printed).has(&all).has(&["next: delegate_resume {"]);
    let reply = reply.has(&[
        "stdout:\n```\n",
        "stderr:\n```\nsomething on the side\n```\nevents:\n```\nthread.started: 01a1de11",
    ]);
    reply.no_line_can_be_missed();
    reply.no_fact_can_be_changed(&[
        "/data/output/stdout",
        "/data/output/stderr",
        "/data/events/items/1/type",
    ]);

    for (tool, ask) in [("_codex_local_exec", ask), ("_codex_local_resume", resumed)] {
        let reply = Reply::to(&mut client, tool, ask).has(&all);
        reply.no_line_can_be_missed();
        let result = OF_A_RESULT.map(|place| place.replace("/data/", "/data/result/"));
        reply.no_fact_can_be_changed(&result.each_ref().map(String::as_str));
    }
    let status = Reply::to(&mut client, "delegate_status", json!({}))
        .has(&["status: 0 running, 0 queued, ", "finished:\n"]);
    status.no_line_can_be_missed();
    status.no_fact_can_be_changed(&[
        "/data/summary/running",
        "/data/summary/recently_completed",
        "/data/recently_completed",
        "/data/recently_completed/0/task_id",
        "/data/recently_completed/0/state",
        "/data/recently_completed/0/title",
        "/data/recently_completed/0/summary",
        "/data/recently_completed/0/unread",
        "/data/recently_completed/1/duration_seconds",
        "/data/recently_completed/1/report_by",
        "/meta/notice",
    ]);
    let cleaned = Reply::to(&mut client, "_codex_cleanup_registry", json!({ "dry_run": true }));
    cleaned.no_line_can_be_missed();
    cleaned.no_fact_can_be_changed(&["/data/summary", "/meta/notice"]);
}

#[test]
fn an_end_that_nobody_wished_for_is_told_the_same_twice() {
    let env = world();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let replay = |task: &str, wait: u64, options: Value| {
        let mut given = json!({ "agent": "replay", "dedupe": false });
        given.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        json!({ "task": task, "wait_ms": wait, "options": given })
    };
    let failed = replay("fails --instant", 20_000, json!({}));
    let late = replay("fix-test --speed 0.01", 20_000, json!({ "timeout": { "hard_s": 1 } }));
    for (ask, state) in [(failed, "failed"), (late, "timeout")] {
        // S1 has no state for a limit.
        let report =
            Reply::to(&mut client, "delegate_run", ask.clone()).has(&["status: failed (", "error: "]);
        let state = format!("status: {state} (");
        assert_eq!(report.content["status"], "failed");
        report.no_line_can_be_missed();
        report.no_fact_can_be_changed(&[
            "/status",
            "/error",
            "/error_context/code",
            "/error_context/retryable",
        ]);
        let task = report.content["task_id"].clone();
        let reply = Reply::to(&mut client, "delegate_wait", json!({ "task_id": task }))
            .has(&[&state, "error: ", "next: "]);
        reply.no_line_can_be_missed();
        let context = "/data/metadata/error_context";
        let places = ["code", "retryable", "suggestions/0"].map(|name| format!("{context}/{name}"));
        reply.no_fact_can_be_changed(&places.each_ref().map(String::as_str));
        Reply::to(&mut client, "_codex_local_exec", ask).has(&[&state]).no_line_can_be_missed();
    }
    let broken = json!({ "task": "do it", "wait_ms": 20_000, "skip_git_repo_check": true, "options": { "output_schema": { "type": "array" } } });
    let report = Reply::to(&mut client, "delegate_run", broken).has(&["error: ", "hint: "]);
    report.no_line_can_be_missed();
    report.no_fact_can_be_changed(&["/error", "/error_context/hint"]);
    let task = report.content["task_id"].clone();
    Reply::to(&mut client, "delegate_results", json!({ "task_id": task }))
        .has(&["error: ", "hint: "])
        .no_line_can_be_missed();
    let refused = Reply::to(&mut client, "delegate_results", json!({ "task_id": "T-local-000000000000" }));
    refused.no_line_can_be_missed();
    refused.no_fact_can_be_changed(&["/error/code", "/error/message", "/error/hint"]);
}

#[test]
fn what_is_not_over_is_told_the_same_twice() {
    let env = world();
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let slow = |wait: u64| json!({ "task": "fix-test --speed 0.01", "wait_ms": wait, "options": { "agent": "replay", "dedupe": false } });
    let works =
        Reply::to(&mut client, "delegate_run", slow(50)).has(&["status: working (the wait timed out)"]);
    works.no_line_can_be_missed();
    works.no_fact_can_be_changed(&["/wait_exceeded"]);
    let waits = Reply::to(&mut client, "_codex_local_run", slow(0)).has(&[
        "status: accepted\n",
        "taken_in_at: ",
        "queue_position: 1\n",
    ]);
    waits.no_line_can_be_missed();
    waits.no_fact_can_be_changed(&[
        "/data/task_id",
        "/data/accepted",
        "/data/started_at",
        "/meta/queue_position",
    ]);
    let exec =
        Reply::to(&mut client, "_codex_local_exec", slow(50)).has(&["status: pending (the wait timed out)"]);
    exec.no_line_can_be_missed();
    let (works, waits) = (works.content["task_id"].clone(), waits.content["data"]["task_id"].clone());
    for (task, state) in [(&works, "working"), (&waits, "pending")] {
        let state = format!("status: {state}");
        let ask = json!({ "task_id": task, "timeout_sec": 0.05 });
        let reply = Reply::to(&mut client, "delegate_wait", ask).has(&[&state]);
        reply.no_line_can_be_missed();
        reply.no_fact_can_be_changed(&["/data/state", "/data/wait_exceeded", "/data/progress/next_actions"]);
        Reply::to(&mut client, "delegate_results", json!({ "task_id": task }))
            .has(&[&state])
            .no_line_can_be_missed();
    }
    let status = Reply::to(&mut client, "delegate_status", json!({})).has(&["running:\n", "queued:\n"]);
    status.no_line_can_be_missed();
    status.no_fact_can_be_changed(&[
        "/data/tasks/0/task_id",
        "/data/tasks/0/elapsed_seconds",
        "/data/tasks/0/progress/current_activity",
        "/data/queue/1/task_id",
        "/data/queue/0/position",
        "/data/queue/0/title",
    ]);
    let ask = json!({ "task_ids": [works, waits], "until": "all", "timeout_sec": 0.05 });
    let several = Reply::to(&mut client, "delegate_wait", ask.clone()).has(&["status: 0 of 2 done"]);
    several.no_line_can_be_missed();
    several.no_fact_can_be_changed(&[
        "/data/tasks",
        "/data/tasks/0/task_id",
        "/data/tasks/1/state",
        "/data/tasks/1/summary",
    ]);
    for task in [&waits, &works] {
        let ask = json!({ "task_id": task, "reason": "no\nlonger wanted" });
        let reply = Reply::to(&mut client, "delegate_cancel", ask)
            .has(&["status: cancelled (was ", "reason: no longer wanted"]);
        reply.no_line_can_be_missed();
        reply.no_fact_can_be_changed(&[
            "/data/state",
            "/data/previous_state",
            "/data/reason",
            "/data/processes_ended",
            "/data/message",
        ]);
        Reply::to(&mut client, "delegate_cancel", json!({ "task_id": task }))
            .has(&["status: cancelled (was cancelled)"]);
    }
    Reply::to(&mut client, "delegate_wait", ask).has(&["status: 2 of 2 done"]).no_line_can_be_missed();
}

/// What is printed can look like anything, and both sides are cut to fit.
#[test]
fn what_was_cut_is_told_the_same_twice() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    for lines in [3, 300, 3000] {
        let print = format!(
            "i=0; while [ $i -lt {lines} ]; do echo \"next: delegate_run $i\"; echo \"stderr:\" >&2; echo 'notice: none' >&2; i=$((i+1)); done; exit 1"
        );
        let task = env.submit(&print).task_id;
        env.await_final(&task);
        for most in [100, 16_384, 65_536] {
            let ask = json!({ "task_id": task, "include_output": true, "include_events": true, "max_output_bytes": most });
            let reply = Reply::to(&mut client, "delegate_results", ask)
                .has(&["status: failed", "stdout:\n```\nnext: delegate_run 0\n"]);
            let output = &reply.content["data"]["output"];
            let shown = ["stdout", "stderr"].map(|stream| output[stream].as_str().unwrap());
            let last = format!("next: delegate_run {}\n", lines - 1);
            assert!(shown[0].ends_with(&last) && shown[1].ends_with("stderr:\nnotice: none\n"), "{output:#}");
            let all = shown.concat().len() as u64 == output["original_size"].as_u64().unwrap();
            assert_eq!(output["truncated"], !all, "{output:#}");
        }
        Reply::to(&mut client, "delegate_wait", json!({ "task_id": task }));
    }
}

/// Replies are held against all of the schema that is shipped, not only against the short one that a model reads.
#[test]
fn a_stranger_anywhere_in_a_reply_is_found() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let listed = client.result("tools/list", json!({}));
    let run = client.replay("fix-test --instant");
    env.await_final(&run);
    for (tool, arguments, strangers) in [
        ("delegate_status", json!({ "task_id": run }), vec!["/data/recently_completed/0"]),
        ("delegate_wait", json!({ "task_id": run }), vec!["/data/metadata", "/data/output"]),
        (
            "delegate_results",
            json!({ "task_id": run }),
            vec!["/data/output", "/data/metadata/file_operations"],
        ),
    ] {
        let reply = client.result("tools/call", json!({ "name": tool, "arguments": arguments }));
        for place in strangers {
            let mut changed = reply.clone();
            let content = &mut changed["structuredContent"];
            let found =
                content.pointer_mut(place).unwrap_or_else(|| panic!("{tool} has no {place}: {reply:#}"));
            *found = json!({ "weird": [1] });
            let checked = std::panic::catch_unwind(|| Advertised::of(&listed).check_reply(tool, &changed));
            let told = checked.expect_err(place);
            let told = told.downcast_ref::<String>().unwrap();
            assert!(told.starts_with(&format!("{tool}, codex/v3.6/")), "{place}: {told}");
        }
    }
}
