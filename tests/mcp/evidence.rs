//! What was seen of files, tests and errors, in every reply that has a place for it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::agreement::Reply;
use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, finish, wait_for};

/// Says what is in `FIRST`; once it may go on, changes a file and says what is in `THEN`.
const CODEX: &str = r#"#!/bin/sh
case "$1 $2" in
"--version "*) echo 'codex-cli 0.200.0'; exit ;;
"exec --help") cat 'HELP'; exit ;;
"mcp list") echo '[]'; exit ;;
esac
cat > /dev/null
cat 'SIDE/first'
until [ -e 'SIDE/go' ]; do sleep 0.02; done
[ ! -e 'SIDE/edit' ] || echo changed >> kept
[ ! -e 'SIDE/work' ] || sh -e 'SIDE/work'
cat 'SIDE/then'
exit "$(cat 'SIDE/code')"
"#;

const BROKEN: &str = "   Compiling shop v0.1.0 (/home/dev/shop)\n\
                      error[E0308]: mismatched types\n --> src/lib.rs:4:5\n  |\n4 |     \"x\"\n  |     ^^^ expected `u32`, found `&str`\n\n\
                      error: could not compile `shop` (lib) due to 1 previous error\n";

const FAILED: &str = "running 3 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... ignored\n\nfailures:\n\n---- b stdout ----\n\n\
                      thread 'b' panicked at src/lib.rs:9:9:\nassertion failed: false\n\n\nfailures:\n    b\n\n\
                      test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n\
                      error: test failed, to rerun pass `--lib`\n";

struct World {
    env: TestEnv,
}

impl World {
    /// A repository with one file, and a Codex that does as above.
    fn new(first: &[Value], then: &[Value], code: i32) -> World {
        let env = TestEnv::new();
        let lines = |events: &[Value]| events.iter().map(|event| format!("{event}\n")).collect::<String>();
        let thread = json!({ "type": "thread.started", "thread_id": "01a1de11-e775-7fc2-8102-000000000001" });
        let begin = [thread, json!({ "type": "turn.started" })];
        fs::write(env.side().join("first"), lines(&[&begin, first].concat())).unwrap();
        fs::write(env.side().join("then"), lines(then)).unwrap();
        fs::write(env.side().join("code"), code.to_string()).unwrap();
        let help = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/codex/exec_help.txt");
        let codex = env.root().join("bin/codex");
        let side = env.side();
        fs::write(&codex, CODEX.replace("HELP", help).replace("SIDE", side.to_str().unwrap())).unwrap();
        fs::set_permissions(&codex, fs::Permissions::from_mode(0o755)).unwrap();
        env.configure(&format!("codex_path = {codex:?}\ndefault_sandbox = \"workspace-write\"\n"));
        fs::write(env.work().join("kept"), "one\n").unwrap();
        let script = "git init -q -b main . && git add -A && \
                      git -c user.name=dev -c user.email=dev@example.org commit -qm first";
        let mut command = Command::new("/bin/sh");
        env.settle_in(&mut command);
        command.args(["-ec", script]);
        assert_eq!(finish(command, PATIENCE).code, Some(0));
        World { env }
    }

    fn side(&self, name: &str) {
        fs::write(self.env.side().join(name), "").unwrap();
    }
}

fn ran(item: &str, command: &str, code: i64, output: &str) -> Value {
    let status = if code == 0 { "completed" } else { "failed" };
    json!({ "type": "item.completed", "item": {
        "id": item, "type": "command_execution", "command": format!("/bin/bash -lc '{command}'"),
        "aggregated_output": output, "exit_code": code, "status": status,
    }})
}

fn turn_completed() -> Vec<Value> {
    let usage = json!({ "input_tokens": 3, "cached_input_tokens": 1, "output_tokens": 2 });
    vec![
        json!({ "type": "item.completed", "item": { "id": "item_9", "type": "agent_message", "text": "All 40 tests passed." } }),
        json!({ "type": "turn.completed", "usage": usage }),
    ]
}

const OF_A_FAILURE: [&str; 11] = [
    "/error_context/first_error",
    "/error_context/error_type",
    "/error_context/error_locations/0/line",
    "/error_context/failed_command",
    "/error_context/refused",
    "/file_operations/files_changed",
    "/file_operations/modified_files",
    "/test_results/passed",
    "/test_results/failed_tests/0",
    "/test_results/stale",
    "/test_results/complete",
];

#[test]
fn what_was_seen_of_a_failed_run_is_told_the_same_twice() {
    let refused = json!({ "type": "item.completed", "item": {
        "id": "item_3", "type": "file_change", "status": "declined",
        "changes": [{ "path": "/etc/passwd", "kind": "update" }],
    }});
    let first =
        [ran("item_1", "cargo build", 101, BROKEN), refused, ran("item_2", "sh test.sh", 101, FAILED)];
    let failed =
        json!({ "type": "turn.failed", "error": { "message": "stream disconnected before completion" } });
    let world = World::new(&first, &[failed], 1);
    world.side("edit");
    world.side("go");
    let mut client = Client::of(&world.env, &["--tools", "all"], &[]);
    let all = [
        "first_error: mismatched types",
        "error_type: compile error E0308",
        "failed_command: cargo build",
        "error_locations:\n- src/lib.rs:4:5\n",
        "refused:\n- a change of /etc/passwd\n",
        "files: 1 changed, +1 -0 lines (git)\n- modified kept\n",
        "tests: 1 passed, 1 failed, 1 skipped (cargo_test",
        "failed_tests:\n- b\n",
    ];
    let ask = json!({ "task": "do it", "wait_ms": 20_000 });
    let report = Reply::to(&mut client, "delegate_run", ask).has(&all);
    report.no_line_can_be_missed();
    report.no_fact_can_be_changed(&OF_A_FAILURE);
    let task = report.content["task_id"].clone();
    for tool in ["delegate_wait", "delegate_results", "_codex_local_wait", "_codex_local_results"] {
        let reply = Reply::to(&mut client, tool, json!({ "task_id": task })).has(&all);
        reply.no_line_can_be_missed();
        let places = OF_A_FAILURE.map(|place| format!("/data/metadata{place}"));
        reply.no_fact_can_be_changed(&places.each_ref().map(String::as_str));
        let context = &reply.content["data"]["metadata"]["error_context"];
        // The build is not what the agent failed of, and is told beside that.
        assert_eq!(context["failed_files"], json!(["src/lib.rs"]));
        assert_eq!(context["error_message"], "stream disconnected before completion");
    }
    let shell = world.env.run(&["results", task.as_str().unwrap()]);
    all.iter().for_each(|line| assert!(shell.stdout.contains(&format!("\n{line}")), "{}", shell.stdout));
}

const OF_A_COMMAND: [&str; 6] = [
    "/error_context/error_type",
    "/error_context/first_error",
    "/error_context/failed_command",
    "/error_context/error_locations",
    "/error_context/error_locations/0/line",
    "/error_context/suggestions",
];

#[test]
fn what_a_command_failed_of_is_told_the_same_twice() {
    let env = TestEnv::new();
    fs::create_dir(env.work().join("src")).unwrap();
    fs::write(env.work().join("src/lib.rs"), "").unwrap();
    fs::write(env.work().join("said"), BROKEN).unwrap();
    fs::write(env.work().join("build.sh"), "cat said\nexit 101\n").unwrap();
    let run = env.json(&["run", "--agent", "command", "--wait", "--json", "sh ./build.sh"]);
    let mut client = Client::of(&env, &["--tools", "all"], &[]);
    let all = [
        "first_error: mismatched types",
        "error_type: compile error E0308",
        "failed_command: sh ./build.sh",
        "error_locations:\n- src/lib.rs:4:5\n",
        "suggestions:\n- fix src/lib.rs:4 first: E0308 mismatched types\n",
    ];
    for tool in ["delegate_wait", "delegate_results", "_codex_local_wait", "_codex_local_results"] {
        let reply = Reply::to(&mut client, tool, json!({ "task_id": run["task_id"] })).has(&all);
        reply.no_line_can_be_missed();
        let places = OF_A_COMMAND.map(|place| format!("/data/metadata{place}"));
        reply.no_fact_can_be_changed(&places.each_ref().map(String::as_str));
        let context = &reply.content["data"]["metadata"]["error_context"];
        assert_eq!(context["failed_files"], json!(["src/lib.rs"]));
    }
}

const OF_A_SUCCESS: [&str; 6] = [
    "/unresolved_error/error_message",
    "/unresolved_error/error_type",
    "/unresolved_error/failed_command",
    "/unresolved_error/error_locations/0/line",
    "/unresolved_error/refused",
    "/unresolved_error/suggestions",
];

#[test]
fn what_still_failed_when_a_run_completed_is_told_and_is_no_failure_of_the_run() {
    let refused = json!({ "type": "item.completed", "item": {
        "id": "item_3", "type": "file_change", "status": "declined",
        "changes": [{ "path": "/etc/passwd", "kind": "update" }],
    }});
    let world = World::new(&[ran("item_1", "cargo build", 101, BROKEN), refused], &turn_completed(), 0);
    world.side("go");
    let mut client = Client::of(&world.env, &["--tools", "all"], &[]);
    let all = [
        "status: completed",
        "unresolved_error: mismatched types",
        "unresolved_type: compile error E0308",
        "unresolved_command: cargo build",
        "unresolved_locations:\n- src/lib.rs:4:5\n",
        "unresolved_refused:\n- a change of /etc/passwd\n",
        "unresolved_suggestions:\n- fix src/lib.rs:4 first: E0308 mismatched types\n",
    ];
    let ask = json!({ "task": "do it", "wait_ms": 20_000 });
    let report = Reply::to(&mut client, "delegate_run", ask).has(&all);
    report.no_line_can_be_missed();
    report.no_fact_can_be_changed(&OF_A_SUCCESS);
    assert_eq!(report.content.get("error_context"), None);
    let task = report.content["task_id"].clone();
    for tool in ["delegate_wait", "delegate_results", "_codex_local_wait", "_codex_local_results"] {
        let reply = Reply::to(&mut client, tool, json!({ "task_id": task })).has(&all);
        reply.no_line_can_be_missed();
        let places = OF_A_SUCCESS.map(|place| format!("/data/metadata{place}"));
        reply.no_fact_can_be_changed(&places.each_ref().map(String::as_str));
        let metadata = &reply.content["data"]["metadata"];
        assert_eq!(metadata["unresolved_error"]["failed_files"], json!(["src/lib.rs"]));
        assert_eq!(metadata.get("error_context"), None);
    }
    let other = world.env.json(&["run", "--agent", "command", "--wait", "--json", "true"])["task_id"].clone();
    let asked = [
        ("delegate_status", "recently_completed", json!({ "task_id": task })),
        ("delegate_wait", "tasks", json!({ "task_ids": [task, other], "until": "all" })),
    ];
    for (tool, place, ask) in asked {
        let reply = Reply::to(&mut client, tool, ask);
        assert!(reply.text.contains("; unresolved_error: mismatched types"), "{}", reply.text);
        let tasks = reply.content["data"][place].as_array().unwrap();
        let at = tasks.iter().position(|one| one["task_id"] == task).unwrap();
        reply.no_fact_can_be_changed(&[&format!("/data/{place}/{at}/unresolved_error")]);
    }
    for command in ["results", "wait"] {
        let shell = world.env.run(&[command, task.as_str().unwrap()]).stdout;
        all.iter().for_each(|line| assert!(shell.contains(&format!("\n{line}")), "{shell}"));
    }
}

#[test]
fn what_failed_before_something_succeeded_is_told_with_that() {
    let built = "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.10s\n";
    let first = [ran("item_1", "cargo build", 101, BROKEN), ran("item_2", "cargo build 2>&1", 0, built)];
    let world = World::new(&first, &turn_completed(), 0);
    world.side("go");
    let mut client = Client::of(&world.env, &["--tools", "all"], &[]);
    let line = "`cargo build` failed: mismatched types; passed later";
    let all = ["status: completed", &format!("earlier_errors:\n- {line}\n")];
    let ask = json!({ "task": "do it", "wait_ms": 20_000 });
    let report = Reply::to(&mut client, "delegate_run", ask).has(&all);
    report.no_line_can_be_missed();
    report.no_fact_can_be_changed(&["/earlier_errors"]);
    assert_eq!(report.content.get("unresolved_error"), None);
    let task = report.content["task_id"].clone();
    for tool in ["delegate_wait", "delegate_results", "_codex_local_wait", "_codex_local_results"] {
        let reply = Reply::to(&mut client, tool, json!({ "task_id": task })).has(&all);
        reply.no_line_can_be_missed();
        reply.no_fact_can_be_changed(&["/data/metadata/earlier_errors"]);
    }
    for command in ["results", "wait"] {
        let shell = world.env.run(&[command, task.as_str().unwrap()]).stdout;
        all.iter().for_each(|line| assert!(shell.contains(&format!("\n{line}")), "{shell}"));
    }
    let run_dir = report.content["run_dir"].as_str().unwrap();
    let evidence: Value =
        serde_json::from_slice(&fs::read(format!("{run_dir}/evidence.json")).unwrap()).unwrap();
    let expected = json!([{
        "command": "/bin/bash -lc 'cargo build'", "error_message": "mismatched types",
        "error_type": "compile error E0308", "succeeded_since": "/bin/bash -lc 'cargo build 2>&1'",
        "same_command": true,
    }]);
    assert_eq!(evidence["earlier_errors"], expected);
}

const OF_A_CHECKOUT: [&str; 9] = [
    "/file_operations/files_changed",
    "/file_operations/lines_changed",
    "/file_operations/lines_added",
    "/file_operations/left_out",
    "/file_operations/head/to/branch",
    "/file_operations/commits/0/subject",
    "/file_operations/ignored/0/path",
    "/file_operations/incomplete/0",
    "/token_usage/output_tokens",
];

#[test]
fn what_happened_to_a_checkout_is_told_the_same_twice() {
    let world = World::new(&[], &turn_completed(), 0);
    let work = "git checkout -q -b other; chmod +x kept; for i in $(seq 130); do echo $i >new$i; done; \
                git init -q inner; echo x >inner/x; echo '*.log' >.gitignore; echo l >x.log; \
                git mv kept 'kept -> so'; \
                git -c user.name=dev -c user.email=dev@example.org commit -qam 'all of it'";
    fs::write(world.env.side().join("work"), work).unwrap();
    world.side("go");
    let mut client = Client::of(&world.env, &["--tools", "all"], &[]);
    let all = [
        "files: 132 changed (131 added, 1 renamed), +131 -0 lines (git; incomplete)\n- added .gitignore\n",
        "... (+127 more)\nhead: main ",
        "commits:\n- ",
        "ignored:\n- added x.log\nnot_known:\n- something changed in these nested repositories",
        "tokens: 3 in (1 from the cache), 2 out (0 for reasoning)\n",
    ];
    let ask = json!({ "task": "do it", "wait_ms": 20_000 });
    let report = Reply::to(&mut client, "delegate_run", ask).has(&all);
    report.no_line_can_be_missed();
    report.no_fact_can_be_changed(&OF_A_CHECKOUT);
    let files = &report.content["file_operations"];
    assert_eq!(files["renamed_files"], json!([{ "from": "kept", "to": "\"kept -> so\"" }]));
    let task = report.content["task_id"].clone();
    for tool in ["delegate_wait", "delegate_results", "_codex_local_wait", "_codex_local_results"] {
        Reply::to(&mut client, tool, json!({ "task_id": task })).has(&all).no_line_can_be_missed();
    }
}

#[test]
fn what_an_agent_says_of_tests_is_not_what_was_seen() {
    let world = World::new(&[ran("item_1", "ls", 0, "40 passed in 0.10s\n")], &turn_completed(), 0);
    world.side("go");
    let mut client = Client::new(&world.env, Era::Session);
    let report = Reply::to(&mut client, "delegate_run", json!({ "task": "do it", "wait_ms": 20_000 }));
    assert_eq!(report.content["summary"], "All 40 tests passed.");
    assert_eq!(report.content.get("test_results"), None);
    assert_eq!(report.content["file_operations"]["files_changed"], 0);
    report.has(&["files: 0 changed, 0 lines (git)"]);
}

/// Nothing but the tree tells of the change: no event does.
#[test]
fn tests_that_ran_before_a_file_changed_are_stale() {
    for changes in [true, false] {
        let passed = FAILED.replace("test b ... FAILED", "test b ... ok");
        let passed = passed.split("\nfailures:").next().unwrap().to_owned()
            + "\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let world = World::new(&[ran("item_1", "cargo test", 0, &passed)], &turn_completed(), 0);
        if changes {
            world.side("edit");
        }
        let mut client = Client::new(&world.env, Era::Session);
        let report = client.call("delegate_run", json!({ "task": "do it" })).unwrap();
        let run_dir = report["run_dir"].as_str().unwrap().to_owned();
        wait_for("the tests to be seen", PATIENCE, || {
            let progress = fs::read(format!("{run_dir}/progress.json")).ok()?;
            let progress: Value = serde_json::from_slice(&progress).ok()?;
            (progress["counters"]["commands"] == 1).then_some(())
        });
        world.side("go");
        let waited = Reply::to(&mut client, "delegate_wait", json!({ "task_id": report["task_id"] }));
        let tests = &waited.content["data"]["metadata"]["test_results"];
        let expected = json!({
            "passed": 2, "failed": 0, "skipped": 1, "failed_tests": [], "stale": changes, "complete": true,
            "unit": "tests", "frameworks": ["cargo_test"],
        });
        assert_eq!(tests, &expected);
        let evidence: Value =
            serde_json::from_slice(&fs::read(format!("{run_dir}/evidence.json")).unwrap()).unwrap();
        assert_eq!(evidence["tests"]["runs"][0]["stale"], changes);
    }
}

/// In the run's own directory, to whoever waits at a shell, and to a client that asked for notices.
#[track_caller]
fn told_while_it_runs(env: &TestEnv, run: &str, client: &mut Client, task: &str) {
    let read = |name: &str| -> Option<Value> {
        serde_json::from_slice(&fs::read(env.run_dir(run).join(name)).ok()?).ok()
    };
    let progress = wait_for("its progress", PATIENCE, || {
        read("progress.json").filter(|progress| progress["eta"]["samples"] == 5)
    });
    let moment = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
    let since = moment(&read("started.json").unwrap()["started_at"]);
    let left = |end: &str| moment(&progress["eta"][end]) - since;
    assert!((19_990..=20_010).contains(&left("earliest")), "{progress:#}");
    assert!((39_990..=40_010).contains(&left("latest")), "{progress:#}");
    let shell = env.run(&["wait", task, "--timeout", "1"]);
    assert!(shell.stderr.contains(" left, based on 5 earlier runs"), "{}", shell.stderr);
    let wait = json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": 1 },
                       "_meta": { "progressToken": "p" } });
    let id = client.begin("tools/call", wait);
    let notice = client.wait_for("a notice", |message| message["method"] == "notifications/progress");
    let said = notice["params"]["message"].as_str().unwrap();
    assert!(said.ends_with(" left, based on 5 earlier runs"), "{said}");
    client.answer(id);
}

#[test]
fn how_far_a_run_is_is_in_every_line_of_progress() {
    let ran = ran("item_1", "make", 2, "");
    let plan = json!({ "type": "item.started", "item": { "id": "p", "type": "todo_list", "items": [
        { "text": "look", "completed": true }, { "text": "mend", "completed": false },
    ]}});
    for (first, expected, whole) in [
        (vec![ran.clone()], "1 command (1 failed)", (0.0, Value::Null)),
        (vec![ran, plan], "50%, 1 of 2 steps", (50.0, json!(100.0))),
    ] {
        let world = World::new(&first, &turn_completed(), 0);
        let mut client = Client::new(&world.env, Era::Session);
        let report = client.call("delegate_run", json!({ "task": "do it" })).unwrap();
        let (task, run_dir) = (report["task_id"].as_str().unwrap(), report["run_dir"].as_str().unwrap());
        wait_for("what it said to be known", PATIENCE, || {
            let progress: Value =
                serde_json::from_slice(&fs::read(format!("{run_dir}/progress.json")).ok()?).ok()?;
            let steps = progress["steps"].as_array().map_or(0, Vec::len);
            (progress["counters"]["commands"] == 1 && steps == 2 * (first.len() - 1)).then_some(())
        });
        let shell = world.env.run(&["wait", task, "--timeout", "1"]);
        assert!(shell.stderr.contains(&format!("s  {expected}  ")), "{}", shell.stderr);
        let wait = json!({ "name": "delegate_wait", "arguments": { "task_id": task, "timeout_sec": 1 },
                           "_meta": { "progressToken": "p" } });
        let id = client.begin("tools/call", wait);
        let notice = client.wait_for("a notice", |message| message["method"] == "notifications/progress");
        let said = notice["params"]["message"].as_str().unwrap();
        assert!(said.contains(&format!(" ({expected}), ")), "{said}");
        let number = notice["params"]["progress"].as_f64().unwrap().floor();
        assert_eq!((number, notice["params"]["total"].clone()), whole);
        client.answer(id);
        world.side("go");
        world.env.expect(0, &["wait", task]);
    }
}

#[test]
fn what_may_be_left_is_told_from_this_projects_own_runs() {
    let env = TestEnv::new();
    let ended_by = |agent: &str, task: &str, place: &str| {
        let mut command = env.command(&["run", "--agent", agent, "--wait", "--json", task]);
        command.current_dir(place);
        let ran = finish(command, PATIENCE);
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["task_id"].as_str().unwrap().to_owned()
    };
    let ended = |task: &str, place: &str| ended_by("command", task, place);
    let line = "[ ! -e go ] || exec sleep 600";
    let (work, other) = (env.work(), env.root().join("other"));
    fs::create_dir(&other).unwrap();
    let (work, other) = (work.to_str().unwrap(), other.to_str().unwrap());
    let mut runs: Vec<(String, i64)> = (1..=5).map(|at| (ended(line, work), at * 10_000)).collect();
    // None is like the one that is asked about.
    runs.push((ended("exit 3", work), 90_000));
    runs.push((ended("echo other", work), 90_000));
    runs.push((ended(line, other), 90_000));
    runs.push((ended_by("replay", "fix-test --instant", work), 90_000));
    let registry = rusqlite::Connection::open(env.registry()).unwrap();
    for (task, seconds) in &runs {
        let change = "UPDATE tasks SET completed_at = started_at + ?2 * 1000 WHERE id = ?1";
        assert_eq!(registry.execute(change, rusqlite::params![task, seconds]).unwrap(), 1);
    }
    // Its end takes down what the registry knows, for the one that follows; it is over sooner than that.
    ended(line, work);
    wait_for("what was known to be taken down", PATIENCE, || {
        let entries = fs::read_dir(env.home().join("history")).ok()?.flatten();
        let texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        texts.filter(|text| text.contains("50000000\n")).last().map(drop)
    });
    fs::write(env.work().join("go"), "").unwrap();
    let run = env.submit(line);
    let task = run.task_id;
    let mut client = Client::new(&env, Era::Session);
    told_while_it_runs(&env, &run.run_id, &mut client, &task);
    let status = wait_for("the run to be known", PATIENCE, || {
        let status = Reply::to(&mut client, "delegate_status", json!({ "task_id": task }));
        status.content["data"]["tasks"][0]["progress"].is_object().then_some(status)
    });
    let progress = &status.content["data"]["tasks"][0]["progress"];
    let eta = &progress["eta"];
    assert_eq!(eta["samples"], 5, "{progress:#}");
    let (low, high) = (eta["low_s"].as_u64().unwrap(), eta["high_s"].as_u64().unwrap());
    assert!((19_900..=20_000).contains(&low) && (39_900..=40_000).contains(&high), "{eta}");
    assert_eq!((&progress["percent"], &progress["counters"]["commands"]), (&Value::Null, &json!(1)));
    for unknown in ["completed_steps", "total_steps"] {
        assert_eq!(progress.get(unknown), Some(&Value::Null), "{progress:#}");
    }
    status.no_fact_can_be_changed(&[
        "/data/tasks/0/progress/eta/high_s",
        "/data/tasks/0/progress/eta/samples",
        "/data/tasks/0/progress/counters/commands",
    ]);
    let waited = json!({ "task_id": task, "timeout_sec": 1 });
    for (tool, ask) in [("delegate_wait", waited), ("delegate_results", json!({ "task_id": task }))] {
        let reply = Reply::to(&mut client, tool, ask).has(&["eta: 5h3"]);
        reply.no_line_can_be_missed();
        reply.no_fact_can_be_changed(&["/data/progress/eta/low_s", "/data/progress/eta/samples"]);
    }
    let shell = env.run(&["status", &task]).stdout;
    assert!(shell.contains("\neta: 5h3") && shell.contains(" left, based on 5 earlier runs\n"), "{shell}");
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
}

/// Red tests, and nothing that can say so any more.
#[test]
fn evidence_that_is_spoiled_or_gone_is_told_the_same_twice() {
    let first = [ran("item_1", "cargo test", 101, FAILED)];
    let world = World::new(&first, &turn_completed(), 0);
    world.side("go");
    let mut client = Client::of(&world.env, &["--tools", "all"], &[]);
    let options = json!({ "idempotency_key": "once" });
    let ask = json!({ "task": "do it", "wait_ms": 20_000, "options": options });
    let whole = Reply::to(&mut client, "delegate_run", ask.clone())
        .has(&["unresolved_error: assertion failed: false"]);
    let task = whole.content["task_id"].clone();
    let run_dir = whole.content["run_dir"].as_str().unwrap();
    let file = std::path::Path::new(run_dir).join("evidence.json");
    let bytes = fs::read(&file).unwrap();
    for (spoilt, trouble, reason) in
        [(true, "is damaged: EOF while", "cannot be read"), (false, "is gone; the", "is gone")]
    {
        if spoilt {
            fs::write(&file, &bytes[..200]).unwrap();
        } else {
            fs::remove_file(&file).unwrap();
        }
        let files = format!("files: unknown (evidence.json {reason})");
        let warning = format!("`{}` {trouble}", file.display());
        let said = |reply: &Reply, place: &str, reason: &str| {
            assert!(reply.text.contains(&format!("\n- {warning}")), "{}", reply.text);
            let warnings = reply.content.pointer(place).unwrap().as_array().unwrap();
            let at = warnings.iter().position(|one| one.as_str().unwrap().starts_with(&warning)).unwrap();
            reply.no_fact_can_be_changed(&[&format!("{place}/{at}"), reason]);
        };
        let again = Reply::to(&mut client, "delegate_run", ask.clone()).has(&[&files]);
        said(&again, "/warnings", "/file_operations/reason");
        for tool in ["delegate_wait", "delegate_results"] {
            let reply = Reply::to(&mut client, tool, json!({ "task_id": task })).has(&[&files]);
            said(&reply, "/data/warnings", "/data/metadata/file_operations/reason");
        }
        let reply = Reply::to(&mut client, "delegate_status", json!({ "task_id": task }));
        assert!(reply.text.contains(&files) && reply.text.contains(trouble), "{}", reply.text);
    }
}
