//! `inspect_output`: every part of what a run left can be read, piece by piece,
//! over the protocol and at the shell.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{TestEnv, wait_for};

/// A finished run that printed `command`'s output.
fn ran(env: &TestEnv, command: &str) -> String {
    let task = env.submit(command).task_id;
    env.await_final(&task);
    task
}

#[track_caller]
fn look(client: &mut Client, ask: Value) -> Value {
    let reply = client.call("inspect_output", ask.clone());
    reply.unwrap_or_else(|error| panic!("{ask}: {error}"))["data"].clone()
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| number.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn head_tail_and_range_give_lines_and_where_they_are() {
    let env = TestEnv::new();
    let task = ran(&env, "seq 1 2000");
    let mut client = Client::new(&env, Era::Session);
    for (ask, shown, start, end) in [
        (json!({}), numbers(1..=50), 1, 50),
        (json!({ "mode": "head", "lines": 10 }), numbers(1..=10), 1, 10),
        (json!({ "mode": "tail", "lines": 20 }), numbers(1981..=2000), 1981, 2000),
        (json!({ "start_line": 100, "end_line": 120 }), numbers(100..=120), 100, 120),
        (json!({ "mode": "range", "start_line": 1999, "end_line": 5000 }), numbers(1999..=2000), 1999, 2000),
    ] {
        let mut asked = ask.clone();
        asked["task_id"] = json!(task);
        asked["artifact"] = json!("stdout.log");
        let data = look(&mut client, asked);
        assert_eq!(
            (&data["content"], &data["start_line"], &data["end_line"]),
            (&json!(shown), &json!(start), &json!(end)),
            "{ask}"
        );
        assert_eq!((&data["total_lines"], &data["matches"]), (&json!(2000), &Value::Null), "{ask}");
        assert_eq!(data["total_bytes"], json!(numbers(1..=2000).len() + 1), "{ask}");
    }
    for (args, shown) in [
        (["--head", "10"], numbers(1..=10)),
        (["--tail", "20"], numbers(1981..=2000)),
        (["--range", "100:120"], numbers(100..=120)),
    ] {
        let printed = env.expect(0, &[&["inspect", &task], &args[..]].concat());
        assert_eq!(printed.stdout.trim_end(), shown, "{args:?}");
    }
}

#[test]
fn grep_gives_blocks_with_what_is_around_them() {
    let env = TestEnv::new();
    let task = ran(&env, "seq 1 300 | sed 's/^42$/42 Error: no such thing/'");
    let mut client = Client::new(&env, Era::Session);
    let data = look(&mut client, json!({ "task_id": task, "pattern": "ERROR:", "context_lines": 2 }));
    assert_eq!((&data["mode"], &data["match_count"]), (&json!("grep"), &json!(1)));
    assert_eq!(
        data["matches"],
        json!([{
            "line_number": 42, "match": "42 Error: no such thing", "context_before": ["40", "41"], "context_after": ["43", "44"],
        }])
    );
    let sensitive =
        look(&mut client, json!({ "task_id": task, "pattern": "ERROR:", "case_sensitive": true }));
    assert_eq!((&sensitive["match_count"], &sensitive["matches"]), (&json!(0), &json!([])));
    let few =
        look(&mut client, json!({ "task_id": task, "pattern": "^1", "max_matches": 5, "context_lines": 0 }));
    assert_eq!(few["match_count"], 5);
    let next = few["next_cursor"].as_str().unwrap();
    let more = look(
        &mut client,
        json!({ "task_id": task, "pattern": "^1", "max_matches": 5, "context_lines": 0, "cursor": next }),
    );
    let lines = |data: &Value| -> Vec<u64> {
        data["matches"].as_array().unwrap().iter().map(|one| one["line_number"].as_u64().unwrap()).collect()
    };
    assert_eq!((lines(&few), lines(&more)), (vec![1, 10, 11, 12, 13], vec![14, 15, 16, 17, 18]));
    let printed = env.expect(0, &["inspect", &task, "--grep", "error", "-C", "1"]);
    assert_eq!(printed.stdout, "41-41\n42:42 Error: no such thing\n43-43\n");
}

#[test]
fn a_cursor_goes_on_to_the_very_end() {
    let env = TestEnv::new();
    // Quotes and short lines are what grows most in JSON.
    let task = ran(&env, r#"seq 1 9000 | sed 's/.*/"&"/'"#);
    let mut client = Client::new(&env, Era::Session);
    let (mut whole, mut cursor, mut replies) = (String::new(), None::<String>, 0);
    loop {
        let mut ask = json!({ "name": "inspect_output", "arguments": { "task_id": task, "mode": "range", "start_line": 1, "end_line": 9000 } });
        if let Some(cursor) = &cursor {
            ask["arguments"]["cursor"] = json!(cursor);
        }
        let reply = client.result("tools/call", ask);
        assert!(reply["structuredContent"].to_string().chars().count() <= 20_000);
        assert!(reply["content"][0]["text"].as_str().unwrap().chars().count() <= 20_000);
        let data = &reply["structuredContent"]["data"];
        whole.push_str(data["content"].as_str().unwrap());
        whole.push('\n');
        replies += 1;
        match data["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let expected: String = (1..=9000).map(|number| format!("\"{number}\"\n")).collect();
    assert_eq!(whole, expected);
    assert!(replies > 3, "{replies}");
}

#[test]
fn one_endless_line_is_read_in_pieces() {
    let env = TestEnv::new();
    let task = ran(&env, "head -c 100000 /dev/zero | tr '\\0' 'x'; printf END");
    let mut client = Client::new(&env, Era::Session);
    let (mut whole, mut cursor) = (String::new(), None::<String>);
    loop {
        let mut ask = json!({ "task_id": task });
        if let Some(cursor) = &cursor {
            ask["cursor"] = json!(cursor);
        }
        let data = look(&mut client, ask);
        whole.push_str(data["content"].as_str().unwrap().trim_matches('…'));
        match data["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(whole, format!("{}END", "x".repeat(100_000)));
}

#[test]
fn a_capture_is_inspected_by_the_path_that_the_reply_named() {
    let env = TestEnv::new();
    let task = ran(&env, "true");
    let mut client = Client::new(&env, Era::Session);
    let name = format!("tool-delegate_results-{}.txt", "0a".repeat(16));
    let captures = env.home().join("captures");
    fs::create_dir(&captures).unwrap();
    fs::write(captures.join(&name), "one\ntwo\nthree\n").unwrap();
    let path = captures.join(&name).display().to_string();
    for given in [path.clone(), format!("captures/{name}")] {
        let data = look(&mut client, json!({ "file_path": given, "mode": "tail", "lines": 1 }));
        assert_eq!(
            (&data["content"], &data["start_line"], &data["file_path"]),
            (&json!("three"), &json!(3), &json!(path))
        );
    }
    assert_eq!(env.expect(0, &["inspect", "--file", &path, "--head", "1"]).stdout, "one\n");
    drop(task);
}

#[test]
fn what_cannot_be_inspected_is_refused_with_what_can() {
    let env = TestEnv::new();
    let task = ran(&env, "echo one");
    let mut client = Client::new(&env, Era::Session);
    let gone = env.home().join(format!("captures/tool-x-{}.txt", "0".repeat(32))).display().to_string();
    for (ask, said) in [
        (json!({}), "`task_id` is missing"),
        (json!({ "task_id": task, "file_path": "x" }), "`file_path` cannot be combined"),
        (json!({ "task_id": task, "artifact": "env.json" }), "it has result.json, "),
        (json!({ "task_id": task, "artifact": "events.jsonl" }), "has no artifact `events.jsonl`"),
        (json!({ "task_id": "T-local-nobody" }), "no task `T-local-nobody`"),
        (json!({ "file_path": "/etc/passwd" }), "outside delegator's home directory"),
        (json!({ "file_path": gone }), "output file not found"),
        (json!({ "task_id": task, "mode": "grep" }), "`pattern` is missing"),
        (json!({ "task_id": task, "pattern": "(" }), "invalid pattern"),
        (json!({ "task_id": task, "cursor": "nonsense" }), "invalid cursor `nonsense`"),
        (json!({ "task_id": task, "start_line": 5, "end_line": 2 }), "`end_line` is before `start_line`"),
        (json!({ "task_id": task, "lines": 0 }), "outside 1 to 10000"),
        (json!({ "task_id": task, "mode": "taill" }), "did you mean `tail`?"),
    ] {
        let error = client.call("inspect_output", ask.clone()).unwrap_err();
        assert!(error.contains(said) && error.contains("\nhint: "), "{ask}: {error}");
    }
    for (args, code, said) in [
        (vec!["inspect", "--file", "/etc/passwd"], 2, "is outside delegator's home"),
        (vec!["inspect", "--file", &gone], 3, "output file not found"),
        (vec!["inspect", &task, "events.jsonl"], 3, "has no artifact"),
        (vec!["inspect", &task, "--grep", "("], 2, "invalid pattern"),
        (vec!["inspect", &task, "--range", "5:2"], 2, "the end is before the start"),
        (vec!["inspect", &task, "--range", "5:"], 2, "for example `--range 100:150`"),
        (vec!["inspect", &task, "--range", "-5:-1"], 2, "invalid value `-5:-1` for `--range`"),
        (vec!["inspect", &task, "--head", "-1"], 2, "invalid value `-1` for `--head`"),
        (vec!["inspect", &task, "--grep", "x", "-m", "-1"], 2, "invalid value `-1` for `--max`"),
        (vec!["inspect", &task, "--tail", "5", "-m", "2"], 2, "does not apply to mode `tail`"),
        (vec!["inspect"], 2, ""),
    ] {
        let told = env.expect(code, &args);
        assert!(told.stderr.contains(said), "{args:?}: {}", told.stderr);
    }
}

#[test]
fn a_run_that_goes_on_can_be_looked_into() {
    let env = TestEnv::new();
    let task = env.submit("seq 1 100; sleep 300").task_id;
    let mut client = Client::new(&env, Era::Session);
    let data = loop {
        let looked = client.call("inspect_output", json!({ "task_id": task, "mode": "tail", "lines": 3 }));
        if let Ok(reply) = looked
            && reply["data"]["total_lines"] == 100
        {
            break reply["data"].clone();
        }
        std::thread::yield_now();
    };
    assert_eq!((&data["content"], &data["report_by"]), (&json!("98\n99\n100"), &json!("agent")));
    client.call("delegate_cancel", json!({ "task_id": task })).unwrap();
}

#[test]
fn the_transcript_is_what_is_inspected_where_no_file_is_named() {
    let env = TestEnv::new();
    let output: String = (1..=500).map(|line| format!("{line}\n")).collect();
    let ended = |id: &str, output: &str| {
        json!({ "type": "item.completed", "item": {
            "id": id, "type": "command_execution", "command": "bash -lc 'make all'",
            "aggregated_output": output, "exit_code": 0, "status": "completed",
        } })
    };
    let task = crate::captures::replayed(&env, &[ended("item_1", &output), ended("../evil", "short")]);
    let mut client = Client::new(&env, Era::Session);
    let data = look(&mut client, json!({ "task_id": task, "mode": "grep", "pattern": "^\\$ make|^\\[exit" }));
    assert_eq!(data["match_count"], 4, "{data:#}");
    let results = client.call("delegate_results", json!({ "task_id": task })).unwrap();
    let listed: Vec<&str> =
        results["data"]["files"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(listed.contains(&"transcript.log"), "{listed:?}");
    assert!(!listed.iter().any(|path| path.contains("item_1") || path.contains("evil")), "{listed:?}");
    let (text, _) = client.read(&format!("delegator://tasks/{task}/transcript.log"));
    assert!(text.contains(&format!("$ make all\n{output}[exit 0]\n$ make all\nshort\n")), "{text}");
}

#[test]
fn a_summary_says_what_a_file_is_as_a_whole() {
    let env = TestEnv::new();
    let task = ran(
        &env,
        "echo '2026-11-15T10:00:00Z start'; for i in 1 2 3; do echo \"2026-11-15T10:00:0${i}Z warning: slow\"; done; \
         echo '2026-11-15T10:00:09Z ERROR it broke'",
    );
    let mut client = Client::new(&env, Era::Session);
    let data = look(&mut client, json!({ "task_id": task, "mode": "summary" }));
    let summary = &data["summary"];
    assert_eq!(
        (&summary["lines"], &summary["error_count"], &summary["warning_count"]),
        (&json!(5), &json!(1), &json!(3))
    );
    assert_eq!(summary["first_timestamp"], "2026-11-15T10:00:00Z");
    assert_eq!(summary["last_timestamp"], "2026-11-15T10:00:09Z");
    assert_eq!((&summary["repeated_lines"][0]["count"], &data["content_type"]), (&json!(3), &json!("log")));
    let printed = env.expect(0, &["inspect", &task, "--summary"]).stdout;
    assert!(printed.contains("lines: 5\n") && printed.contains("error_count: 1\n"), "{printed}");
}

#[test]
fn a_summary_that_is_cut_says_where_the_rest_is() {
    let env = TestEnv::new();
    let long = "x".repeat(400);
    let task = ran(&env, &format!("echo once; echo {long}; echo {long}"));
    let mut client = Client::new(&env, Era::Session);
    let data = look(&mut client, json!({ "task_id": task, "mode": "summary" }));
    let line = &data["summary"]["repeated_lines"][0]["line_number"];
    assert_eq!((&data["truncated"], line), (&json!(true), &json!(2)));
    let whole = look(&mut client, json!({ "task_id": task, "start_line": line, "end_line": line }));
    assert_eq!(whole["content"], json!(long));
    let told = env.expect(0, &["inspect", &task, "--summary"]).stderr;
    assert!(told.contains("read one in full with the range 2 to 2"), "{told}");
}

#[test]
fn carriage_returns_inside_of_a_line_are_shown() {
    let env = TestEnv::new();
    let task = ran(&env, r"printf 'a\r\nprogress 1\rprogress 2\r\nlast'");
    let mut client = Client::new(&env, Era::Session);
    let data = look(&mut client, json!({ "task_id": task }));
    assert_eq!(data["content"], "a\nprogress 1^Mprogress 2\nlast");
    assert_eq!(env.expect(0, &["inspect", &task]).stdout, "a\nprogress 1^Mprogress 2\nlast\n");
}

#[test]
fn a_cancelled_request_ends_the_search() {
    let env = TestEnv::new();
    let task = ran(&env, "echo one");
    let mut client = Client::new(&env, Era::Session);
    let file = PathBuf::from(look(&mut client, json!({ "task_id": task }))["file_path"].as_str().unwrap());
    // Nothing but zeros, which take no room; to read them all would take minutes.
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
    let ask = json!({ "name": "inspect_output", "arguments": { "task_id": task, "pattern": "nothing" } });
    let id = client.begin("tools/call", ask);
    let limit = Duration::from_secs(20);
    wait_for("the search to begin", limit, || (client.open_files(&file) > 0).then_some(()));
    client.notify("notifications/cancelled", json!({ "requestId": id }));
    wait_for("the search to end", limit, || (client.open_files(&file) == 0).then_some(()));
}

#[test]
fn a_json_path_leads_to_the_values_of_every_line() {
    let env = TestEnv::new();
    let ran = env.json(&["run", "--agent", "replay", "--wait", "--json", "fix-test --instant"]);
    let task = ran["task_id"].as_str().unwrap();
    let mut client = Client::new(&env, Era::Session);
    let ask = json!({ "task_id": task, "artifact": "events.jsonl", "json_path": "$.type", "lines": 2 });
    let data = look(&mut client, ask);
    assert_eq!(
        (&data["content"], &data["value_lines"]),
        (&json!("\"thread.started\"\n\"turn.started\""), &json!([1, 2]))
    );
    assert!(data["next_cursor"].is_string());
    let summary =
        look(&mut client, json!({ "task_id": task, "artifact": "events.jsonl", "mode": "summary" }));
    assert!(summary["summary"]["json"]["shape"].as_str().unwrap().contains("type"), "{summary}");
    let printed = env.expect(0, &["inspect", task, "result.json", "--json-path", "$.task_id"]).stdout;
    assert_eq!(printed, format!("\"{task}\"\n"));
    let error = client.call(
        "inspect_output",
        json!({ "task_id": task, "artifact": "result.json", "json_path": "$[?(@.x)]" }),
    );
    assert!(error.unwrap_err().contains("invalid path"));
}

#[test]
fn a_value_longer_than_a_reply_is_whole_by_following_the_cursor() {
    let env = TestEnv::new();
    env.expect(0, &["status"]);
    let captures = env.home().join("captures");
    fs::create_dir(&captures).unwrap();
    let name = format!("tool-delegate_wait-{}.txt", "2c".repeat(16));
    let long = (1..9000).map(|number| format!("{number} \"é\n")).collect::<String>();
    let document = json!({ "a": { "log": long }, "b": 1 });
    fs::write(captures.join(&name), document.to_string()).unwrap();
    let mut client = Client::new(&env, Era::Session);
    let mut ask = json!({ "file_path": format!("captures/{name}"), "json_path": "$.a.log" });
    let (mut whole, mut replies) = (String::new(), 0);
    loop {
        let data = look(&mut client, ask.clone());
        replies += 1;
        let content = data["content"].as_str().unwrap();
        let part = &data["partial_line"];
        let content =
            if part["begins_before"] == true { content.strip_prefix('…').unwrap() } else { content };
        let content = if part["goes_on"] == true { content.strip_suffix('…').unwrap() } else { content };
        whole.push_str(content);
        assert_eq!(data["truncated"], part["goes_on"]);
        if data["next_cursor"].is_null() {
            break;
        }
        ask["cursor"] = data["next_cursor"].clone();
    }
    let expected = json!(long).to_string();
    assert!(replies > 5 && replies < 40 && whole == expected, "{replies}");
}

#[test]
fn a_compressed_capture_reads_the_same_under_either_name() {
    let env = TestEnv::new();
    env.expect(0, &["status"]);
    let captures = env.home().join("captures");
    fs::create_dir(&captures).unwrap();
    let name = format!("tool-delegate_wait-{}.txt", "1b".repeat(16));
    let text: String = (1..=5000).map(|number| format!("line {number}\n")).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    fs::write(captures.join(format!("{name}.gz")), packed.finish().unwrap()).unwrap();
    let mut client = Client::new(&env, Era::Session);
    for given in [name.clone(), format!("{name}.gz")] {
        let file = format!("captures/{given}");
        let tail = look(&mut client, json!({ "file_path": file, "mode": "tail", "lines": 2 }));
        assert_eq!(tail["content"], "line 4999\nline 5000");
        let range = look(&mut client, json!({ "file_path": file, "start_line": 2500, "end_line": 2501 }));
        assert_eq!((&range["content"], &range["start_line"]), (&json!("line 2500\nline 2501"), &json!(2500)));
        let grep =
            look(&mut client, json!({ "file_path": file, "pattern": "^line 4321$", "context_lines": 0 }));
        assert_eq!(grep["matches"][0]["line_number"], 4321);
        let summary = look(&mut client, json!({ "file_path": file, "mode": "summary" }));
        assert_eq!(summary["summary"]["lines"], 5000);
    }
}
