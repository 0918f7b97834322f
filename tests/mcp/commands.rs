//! The commands that agents ran, read as terminals are: `get_terminal_output`,
//! and `terminal read` and `list` at the shell.

use std::fs;

use serde_json::{Value, json};

use crate::captures::replayed;
use crate::client::Client;
use crate::support::env::{PATIENCE, TestEnv, wait_for};

fn client(env: &TestEnv) -> Client {
    Client::of(env, &["--tools", "all"], &[])
}

#[track_caller]
fn look(client: &mut Client, arguments: Value) -> Value {
    let told = client.call("get_terminal_output", arguments.clone());
    told.unwrap_or_else(|error| panic!("{arguments}: {error}"))["data"].clone()
}

fn begun(item: &str, command: &str) -> Value {
    json!({ "type": "item.started", "item": {
        "id": item, "type": "command_execution", "command": command, "aggregated_output": "", "exit_code": null,
        "status": "in_progress",
    } })
}

fn ended(item: &str, command: &str, output: &str, code: i64) -> Value {
    let status = if code == 0 { "completed" } else { "failed" };
    json!({ "type": "item.completed", "item": {
        "id": item, "type": "command_execution", "command": command, "aggregated_output": output, "exit_code": code,
        "status": status,
    } })
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

/// A run of three commands: a long one, a short one in colours, one that failed.
fn ran(env: &TestEnv) -> String {
    let long = numbers(1..=9000);
    replayed(
        env,
        &[
            begun("item_1", "bash -lc 'seq 1 9000'"),
            ended("item_1", "bash -lc 'seq 1 9000'", &long, 0),
            ended("item_2", "ls --color", "\u{1b}[31mred\u{1b}[0m\r\n", 0),
            ended("item_3", "make test", "error: it broke\n", 2),
        ],
    )
}

#[test]
fn every_command_of_an_agent_is_read_in_every_mode() {
    let env = TestEnv::new();
    let task = ran(&env);
    let mut client = client(&env);
    // Nobody recorded a terminal: the last command of the last run.
    let last = look(&mut client, json!({}));
    assert_eq!(
        (&last["terminal_id"], &last["content"], &last["command"]),
        (&json!(format!("{task}/item_3")), &json!("error: it broke\n"), &json!("make test"))
    );
    assert_eq!(
        (&last["task_id"], &last["state"], &last["live"], &last["exit_status"]),
        (&json!(task), &json!("ended"), &json!(false), &json!(2))
    );
    assert_eq!(last["cwd"], json!(env.work()));
    let transcript = last["file_path"].as_str().unwrap();
    assert!(transcript.ends_with("/transcript.log"), "{transcript}");
    let lines = &last["file_lines"];
    let named = json!({ "file_path": transcript, "mode": "range", "start_line": lines["first"], "end_line": lines["last"] });
    assert_eq!(client.call("inspect_output", named).unwrap()["data"]["content"], "error: it broke");
    let others: Vec<&str> = last["terminals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["terminal_id"].as_str().unwrap())
        .collect();
    assert_eq!(others, [format!("{task}/item_2"), format!("{task}/item_1")]);
    assert_eq!(look(&mut client, json!({ "terminal_id": task }))["terminal_id"], last["terminal_id"]);

    let long = format!("{task}/item_1");
    let tail = look(&mut client, json!({ "terminal_id": long, "lines": 3 }));
    assert_eq!(
        (&tail["content"], &tail["start_line"], &tail["end_line"], &tail["total_lines"]),
        (&json!("8998\n8999\n9000\n"), &json!(8998), &json!(9000), &json!(9000))
    );
    assert_eq!(tail["next"], "end of the output");
    let head = look(&mut client, json!({ "terminal_id": long, "mode": "head", "lines": 2 }));
    assert_eq!((&head["content"], &head["truncated"]), (&json!("1\n2\n"), &json!(false)));
    assert_eq!(head["next"], "there is more: call again with cursor `b4`");
    let (mut whole, mut ask) = (String::new(), json!({ "terminal_id": long, "mode": "all" }));
    loop {
        let part = look(&mut client, ask);
        whole.push_str(part["content"].as_str().unwrap());
        if part["truncated"] == false {
            break;
        }
        ask = json!({ "terminal_id": long, "cursor": part["cursor"] });
    }
    assert_eq!(whole, numbers(1..=9000));
    // It is a range of the transcript, which can be inspected.
    let file = tail["file_path"].as_str().unwrap();
    let found = client.call("inspect_output", json!({ "file_path": file, "pattern": "^4242$" })).unwrap();
    let first = tail["file_lines"]["first"].as_u64().unwrap();
    assert_eq!(found["data"]["matches"][0]["line_number"], first + 4241);
    for (moment, content) in
        [("2020-01-01T00:00:00Z", numbers(1..=9000)), ("2100-01-01T00:00:00Z", String::new())]
    {
        let since = look(&mut client, json!({ "terminal_id": long, "since_timestamp": moment }));
        assert_eq!(since["mode"], "since");
        assert!(content.starts_with(since["content"].as_str().unwrap()), "{since:#}");
        assert_eq!(since["content"] == "", content.is_empty(), "{since:#}");
    }
    let red = json!({ "terminal_id": format!("{task}/item_2") });
    assert_eq!(look(&mut client, red)["content"], "red\n");
    let raw = json!({ "terminal_id": format!("{task}/item_2"), "strip": false });
    assert_eq!(look(&mut client, raw)["content"], "\u{1b}[31mred\u{1b}[0m\r\n");

    let result = client.result("tools/call", json!({ "name": "get_terminal_output", "arguments": {} }));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("status: ended (exit 2)\n") && text.contains("\n```\nerror: it broke\n```\n"),
        "{text}"
    );
    assert!(
        text.contains("output (as the agent's command printed it):\n") && text.contains("other commands:\n")
    );
    for (wrong, said) in [
        (format!("{task}/item_9"), "has run no command `item_9`"),
        ("nobody/item_1".to_owned(), "no recorded terminal"),
        (format!("{task}/../item_1"), "has run no command"),
    ] {
        let told = client.call("get_terminal_output", json!({ "terminal_id": wrong })).unwrap_err();
        assert!(told.contains(said) && told.contains("NOT_FOUND") && told.contains("hint: "), "{told}");
    }
}

#[test]
fn the_shell_reads_the_same() {
    let env = TestEnv::new();
    let task = ran(&env);
    let read = |args: &[&str]| env.expect(0, &[&["terminal", "read"], args].concat()).stdout;
    let (first, second) = (format!("{task}/item_1"), format!("{task}/item_2"));
    assert_eq!(read(&[]), "error: it broke\n");
    assert_eq!(read(&[&task]), "error: it broke\n");
    assert_eq!(read(&[&first, "--tail", "2"]), "8999\n9000\n");
    assert_eq!(read(&[&first, "--head", "1"]), "1\n");
    assert_eq!(read(&[&first, "--all"]), numbers(1..=9000));
    assert_eq!(read(&[&first, "--since", "1h"]), numbers(1..=9000));
    assert_eq!(read(&[&second]), "red\n");
    assert_eq!(read(&[&second, "--raw"]), "\u{1b}[31mred\u{1b}[0m\r\n");
    let document = env.json(&["terminal", "read", &first, "--head", "1", "--json"]);
    assert_eq!(document["data"]["next"], "there is more: call again with cursor `b2`");
    let listed = env.json(&["terminal", "list", &task, "--json"]);
    let rows = listed["data"]["terminals"].as_array().unwrap();
    let told: Vec<(&str, &str, i64)> = rows
        .iter()
        .map(|row| {
            let text = |name: &str| row[name].as_str().unwrap();
            (
                text("terminal_id").rsplit('/').next().unwrap(),
                text("command"),
                row["exit_status"].as_i64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [("item_3", "make test", 2), ("item_2", "ls --color", 0), ("item_1", "bash -lc 'seq 1 9000'", 0)]
    );
    let text = env.expect(0, &["terminal", "list", &task]).stdout;
    assert!(text.contains("ended (exit 2)") && text.contains("make test"), "{text}");
    let ran = env.expect(3, &["terminal", "read", &format!("{task}/item_9")]);
    assert!(ran.stderr.contains("item_3, item_2, item_1"), "{ran:?}");
    // A recorded terminal comes first where nothing is named.
    env.expect(0, &["terminal", "--name", "mine", "--", "echo", "mine"]);
    assert_eq!(read(&[]), "mine\n");
}

#[test]
fn a_run_that_is_one_command_is_read_while_it_goes_on() {
    let env = TestEnv::new();
    let script = "echo begun; until [ -e go ]; do sleep 0.02; done; echo over";
    let task = env.submit(script).task_id;
    let mut client = client(&env);
    let id = format!("{task}/command");
    let begun = wait_for("its first line", PATIENCE, || {
        // Before it has begun there is nothing to read.
        let reply = client.call("get_terminal_output", json!({})).ok()?;
        Some(reply["data"].clone()).filter(|data| data["content"] == "begun\n")
    });
    assert_eq!(
        (&begun["terminal_id"], &begun["state"], &begun["live"], &begun["command"]),
        (&json!(id), &json!("live"), &json!(true), &json!(script))
    );
    assert_eq!(begun["next"], "still live: call again with cursor `b6` for newer output");
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&task);
    let over = look(&mut client, json!({ "terminal_id": id, "cursor": begun["cursor"] }));
    assert_eq!(
        (&over["content"], &over["state"], &over["exit_status"], &over["next"]),
        (&json!("over\n"), &json!("ended"), &json!(0), &json!("end of the output"))
    );
    assert_eq!(env.expect(0, &["terminal", "read", &task]).stdout, "begun\nover\n");
}

#[test]
fn a_run_that_is_one_command_is_read_with_both_streams_in_order() {
    let env = TestEnv::new();
    let task = env.submit("echo start; sleep 0.1; echo error: no >&2; sleep 0.1; echo end").task_id;
    env.await_final(&task);
    let mut client = client(&env);
    let read = look(&mut client, json!({ "terminal_id": task }));
    assert_eq!(
        (&read["terminal_id"], &read["content"]),
        (&json!(format!("{task}/command")), &json!("start\nerror: no\nend\n"))
    );
    assert_eq!(read["next"], "end of the output");
    let found = client.call("inspect_output", json!({ "task_id": task, "pattern": "error" })).unwrap();
    assert_eq!((&found["data"]["match_count"], found["data"].get("warning")), (&json!(1), None));
    assert!(found["data"]["file_path"].as_str().unwrap().ends_with("/transcript.log"), "{found:#}");
    let named = json!({ "task_id": task, "artifact": "stdout.log", "pattern": "error" });
    assert_eq!(client.call("inspect_output", named).unwrap()["data"]["match_count"], 0);
    assert_eq!(env.expect(0, &["logs", &task]).stdout, "start\nerror: no\nend\n");
}

#[test]
fn what_a_run_that_is_one_command_printed_since_a_moment_is_found() {
    let env = TestEnv::new();
    // Two entries of the index are at least a fifth of a second apart.
    let script = "echo early; sleep 0.5; date -u +%FT%T.%3NZ > moment; sleep 0.5; echo late; \
                  until [ -e go ]; do sleep 0.02; done";
    let task = env.submit(script).task_id;
    let mut client = client(&env);
    wait_for("both lines", PATIENCE, || {
        let data = client.call("get_terminal_output", json!({ "terminal_id": task })).ok()?;
        (data["data"]["content"] == "early\nlate\n").then_some(())
    });
    let moment = fs::read_to_string(env.work().join("moment")).unwrap();
    let mut check = |moment: &str, expected: &str| {
        let since = json!({ "terminal_id": task, "mode": "since", "since_timestamp": moment });
        assert_eq!(look(&mut client, since)["content"], expected, "{moment}");
        assert_eq!(env.expect(0, &["terminal", "read", &task, "--since", moment]).stdout, expected);
    };
    check(moment.trim(), "late\n");
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&task);
    check(moment.trim(), "late\n");
    check("2026-01-01T00:00:00Z", "early\nlate\n");
    check("2100-01-01T00:00:00Z", "");
}

#[test]
fn what_an_agent_ran_since_a_moment_is_told_from_what_it_ran_before() {
    let env = TestEnv::new();
    let said = [
        (0, ended("item_1", "make a", "early\n", 0)),
        (1000, begun("item_2", "make b")),
        (2000, ended("item_2", "make b", "late\n", 0)),
    ];
    let lines = said.iter().map(|(at, line)| json!({ "at_ms": at, "out": line.to_string() }));
    let recording: String =
        lines.chain([json!({ "at_ms": 2000, "exit": 0 })]).map(|line| format!("{line}\n")).collect();
    let file = env.side().join("said.jsonl");
    fs::write(&file, recording).unwrap();
    let task = env.expect(0, &["run", "--agent", "replay", file.to_str().unwrap()]).stdout.trim().to_owned();
    env.await_final(&task);
    let mut client = client(&env);
    let mut look = |item: &str, more: Value| {
        let mut asked = json!({ "terminal_id": format!("{task}/{item}") });
        asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        look(&mut client, asked)
    };
    let between = look("item_2", json!({}))["started_at"].clone();
    let since = json!({ "mode": "since", "since_timestamp": between });
    assert_eq!(look("item_1", since.clone())["content"], "");
    assert_eq!(look("item_2", since)["content"], "late\n");
    let early = look("item_1", json!({}))["last_activity"].as_str().unwrap().to_owned();
    assert!(early.as_str() < between.as_str().unwrap(), "{early} {between}");
}

#[test]
fn a_command_that_runs_is_told_without_output_and_lost_with_its_run() {
    let env = TestEnv::new();
    let lines = [begun("item_0", "sleep 1000")];
    let recording: String =
        lines.iter().map(|line| format!("{}\n", json!({ "at_ms": 0, "out": line.to_string() }))).collect();
    let file = env.side().join("said.jsonl");
    fs::write(&file, recording + &format!("{}\n", json!({ "at_ms": 3_600_000, "exit": 0 }))).unwrap();
    let task = env.expect(0, &["run", "--agent", "replay", file.to_str().unwrap()]).stdout.trim().to_owned();
    let mut client = client(&env);
    let live = wait_for("the command", PATIENCE, || client.call("get_terminal_output", json!({})).ok());
    let live = &live["data"];
    assert_eq!((&live["state"], &live["content"]), (&json!("live"), &json!("")));
    assert_eq!(live["next"], "still running: the agent reports its output when it has ended");
    env.expect(0, &["cancel", &task]);
    env.await_final(&task);
    let lost = look(&mut client, json!({ "terminal_id": task }));
    assert_eq!((&lost["state"], &lost["next"]), (&json!("lost"), &json!("end of the output")));
}

#[test]
fn the_end_of_an_output_beyond_its_limit_is_read_while_it_grows() {
    let env = TestEnv::new();
    env.configure("max_stream_bytes = 1048576");
    let task =
        env.submit("seq 1 400000; touch printed; until [ -e go ]; do sleep 0.02; done; echo over").task_id;
    wait_for("the numbers", PATIENCE, || env.work().join("printed").exists().then_some(()));
    let mut client = client(&env);
    let tail = wait_for("the last of them", PATIENCE, || {
        let data = look(&mut client, json!({ "terminal_id": task, "lines": 2 }));
        (data["content"] == "399999\n400000\n").then_some(data)
    });
    assert!(tail["incomplete"].as_str().unwrap().contains("max_stream_bytes"), "{tail:#}");
    assert_eq!(env.expect(0, &["terminal", "read", &task, "--tail", "1"]).stdout, "400000\n");
    assert_eq!(env.expect(0, &["terminal", "read", &task, "--head", "1"]).stdout, "1\n");
    let logs = env.expect(0, &["logs", &task, "--tail", "1"]);
    assert_eq!((logs.stdout.as_str(), logs.stderr.as_str()), ("400000\n", ""));
    let results = env.expect(4, &["results", &task, "--output"]);
    assert!(results.stdout.contains("\n399999\n400000\n"), "{}", results.stdout);
    fs::write(env.work().join("go"), "").unwrap();
    env.await_final(&task);
    let over = look(&mut client, json!({ "terminal_id": task, "lines": 2 }));
    assert_eq!((&over["content"], over.get("incomplete")), (&json!("400000\nover\n"), None));
}

#[test]
fn secrets_and_other_projects_stay_where_they_are() {
    let env = TestEnv::new();
    // In two halves: this file is no secret.
    let token = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    let task = replayed(&env, &[ended("item_1", "env", &format!("TOKEN={token}\n"), 0)]);
    let mut here = client(&env);
    let shown = look(&mut here, json!({})).to_string();
    assert!(!shown.contains(&token[4..12]) && shown.contains("redacted"), "{shown}");
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let mut command = env.command(&["run", "--agent", "command", "--wait", "echo theirs"]);
    command.current_dir(&elsewhere);
    crate::support::env::finish(command, PATIENCE);
    assert_eq!(look(&mut here, json!({}))["terminal_id"], json!(format!("{task}/item_1")));
}
