//! `get_terminal_output`: what the person's terminals showed.

use std::fs;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, finish, wait_for};

/// Records a script in a directory of this world.
#[track_caller]
fn record(env: &TestEnv, dir: &str, name: &str, script: &str) -> String {
    let place = env.root().join(dir);
    fs::create_dir_all(&place).unwrap();
    let mut command = env.command(&["terminal", "--name", name, "--", "sh", "-c", script]);
    command.current_dir(place);
    assert_eq!(finish(command, PATIENCE).code, Some(0));
    let listed = env.json(&["terminal", "list", "--json"]);
    let terminals = listed["data"]["terminals"].as_array().unwrap();
    let one = terminals.iter().find(|one| one["name"] == name).unwrap();
    one["terminal_id"].as_str().unwrap().to_owned()
}

fn client(env: &TestEnv) -> Client {
    Client::of(env, &["--tools", "all"], &[])
}

#[track_caller]
fn look(client: &mut Client, arguments: Value) -> Value {
    client.call("get_terminal_output", arguments).unwrap()["data"].clone()
}

#[test]
fn the_active_terminal_is_read_with_all_that_is_known_of_it() {
    let env = TestEnv::new();
    let first = record(&env, "work", "first", "echo first");
    let second = record(&env, "work", "second", "printf '\\033[31mred\\033[0m\\n'; seq 2 150");
    let mut client = client(&env);
    let data = look(&mut client, json!({}));
    assert_eq!(
        (&data["terminal_id"], &data["name"], &data["mode"]),
        (&json!(second), &json!("second"), &json!("tail"))
    );
    let expected: String = (51..=150).map(|number| format!("{number}\n")).collect();
    assert_eq!(data["content"], expected);
    assert_eq!(
        (&data["start_line"], &data["end_line"], &data["total_lines"]),
        (&json!(51), &json!(150), &json!(150))
    );
    assert_eq!(
        (&data["live"], &data["exit_status"], &data["state"]),
        (&json!(false), &json!(0), &json!("ended"))
    );
    let file = env.home().join("terminals").join(&second).join("output.log");
    assert_eq!(data["file_path"], json!(file));
    assert_eq!(data["total_bytes"], json!(fs::metadata(&file).unwrap().len()));
    assert!(data["started_at"].as_str() <= data["last_activity"].as_str(), "{data:#}");
    assert_eq!(data["terminals"].as_array().map(Vec::len), Some(1));
    assert_eq!(data["terminals"][0]["terminal_id"], json!(first));

    let head = |more: Value| {
        let mut arguments = json!({ "mode": "head", "lines": 1 });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    assert_eq!(look(&mut client, head(json!({})))["content"], "red\n");
    assert_eq!(look(&mut client, head(json!({ "strip": false })))["content"], "\u{1b}[31mred\u{1b}[0m\r\n");
    for name in ["first", &first, &first.to_uppercase(), &first[..12]] {
        assert_eq!(look(&mut client, head(json!({ "terminalId": name })))["content"], "first\n");
    }
    let result =
        client.result("tools/call", json!({ "name": "get_terminal_output", "arguments": { "lines": 2 } }));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("status: ended (exit 0)\n") && text.contains("lines: 149-150 of 150\n"), "{text}");
    assert!(text.contains(":\n```\n149\n150\n```\nother terminals:\n") && text.contains(&first), "{text}");
}

#[test]
fn a_long_terminal_comes_in_parts_that_fit_and_a_live_one_goes_on() {
    let env = TestEnv::new();
    record(&env, "work", "long", "seq 1 20000");
    let mut client = client(&env);
    let (mut whole, mut arguments) = (String::new(), json!({ "mode": "all" }));
    loop {
        let envelope = client.call("get_terminal_output", arguments).unwrap();
        assert!(envelope.to_string().chars().count() <= 20_000);
        assert_eq!(envelope["meta"].get("notice"), None, "nothing was cut");
        let data = &envelope["data"];
        whole.push_str(data["content"].as_str().unwrap());
        if data["truncated"] == false {
            break;
        }
        assert!(data["next"].as_str().unwrap().contains(data["cursor"].as_str().unwrap()));
        arguments = json!({ "cursor": data["cursor"] });
    }
    assert_eq!(whole, (1..=20_000).map(|number| format!("{number}\n")).collect::<String>());

    let script =
        "echo begun; until [ -e go ]; do sleep 0.02; done; echo over; until [ -e end ]; do sleep 0.02; done";
    let mut live = env.command(&["terminal", "--name", "live", "--", "sh", "-c", script]);
    live.stdout(std::process::Stdio::null());
    let mut live = live.spawn().unwrap();
    let begun = wait_for("the live one", PATIENCE, || {
        let data = look(&mut client, json!({}));
        (data["name"] == "live" && data["content"] == "begun\n").then_some(data)
    });
    assert_eq!((&begun["live"], begun.get("exit_status")), (&json!(true), None));
    let since = json!({ "mode": "since", "since_timestamp": begun["started_at"] });
    assert_eq!(look(&mut client, since)["content"], "begun\n");
    let ago = json!({ "mode": "since", "since_timestamp": "1h" });
    assert_eq!(look(&mut client, ago)["content"], "begun\n");
    fs::write(env.work().join("go"), "").unwrap();
    wait_for("what comes next", PATIENCE, || {
        let data = look(&mut client, json!({ "terminal_id": "live", "cursor": begun["cursor"] }));
        (data["content"] == "over\n").then_some(())
    });
    let late = json!({ "terminal_id": "live", "since_timestamp": "2100-01-01T00:00:00+02:00" });
    assert_eq!(look(&mut client, late)["content"], "");
    fs::write(env.work().join("end"), "").unwrap();
    assert!(live.wait().unwrap().success());
}

#[test]
fn many_other_terminals_with_long_paths_take_nothing_from_a_part() {
    let env = TestEnv::new();
    // Passwords that are taken out leave more than they were.
    let script =
        "i=0; while [ $i -lt 3000 ]; do echo \"line $i \\\"quoted\\\" pwd=a1b2c3d4\"; i=$((i+1)); done";
    let long = record(&env, "work", "long", script);
    let deep = format!("work/{}", vec!["d".repeat(200); 9].join("/"));
    for number in 0..12 {
        let other = record(&env, "work", &format!("other {number}"), "true");
        let path = env.home().join("terminals").join(other).join("meta.json");
        let mut meta: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        meta["cwd"] = json!(env.root().join(&deep));
        meta["incomplete"] = json!("why ".repeat(1000));
        fs::write(&path, meta.to_string()).unwrap();
    }
    let mut client = client(&env);
    let (mut whole, mut arguments) = (String::new(), json!({ "terminal_id": long, "mode": "all" }));
    loop {
        let envelope = client.call("get_terminal_output", arguments).unwrap();
        assert!(envelope.to_string().chars().count() <= 20_000);
        assert_eq!(envelope["meta"].get("notice"), None, "nothing was cut");
        let data = &envelope["data"];
        whole.push_str(data["content"].as_str().unwrap());
        if data["truncated"] == false {
            break;
        }
        arguments = json!({ "terminal_id": long, "cursor": data["cursor"] });
    }
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 3000);
    for (number, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("line {number} \"quoted\" pwd=")), "{number}: {line}");
    }
}

#[test]
fn a_client_sees_its_own_project_and_what_it_knows_the_id_of() {
    let env = TestEnv::new();
    let other = record(&env, "elsewhere", "theirs", "echo theirs");
    let mut client = client(&env);
    let told = client.call("get_terminal_output", json!({})).unwrap_err();
    assert!(told.contains("no terminal was recorded in") && told.contains("NOT_FOUND"), "{told}");
    assert!(!told.contains(&other), "{told}");
    for name in ["theirs", &other[..10]] {
        let told = client.call("get_terminal_output", json!({ "terminal_id": name })).unwrap_err();
        assert!(told.contains("no recorded terminal"), "{told}");
    }
    let data = look(&mut client, json!({ "terminal_id": other }));
    assert_eq!((&data["content"], data.get("terminals")), (&json!("theirs\n"), None));
    record(&env, "work", "mine", "echo mine");
    let data = look(&mut client, json!({}));
    assert_eq!((&data["name"], data.get("terminals")), (&json!("mine"), None));
    // One that was started elsewhere and stands here now is of this project.
    let script = format!("cd {}; echo moved; until [ -e end ]; do sleep 0.02; done", env.work().display());
    let mut moved = env.command(&["terminal", "--name", "moved", "--", "sh", "-c", &script]);
    moved.current_dir(env.root().join("elsewhere")).stdout(std::process::Stdio::null());
    let mut moved = moved.spawn().unwrap();
    wait_for("the one that moved", PATIENCE, || {
        let data = look(&mut client, json!({}));
        (data["name"] == "moved" && data["cwd"] == json!(env.work())).then_some(())
    });
    fs::write(env.work().join("end"), "").unwrap();
    assert!(moved.wait().unwrap().success());
    assert_eq!(look(&mut client, json!({}))["name"], "mine");
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_else_can_be_read() {
    let env = TestEnv::new();
    let id = record(&env, "work", "mine", "echo mine");
    let mut client = client(&env);
    for (arguments, said) in [
        (json!({ "mode": "since" }), "`since_timestamp` is missing"),
        (json!({ "since_timestamp": "yesterday" }), "`yesterday` is not a time"),
        (
            json!({ "mode": "tail", "since_timestamp": "1s" }),
            "`since_timestamp` has no effect with mode `tail`",
        ),
        (json!({ "cursor": "7" }), "is not a terminal cursor"),
        (json!({ "mode": "middle" }), "`mode` cannot be `middle`"),
        (json!({ "lines": 0 }), "outside 1 to 10000"),
        (json!({ "terminal_id": "../../registry.db" }), "no recorded terminal"),
        (json!({ "terminal_id": format!("{id}/../{id}") }), "no recorded terminal"),
        (json!({ "terminal_id": "\u{1b}[2J" }), "no recorded terminal"),
    ] {
        let told = client.call("get_terminal_output", arguments).unwrap_err();
        assert!(told.contains(said) && told.contains("hint: ") && !told.contains('\u{1b}'), "{told}");
    }
    let output = env.home().join("terminals").join(&id).join("output.log");
    fs::remove_file(&output).unwrap();
    std::os::unix::fs::symlink(env.registry(), &output).unwrap();
    let told = client.call("get_terminal_output", json!({ "terminal_id": id })).unwrap_err();
    assert!(
        told.contains("is not a regular file, or its path contains a symbolic link")
            && told.contains("hint: "),
        "{told}"
    );
    // It is not in the usual profile.
    let call = json!({ "name": "get_terminal_output", "arguments": {} });
    let (_, told) = Client::new(&env, Era::Session).error("tools/call", call);
    assert!(told.contains("--tools all"), "{told}");
}

#[test]
fn a_command_that_waits_is_not_told_to_have_run() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let running = env.submit("sleep 60").task_id;
    let queued = env.submit("echo six").task_id;
    let told = client(&env).call("get_terminal_output", json!({ "terminal_id": queued })).unwrap_err();
    assert!(told.contains("it is queued and has not started"), "{told}");
    assert!(told.contains(&format!("hint: delegate_wait {{\"task_id\": \"{queued}\"}}")), "{told}");
    env.expect(0, &["cancel", &running]);
}

#[test]
fn secrets_stay_in_the_recording() {
    let env = TestEnv::new();
    // In two halves: this file is no secret.
    let token = ["ghp_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].concat();
    record(&env, "work", "secret", &format!("echo {token}; printf '\\033[1m{token}\\033[0m\\n'"));
    let mut client = client(&env);
    for arguments in [json!({}), json!({ "strip": false }), json!({ "mode": "all", "format": "json" })] {
        let result =
            client.result("tools/call", json!({ "name": "get_terminal_output", "arguments": arguments }));
        let result = result.to_string();
        assert!(!result.contains(&token[4..12]) && result.contains("redacted"), "{result}");
    }
}

#[test]
fn a_recording_is_inspected_by_the_path_that_the_reply_named() {
    let env = TestEnv::new();
    record(&env, "work", "build", "seq 1 200; echo 'error: it broke'; seq 201 400");
    let mut client = client(&env);
    let terminal = look(&mut client, json!({ "lines": 3 }));
    let ask =
        json!({ "file_path": terminal["file_path"], "mode": "grep", "pattern": "(error|failed|exception)" });
    let found = client.call("inspect_output", ask).unwrap();
    let block = &found["data"]["matches"][0];
    assert_eq!((&block["line_number"], &block["match"]), (&json!(201), &json!("error: it broke")));
    assert_eq!(block["context_before"], json!(["198", "199", "200"]));
}
