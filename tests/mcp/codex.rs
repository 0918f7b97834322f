//! Conversations with the tool `codex`: S4's scenarios and its appendix B, with a scripted Codex.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// Says that the tests passed, once `go` exists if the request has "slowly". Stands in for the cloud, too.
const CODEX: &str = r#"#!/bin/sh
case "$1 $2" in
"--version "*) echo 'a codex without a version'; exit ;;
"exec --help") cat 'HELP'; exit ;;
"mcp list") echo '[]'; exit ;;
"cloud "*) . 'CLOUD' ;;
esac
prompt=$(cat)
printf '%s\n' '{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}'
printf '%s\n' '{"type":"turn.started"}'
printf '%s\n' '{"type":"item.completed","item":{"id":"0","type":"command_execution","command":"cargo test","aggregated_output":"running 132 tests\n\ntest result: ok. 132 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 21.40s\n","exit_code":0,"status":"completed"}}'
case "$prompt" in *slowly*) while ! [ -e SIDE/go ]; do sleep 0.02; done ;; esac
printf '%s\n' '{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"{\"summary\":\"Tests passed\",\"deliverables\":[],\"open_questions\":[],\"next_actions\":[]}"}}'
printf '%s\n' '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

struct World {
    env: TestEnv,
    client: Client,
}

impl World {
    fn new() -> World {
        let env = TestEnv::new();
        let codex = env.root().join("bin/codex");
        let support = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
        let script = CODEX
            .replace("HELP", &format!("{support}/corpus/codex/exec_help.txt"))
            .replace("CLOUD", &format!("{support}/support/codex_cloud.sh"))
            .replace("SIDE", env.side().to_str().unwrap());
        fs::write(&codex, script).unwrap();
        fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
        let cloud = env.side().join("cloud");
        fs::create_dir_all(cloud.join("tasks")).unwrap();
        fs::write(cloud.join("state"), "READY").unwrap();
        fs::write(cloud.join("diff"), "diff --git a/x b/x\n+more\n").unwrap();
        for args in
            [&["init", "-q"][..], &["remote", "add", "origin", "https://github.com/user/my-project.git"]]
        {
            let mut git = Command::new("git");
            env.settle_in(&mut git);
            assert!(git.args(args).status().unwrap().success(), "{args:?}");
        }
        env.configure(&format!("codex_path = {codex:?}\nmax_concurrent = 8\n"));
        let client = Client::of(&env, &["--tools", "codex"], &[]);
        World { env, client }
    }

    #[track_caller]
    fn ask(&mut self, arguments: Value) -> Value {
        let reply = self.client.call("codex", arguments.clone());
        reply.unwrap_or_else(|text| panic!("{arguments}: {text}"))
    }

    #[track_caller]
    fn say(&mut self, request: &str) -> Value {
        self.ask(json!({ "request": request }))
    }

    /// Starts a task and returns its id.
    #[track_caller]
    fn start(&mut self, request: &str) -> String {
        let reply = self.say(request);
        assert_eq!((&reply["action"], &reply["nextAction"]), (&json!("run"), &json!("poll")), "{reply:#}");
        reply["task"]["id"].as_str().unwrap().to_owned()
    }

    fn commit(&self) {
        for args in [
            &["add", "."][..],
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first", "--allow-empty"],
        ] {
            let mut git = Command::new("git");
            self.env.settle_in(&mut git);
            assert!(git.args(args).status().unwrap().success(), "{args:?}");
        }
    }

    fn release(&self) {
        fs::write(self.env.side().join("go"), "").unwrap();
    }

    #[track_caller]
    fn finish(&mut self, request: &str) -> String {
        let id = self.start(request);
        self.env.await_final(&id);
        id
    }

    /// Everything in the home, except what a server leaves there by itself.
    fn kept(&self) -> Vec<String> {
        fn walk(dir: &Path, found: &mut Vec<String>) {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                let path = entry.path();
                match path.is_dir() {
                    true => walk(&path, found),
                    false => found.push(path.display().to_string()),
                }
            }
        }
        let mut found = Vec::new();
        walk(self.env.home(), &mut found);
        let by_itself = ["registry.db", "clock.json", "marks.lock"];
        found.retain(|path| !by_itself.iter().any(|name| path.contains(name)));
        found.sort();
        found
    }
}

#[track_caller]
fn message(reply: &Value) -> &str {
    reply["userMessage"].as_str().unwrap_or_else(|| panic!("{reply:#}"))
}

#[test]
fn a_quick_task_is_started_checked_and_read() {
    let mut world = World::new();
    let asked = Instant::now();
    let id = world.start("run tests slowly");
    assert!(asked.elapsed() < Duration::from_secs(5), "it blocked");
    let running = world.say("check my task");
    assert_eq!((&running["task"]["id"], &running["task"]["status"]), (&json!(id), &json!("working")));
    assert!(running["task"]["recommendedPollMs"].is_u64(), "{running:#}");
    world.release();
    world.env.await_final(&id);
    let done = world.say("check my task");
    assert_eq!(done["task"]["status"], "completed");
    assert!(message(&done).contains("Tests passed"), "{done:#}");
    let results = world.say(&format!("show results for {id}"));
    assert_eq!(results["action"], "results");
    let summary = &results["resultSummary"];
    assert_eq!((&summary["passed"], &summary["failed"]), (&json!(132), &json!(0)), "{results:#}");
    assert_eq!((&summary["summary"], &summary["reportBy"]), (&json!("Tests passed"), &json!("agent")));
    // The names that S4's examples use.
    let old = json!({ "instruction": "show results", "preference": { "task_id": id } });
    assert_eq!(world.ask(old)["task"]["id"], json!(id));
}

#[test]
fn a_cloud_task_is_submitted_waited_for_and_read() {
    let mut world = World::new();
    let ask = json!({ "request": "run full integration tests", "hints": { "mode": "cloud", "envId": "e" } });
    let started = world.ask(ask);
    assert_eq!(started["task"]["mode"], "cloud", "{started:#}");
    let id = started["task"]["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("T-cloud-"), "{id}");
    let waited = world.say(&format!("wait for {id}"));
    assert_eq!(
        (&waited["action"], &waited["task"]["status"]),
        (&json!("wait"), &json!("completed")),
        "{waited:#}"
    );
    assert_eq!(world.say(&format!("show results for {id}"))["task"]["mode"], "cloud");
}

#[test]
fn of_several_tasks_one_is_chosen_by_number() {
    let mut world = World::new();
    let (first, second) = (world.finish("run the unit tests"), world.finish("run the linter"));
    let asked = world.say("check my task");
    assert_eq!((&asked["action"], &asked["task"]), (&json!("check"), &Value::Null), "{asked:#}");
    let offered: Vec<&Value> =
        asked["alternatives"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(offered, [&json!(second), &json!(first)]);
    assert!(message(&asked).contains("2) "), "{asked:#}");
    assert_eq!(world.say("#2")["task"]["id"], json!(first));
    assert_eq!(world.say("latest")["task"]["id"], json!(second));
    assert_eq!(world.say("all")["tasks"].as_array().unwrap().len(), 2);
    // One that runs is the obvious one; the others stay in reach.
    let third = world.start("run the benchmarks slowly");
    let obvious = world.say("how is it going?");
    assert_eq!(obvious["task"]["id"], json!(third));
    assert!(obvious["confidence"].as_f64().unwrap() > 0.85 && message(&obvious).contains("switch to #2"));
    assert_eq!(world.say("switch to #2")["task"]["id"], json!(second));
    assert_eq!(world.say("cancel it")["task"]["status"], "canceled");
}

#[test]
fn a_number_acts_on_the_list_shown_last_and_only_once() {
    let mut world = World::new();
    let running = [world.start("run a slowly"), world.start("run b slowly"), world.start("run c slowly")];
    let continued = json!({ "request": "add tests", "hints": { "task_id": "T-local-" } });
    // Another list takes the place of the first, with what it is about.
    let asked = world.say("cancel my task");
    assert_eq!(asked["alternatives"].as_array().map(Vec::len), Some(3), "{asked:#}");
    assert_eq!(world.ask(continued.clone())["action"], "run");
    let arguments = json!({ "name": "codex", "arguments": { "request": "#1" } });
    let busy = world.client.result("tools/call", arguments);
    assert_eq!(busy["structuredContent"]["action"], "run", "{busy:#}");
    for id in &running {
        assert_eq!(world.say(&format!("check {id}"))["task"]["status"], "working");
    }
    // An answered list only shows its tasks, and so does one that was not a question.
    let asked = world.say("cancel my task");
    assert_eq!(world.say("#1")["task"]["status"], "canceled");
    let shown = world.say("#2");
    let second = &asked["alternatives"][1]["id"];
    assert_eq!((&shown["action"], &shown["task"]["id"]), (&json!("check"), second), "{shown:#}");
    world.say("cancel my task");
    world.say("list my tasks");
    let shown = world.say("#1");
    assert_eq!((&shown["action"], &shown["task"]["status"]), (&json!("check"), &json!("working")));
    // Work begins after the chosen task.
    let asked = world.say("run the linter after my task");
    let first = asked["alternatives"][0]["id"].as_str().unwrap_or_else(|| panic!("{asked:#}")).to_owned();
    let queued = world.ask(json!({ "request": "#1", "explain": true }));
    let trace = queued["decisionTrace"].to_string();
    assert!(trace.contains(&format!("begins after: {first}")), "{queued:#}");
    // Work goes on with the chosen task.
    world.release();
    world.env.await_final(queued["task"]["id"].as_str().unwrap());
    running.iter().for_each(|id| drop(world.env.await_final(id)));
    let asked = world.ask(continued);
    let second = asked["alternatives"][1]["id"].as_str().unwrap().to_owned();
    let started = world.say("#2");
    assert!(message(&started).contains(&format!("Continuing {second}")), "{started:#}");
    world.env.await_final(started["task"]["id"].as_str().unwrap());
}

#[test]
fn github_setup_is_a_guide() {
    let mut world = World::new();
    let guide = world.say("set up GitHub integration for this repo");
    assert_eq!(guide["action"], "setup");
    assert!(message(&guide).contains("https://github.com/user/my-project"), "{guide:#}");
}

#[test]
fn a_task_is_stopped_and_what_follows_then_begins() {
    let mut world = World::new();
    let id = world.start("migrate slowly");
    let stopped = world.say("stop my task, then run the linter");
    assert_eq!(
        (&stopped["action"], &stopped["task"]["status"]),
        (&json!("cancel"), &json!("canceled")),
        "{stopped:#}"
    );
    assert_eq!(stopped["task"]["id"], json!(id));
    assert_eq!(stopped["continuation"]["action"], "run", "{stopped:#}");
    assert!(stopped["continuation"]["task"]["id"].is_string());
}

#[test]
fn a_wait_that_ends_first_has_the_progress_and_starts_nothing() {
    let mut world = World::new();
    let id = world.start("test slowly");
    let hints = json!({ "timeoutMs": 200 });
    let waited = world.ask(json!({ "request": "wait for task, then deploy the docs", "hints": hints }));
    assert_eq!(
        (&waited["waitExceeded"], &waited["nextAction"]),
        (&json!(true), &json!("await")),
        "{waited:#}"
    );
    assert_eq!(waited["task"]["id"], json!(id));
    assert!(
        waited.get("continuation").is_none() && message(&waited).contains("deploy the docs"),
        "{waited:#}"
    );
    world.release();
    assert_eq!(world.say("wait for it")["resultSummary"]["summary"], "Tests passed");
}

#[test]
fn a_follow_up_continues_the_thread() {
    let mut world = World::new();
    let nothing = world.say("continue");
    assert_eq!((&nothing["action"], &nothing["task"]), (&json!("run"), &Value::Null), "{nothing:#}");
    let first = world.finish("run the tests");
    let next = world.say("now add tests for the parser");
    assert!(message(&next).contains(&format!("Continuing {first}")), "{next:#}");
    world.env.await_final(next["task"]["id"].as_str().unwrap());
    // A thread that is busy is an error of the caller's, which passes.
    let busy = world.say("also document it slowly");
    let id = busy["task"]["id"].as_str().unwrap().to_owned();
    let refused = world
        .client
        .result("tools/call", json!({ "name": "codex", "arguments": { "request": "also do more" } }));
    assert_eq!(refused["isError"], true);
    let reply = &refused["structuredContent"];
    assert_eq!(
        (&reply["acknowledged"], &reply["error"]["code"]),
        (&json!(false), &json!("VALIDATION")),
        "{reply:#}"
    );
    assert!(reply["error"]["retryAfterMs"].is_u64());
    world.say(&format!("cancel {id}"));
}

#[test]
fn what_destroys_or_costs_is_confirmed_once() {
    let mut world = World::new();
    let ids = [world.start("run a slowly"), world.start("run b slowly")];
    let asked = world.say("cancel all");
    assert_eq!((&asked["action"], &asked["nextAction"]), (&json!("cancel"), &json!("none")), "{asked:#}");
    let token = asked["confirmation"]["confirm"].as_str().unwrap().to_owned();
    assert!(ids.iter().all(|id| asked["confirmation"]["would"].as_str().unwrap().contains(id)));
    let confirm = |request: &str, token: &str| json!({ "request": request, "safety": { "confirm": token } });
    // Neither another request nor another token is confirmed by it.
    assert!(world.ask(confirm("clean up old runs", &token))["confirmation"].is_object());
    assert!(world.ask(confirm("cancel all", "00000000000000000000000000000000"))["confirmation"].is_object());
    let later = world.start("run c slowly");
    let done = world.ask(confirm("cancel all", &token));
    assert_eq!(done["tasks"].as_array().map(Vec::len), Some(2), "{done:#}");
    let again = world.ask(confirm("cancel all", &token));
    assert!(again["confirmation"].is_object(), "a token works once: {again:#}");
    assert_eq!(world.say(&format!("check {later}"))["task"]["status"], "working");
    for (request, more) in [
        ("run it", json!({ "hints": { "sandbox": "danger-full-access" } })),
        ("run it", json!({ "safety": { "max_cost_usd": 5 } })),
        ("run it", json!({ "safety": { "requireConfirmation": true } })),
        ("clean up old runs", json!({})),
    ] {
        let mut ask = json!({ "request": request });
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert!(world.ask(ask.clone())["confirmation"]["confirm"].is_string(), "{ask}");
    }
    world.say(&format!("cancel {later}"));
}

#[test]
fn a_confirmation_to_continue_holds_for_the_task_it_named() {
    let mut world = World::new();
    let codex = world.env.root().join("bin/codex");
    world.env.configure(&format!("codex_path = {codex:?}\nmax_sandbox = \"danger-full-access\"\n"));
    let token = |asked: &Value| asked["confirmation"]["confirm"].as_str().map(str::to_owned);
    let first = world.finish("run the tests");
    let asked = world.ask(json!({ "request": "continue", "safety": { "requireConfirmation": true } }));
    assert!(asked["confirmation"]["would"].as_str().unwrap().contains(&first), "{asked:#}");
    world.finish("run the linter");
    let safety = json!({ "requireConfirmation": true, "confirm": token(&asked) });
    let continued = world.ask(json!({ "request": "continue", "safety": safety }));
    assert!(message(&continued).contains(&format!("Continuing {first}")), "{continued:#}");
    world.env.await_final(continued["task"]["id"].as_str().unwrap());
    // Full access is asked about each time, also where it is inherited.
    let hints = json!({ "sandbox": "danger-full-access" });
    let asked = world.ask(json!({ "request": "run it", "hints": hints }));
    let safety = json!({ "confirm": token(&asked) });
    let started = world.ask(json!({ "request": "run it", "hints": hints, "safety": safety }));
    world.env.await_final(started["task"]["id"].as_str().unwrap());
    let asked = world.say("continue");
    assert!(asked["confirmation"]["would"].as_str().unwrap().contains("danger-full-access"), "{asked:#}");
}

#[test]
fn what_is_behind_then_is_confirmed_alone() {
    let mut world = World::new();
    let id = world.start("migrate slowly");
    let (hints, safety) = (json!({ "task_id": id }), json!({ "max_cost_usd": 5 }));
    let whole = json!({ "request": "stop it, then run the linter", "hints": hints, "safety": safety });
    let asked = world.ask(whole);
    assert_eq!(asked["task"]["status"], "canceled", "{asked:#}");
    let confirmation = &asked["continuation"]["confirmation"];
    assert_eq!(confirmation["request"], "run the linter", "{asked:#}");
    assert!(message(&asked).contains("repeat only \"run the linter\""), "{asked:#}");
    let confirm = |request: &Value, max: u32| {
        let safety = json!({ "max_cost_usd": max, "confirm": confirmation["confirm"] });
        json!({ "request": request, "hints": hints, "safety": safety })
    };
    // It is bound to what came with it.
    assert!(world.ask(confirm(&confirmation["request"], 6))["confirmation"].is_object());
    let started = world.ask(confirm(&confirmation["request"], 5));
    assert!(message(&started).starts_with("Started task"), "{started:#}");
    world.env.await_final(started["task"]["id"].as_str().unwrap());
}

#[test]
fn a_task_in_the_cloud_does_not_keep_the_others_from_being_cancelled() {
    let mut world = World::new();
    fs::write(world.env.side().join("cloud/state"), "PENDING").unwrap();
    let hints = json!({ "mode": "cloud", "envId": "e" });
    let first = world.start("run a slowly");
    let sent = world.ask(json!({ "request": "run full integration tests", "hints": hints }));
    let cloud = sent["task"]["id"].as_str().unwrap().to_owned();
    wait_for("the cloud to have it", PATIENCE, || {
        let status = world.say(&format!("check {cloud}"))["task"]["status"].clone();
        world.env.side().join("cloud/at-status").exists().then_some(()).filter(|()| status == "working")
    });
    let later = world.start("run b slowly");
    let asked = world.say("cancel all");
    let token = asked["confirmation"]["confirm"].as_str().unwrap().to_owned();
    let done = world.ask(json!({ "request": "cancel all", "safety": { "confirm": token } }));
    assert!(message(&done).contains(&format!("Could not cancel {cloud}: ")), "{done:#}");
    for id in [first, later] {
        assert_eq!(world.say(&format!("check {id}"))["task"]["status"], "canceled");
    }
}

#[test]
fn a_dry_run_changes_nothing_and_explains_itself() {
    let mut world = World::new();
    let id = world.finish("run the tests");
    world.say("check my task");
    let before = world.kept();
    for request in [
        "run the linter",
        "cancel all",
        "clean up old runs",
        "continue",
        "check my task",
        "wait for it",
        "results",
        "check it, then run the tests",
    ] {
        let reply = world.ask(json!({ "request": request, "dryRun": true, "explain": true }));
        assert!(reply["decisionTrace"].as_array().is_some_and(|trace| !trace.is_empty()), "{reply:#}");
        assert!(reply["action"].is_string());
    }
    assert_eq!(world.kept(), before);
    assert_eq!(world.say("list my tasks")["task"]["id"], json!(id));
}

#[test]
fn what_cannot_be_done_says_why_and_what_to_do() {
    let mut world = World::new();
    let nothing = world.say("check my task");
    assert_eq!((&nothing["acknowledged"], &nothing["action"]), (&json!(true), &json!("check")));
    assert!(message(&nothing).contains("No recent task"), "{nothing:#}");
    let unknown = world.say("cancel T-local-abc123");
    assert_eq!((&unknown["action"], &unknown["task"]), (&json!("cancel"), &Value::Null));
    let refused = world.client.call("codex", json!({ "request": "run the tests with gemini" })).unwrap_err();
    assert!(refused.contains("UNSUPPORTED") && refused.contains("agent"), "{refused}");
    assert!(
        world.client.call("codex", json!({ "request": " " })).unwrap_err().contains("`request` is empty")
    );
    assert!(
        world.client.call("codex", json!({ "requst": "x" })).unwrap_err().contains("did you mean `request`")
    );
}

#[test]
fn work_can_have_a_worktree_and_begin_after_another_task() {
    let mut world = World::new();
    world.commit();
    let first = world.start("migrate slowly");
    let later = world.say(&format!("run the tests in a worktree after {first}"));
    let id = later["task"]["id"].as_str().unwrap();
    assert_eq!(later["task"]["status"], "pending", "{later:#}");
    let waits = format!("waits for {first}");
    assert!(message(&later).contains(&waits), "{later:#}");
    assert!(message(&world.say(&format!("check {id}"))).contains(&waits));
    let status = world.env.json(&["status", "--json"]);
    let queued = &status["data"]["queue"][0];
    assert_eq!((&queued["waits_for"], queued.get("position")), (&json!(first), None), "{status:#}");
    world.release();
    assert_eq!(world.say(&format!("wait for {id}"))["resultSummary"]["summary"], "Tests passed");
    let run = world.env.json(&["results", id, "--json"]);
    let request = Path::new(run["data"]["run_dir"].as_str().unwrap()).join("request.json");
    let request: Value = serde_json::from_slice(&fs::read(request).unwrap()).unwrap();
    assert_eq!(
        (&request["after"], &request["worktree"]["repository"]),
        (&json!(first), &json!(world.env.work()))
    );
}

#[test]
fn choices_and_tasks_outlive_the_server() {
    let mut world = World::new();
    let (first, _) = (world.finish("run the unit tests"), world.finish("run the linter"));
    world.say("show the results");
    let mut other = Client::of(&world.env, &["--tools", "codex"], &[]);
    let chosen = other.call("codex", json!({ "request": "#2" })).unwrap();
    assert_eq!((&chosen["action"], &chosen["task"]["id"]), (&json!("results"), &json!(first)), "{chosen:#}");
}

#[test]
fn the_command_line_understands_the_same() {
    let world = World::new();
    let env = &world.env;
    let started = env.json(&["do", "--json", "run the tests slowly"]);
    let id = started["task"]["id"].as_str().unwrap();
    wait_for("a working task", PATIENCE, || {
        env.run(&["do", "check my task"]).stdout.contains("is running for").then_some(())
    });
    assert!(env.expect(0, &["do", "--dry-run", "--explain", "cancel it"]).stdout.contains("Would cancel"));
    assert!(env.expect(2, &["do", "cancel all"]).stderr.contains("confirm: "));
    assert_eq!(env.run(&["do", "--timeout", "0.1", "wait", "for", "it"]).code, Some(4));
    env.expect(0, &["do", "cancel", id]);
    env.expect(5, &["do", "results"]);
    env.expect(3, &["do", "cancel T-local-abc123"]);
}
