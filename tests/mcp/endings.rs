//! However much a run printed, replies have its end, and say truly what of it they left out.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::agreement::Reply;
use crate::client::{Client, Era};
use crate::support::env::TestEnv;

/// Numbered lines of ten characters.
fn numbered(lines: usize) -> String {
    format!("i=0; while [ $i -lt {lines} ]; do printf 'line %04d\\n' $i; i=$((i+1)); done")
}

/// A finished run of an agent that wrote these events, and then its exit status.
pub fn replayed(env: &TestEnv, events: &[Value], exit: i32) -> String {
    let begun = [
        json!({ "type": "thread.started", "thread_id": "01a20000-0000-7000-8000-0000000091c4" }),
        json!({ "type": "turn.started" }),
    ];
    let lines = begun.iter().chain(events).map(|line| json!({ "at_ms": 0, "out": line.to_string() }));
    let recording: String =
        lines.chain([json!({ "at_ms": 0, "exit": exit })]).map(|line| format!("{line}\n")).collect();
    let file = env.side().join("said.jsonl");
    fs::write(&file, recording).unwrap();
    let task = format!("{} --instant", file.display());
    let task = env.expect(0, &["run", "--agent", "replay", &task]).stdout.trim().to_owned();
    env.await_final(&task);
    task
}

fn command(number: usize, command: &str, output: &str, exit: i32) -> Value {
    let status = if exit == 0 { "completed" } else { "failed" };
    json!({ "type": "item.completed", "item": {
        "id": format!("item_{number}"), "type": "command_execution", "command": format!("/bin/bash -lc '{command}'"),
        "aggregated_output": output, "exit_code": exit, "status": status,
    } })
}

fn said(text: &str) -> Value {
    json!({ "type": "item.completed", "item": { "id": "item_said", "type": "agent_message", "text": text } })
}

/// The last line of a text is what can be done next, and every fence is closed.
#[track_caller]
fn ends_well(reply: &Reply) {
    let last = reply.text.lines().last().unwrap();
    assert!(last.starts_with("next: "), "{}", reply.text);
    let fences = reply.text.lines().filter(|line| *line == "```").count();
    assert!(fences % 2 == 0, "{}", reply.text);
}

#[test]
fn what_was_asked_for_has_its_end_and_says_what_is_missing() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    // The second would have fitted, had the reply been as long as was asked for.
    for (lines, most) in [
        (10_000, None),
        (10_000, Some(16_384)),
        (10_000, Some(65_536)),
        (3_400, Some(65_536)),
        (1_800, Some(65_536)),
    ] {
        let task = env.submit(&numbered(lines)).task_id;
        env.await_final(&task);
        for format in ["markdown", "json"] {
            let mut ask =
                json!({ "task_id": task, "include_output": true, "include_events": true, "format": format });
            if let Some(most) = most {
                ask["max_output_bytes"] = most.into();
            }
            let reply = Reply::to(&mut client, "delegate_results", ask);
            let output = &reply.content["data"]["output"];
            let stdout = output["stdout"].as_str().unwrap();
            let last = format!("line {:04}\n", lines - 1);
            assert!(
                stdout.starts_with("line 0000\n") && stdout.ends_with(&last),
                "{lines} {most:?}: {stdout}"
            );
            assert_eq!((&output["truncated"], &output["original_size"]), (&json!(true), &json!(lines * 10)));
            // The mark counts what is not there.
            let (head, rest) = stdout.split_once("… (").unwrap();
            let (left_out, tail) = rest.split_once(" bytes left out)\n").unwrap();
            assert_eq!(left_out.parse::<usize>().unwrap() + head.len() + tail.len(), lines * 10);
            assert!(stdout.len() > 10_000, "{}", stdout.len());
            assert!(
                reply.content.to_string().chars().count() <= 20_000 && reply.text.chars().count() <= 20_000
            );
            if format == "markdown" {
                ends_well(&reply);
                assert!(reply.text.contains(stdout), "{}", reply.text);
            }
        }
    }
}

/// Half a letter that was encoded twice is the same to a computer as the beginning of a terminal's title.
#[test]
fn no_character_hides_what_comes_after_it() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    for odd in [
        r"Stra\303\203\302\237e",
        r"\303\220\302\237",
        r"\303\203\302\230resund",
        r"\033]0;building",
        r"\033P",
    ] {
        let task = env.submit(&format!("printf 'begin {odd}\nerror: the reason\nTHE END\n'; exit 1")).task_id;
        env.await_final(&task);
        for (tool, asked) in [
            ("delegate_wait", json!({ "task_id": task })),
            ("delegate_results", json!({ "task_id": task, "include_output": true })),
        ] {
            let reply = Reply::to(&mut client, tool, asked);
            let stdout = &reply.content["data"]["output"]["stdout"];
            let stdout = stdout.as_str().unwrap_or_else(|| panic!("{tool}: {}", reply.content));
            assert!(
                stdout.starts_with("begin ") && stdout.ends_with("error: the reason\nTHE END\n"),
                "{stdout}"
            );
            assert!(reply.text.contains("error: the reason"), "{}", reply.text);
        }
    }
    let task = replayed(&env, &[said("Done in Stra\u{c3}\u{9f}e.\n\nBut the tests fail.")], 0);
    let reply = Reply::to(&mut client, "delegate_results", json!({ "task_id": task }));
    assert!(reply.text.contains("But the tests fail."), "{}", reply.text);
}

/// What follows a private key that nothing ended is not part of it, and no line of it is shown.
#[test]
fn a_private_key_that_was_cut_hides_itself_alone() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let key = "kQz7TsW1fJdLr4YmkQz7TsW1fJdLr4YmkQz7TsW1fJdLr4YmkQz7TsW1fJdLr4Ym";
    for (begins, after, summary) in [
        ("BEGIN RSA", "error: the reason\n", "exit 1: error: the reason"),
        ("\u{1b}[01;31mBEGIN\u{1b}[m RSA", "", "exit 1: [redacted:private-key]"),
    ] {
        let printed = format!("a\n-----{begins} PRIVATE KEY-----\n{key}\n{key}\n{after}");
        fs::write(env.work().join("printed"), printed).unwrap();
        let task = env.submit("cat printed; exit 1").task_id;
        env.await_final(&task);
        for (tool, asked) in [
            ("delegate_wait", json!({ "task_id": task })),
            ("delegate_results", json!({ "task_id": task, "include_output": true })),
            ("delegate_status", json!({ "task_id": task, "verbose": true })),
            ("delegate_status", json!({ "verbose": true })),
        ] {
            let reply = Reply::to(&mut client, tool, asked);
            let all = format!("{}{}", reply.text, reply.content);
            assert!(!all.contains("kQz7"), "{tool}: {all}");
            assert!(all.contains(summary), "{tool}: {all}");
        }
    }
}

/// Many names of files do not take the place of the reason.
#[test]
fn a_failed_run_tells_its_last_words_however_many_files_it_made() {
    let env = TestEnv::new();
    let made = Command::new("git").args(["init", "-q"]).current_dir(env.work()).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut client = Client::new(&env, Era::Session);
    let print = "i=0; while [ $i -lt 150 ]; do echo $i > a-file-with-a-name-of-some-length-$i; i=$((i+1)); done; \
                 i=0; while [ $i -lt 60 ]; do echo \"out line $i: something\"; echo \"err line $i: something\" >&2; i=$((i+1)); done; \
                 echo 'FATAL: the real reason' >&2; exit 2";
    let task = env.submit(print).task_id;
    env.await_final(&task);
    for tool in ["delegate_wait", "delegate_results"] {
        let reply = Reply::to(&mut client, tool, json!({ "task_id": task }));
        let (output, files) =
            (&reply.content["data"]["output"], &reply.content["data"]["metadata"]["file_operations"]);
        assert!(output["stderr"].as_str().unwrap().ends_with("\nFATAL: the real reason\n"), "{output:#}");
        assert!(output["stdout"].as_str().unwrap().ends_with("\nout line 59: something\n"), "{output:#}");
        let named = files["added_files"].as_array().unwrap().len() as u64;
        assert!((5..150).contains(&named), "{files:#}");
        assert_eq!(files["files_changed"], 150);
        assert_eq!(named + files["left_out"].as_u64().unwrap(), 150, "{files:#}");
        ends_well(&reply);
        assert!(reply.content.to_string().chars().count() <= 8_000);
    }
}

#[test]
fn a_run_that_took_too_long_tells_its_last_words() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let print = format!("{}; echo LAST WORDS; sleep 600", numbered(400));
    let task = env.submit_with(&["--hard", "1"], &print).task_id;
    env.await_final(&task);
    let asked = json!({ "task_id": task, "include_output": true, "max_output_bytes": 65_536 });
    for (tool, ask) in [("delegate_wait", json!({ "task_id": task })), ("delegate_results", asked)] {
        let reply = Reply::to(&mut client, tool, ask).has(&["status: timeout"]);
        let data = &reply.content["data"];
        let last = &data["metadata"]["error_context"]["partial_results"]["last_output"];
        for words in [&data["output"]["stdout"], last] {
            assert!(words.as_str().unwrap().ends_with("LAST WORDS\n"), "{data:#}");
        }
        ends_well(&reply);
    }
}

#[test]
fn the_last_events_are_the_last() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let file =
        |number: usize| json!({ "path": format!("src/{number}.rs"), "description": "words ".repeat(50) });
    let answer = json!({
        "summary": "done", "deliverables": (0..40).map(file).collect::<Vec<_>>(), "open_questions": [], "next_actions": [],
    });
    let mut events: Vec<Value> =
        (0..200).map(|number| command(number, "make", &"some output ".repeat(40), 0)).collect();
    events.push(said(&answer.to_string()));
    events.push(json!({ "type": "turn.completed", "usage": { "input_tokens": 1, "output_tokens": 1 } }));
    let task = replayed(&env, &events, 0);
    let reply =
        Reply::to(&mut client, "delegate_results", json!({ "task_id": task, "include_events": true }));
    let items = reply.content["data"]["events"]["items"].as_array().unwrap();
    assert!((5..50).contains(&items.len()), "{}", items.len());
    assert_eq!(items.last().unwrap()["type"], "turn.completed");
    assert_eq!(items[items.len() - 3]["item"]["id"], "item_199");
    assert_eq!(reply.content["data"]["events"]["count"], 204);
    ends_well(&reply);
}

/// Why the work failed is often said by a command, and by nobody else.
#[test]
fn the_words_of_the_last_failing_command_are_in_every_reply() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let token = format!("ghp_{}", "R4nd0mXyZ123".repeat(3));
    let long: String = (0..250).map(|number| format!("upload {number}\n")).collect();
    let words = format!("{long}quota of bucket alpha is used up, ask ops\nwith {token}\n");
    let events = [
        command(0, "make", "an older reason\n", 2),
        command(1, &format!("./deploy.sh staging --token={token}"), &words, 3),
        command(2, "ls", "nothing of interest\n", 0),
        json!({ "type": "turn.failed", "error": { "message": "boom" } }),
    ];
    let task = replayed(&env, &events, 1);
    for (tool, ask) in [
        ("delegate_wait", json!({ "task_id": task })),
        ("delegate_results", json!({ "task_id": task })),
        ("delegate_results", json!({ "task_id": task, "include_output": true })),
    ] {
        let reply = Reply::to(&mut client, tool, ask).has(&["status: failed"]);
        let output = &reply.content["data"]["output"];
        let stdout = output["stdout"].as_str().unwrap();
        let (account, last) = stdout.split_once("last failed command, exit 3: ./deploy.sh staging").unwrap();
        assert!(account.contains("failed: boom\n"), "{account}");
        assert!(
            last.contains("\nupload 249\nquota of bucket alpha is used up, ask ops\nwith [redacted"),
            "{last}"
        );
        assert!((1_900..2_100).contains(&last.len()) && !last.contains("\nupload 3\n"), "{last}");
        assert_eq!(output["truncated"], true);
        assert!(!stdout.contains("R4nd0m"), "{stdout}");
        assert!(reply.text.contains("quota of bucket alpha"), "{}", reply.text);
        ends_well(&reply);
    }
    // A run that came to a good end says nothing of what failed on its way.
    let ended = json!({ "type": "turn.completed", "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let task = replayed(&env, &[command(0, "make", "an older reason\n", 2), said("done"), ended], 0);
    let reply =
        Reply::to(&mut client, "delegate_results", json!({ "task_id": task, "include_output": true }));
    assert!(!reply.text.contains("last failed command"), "{}", reply.text);
}

/// The numbers of all marks, and what stands beside them.
#[track_caller]
fn taken_apart(stdout: &str) -> (u64, String) {
    let (mut missing, mut shown) = (0, String::new());
    let mut parts = stdout.split("… (");
    shown += parts.next().unwrap();
    for part in parts {
        let (number, rest) = part.split_once(" bytes left out)\n").unwrap_or_else(|| panic!("{stdout}"));
        missing += number.parse::<u64>().unwrap_or_else(|_| panic!("{stdout}"));
        shown += rest;
    }
    (missing, shown)
}

/// The account is cut, and so are the words of the command: each says how much
/// of it is missing, and whose words the last ones are stays to be seen.
#[test]
fn what_is_missing_twice_is_counted_twice() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let step = |number| command(number, &format!("step {number} {}", "w".repeat(150)), "fine\n", 0);
    let mut events: Vec<Value> = (0..400).map(step).collect();
    let words: String = (0..2_000).map(|number| format!("build {number}\n")).collect();
    events.push(command(400, "make all", &words, 2));
    events.push(json!({ "type": "turn.failed", "error": { "message": "boom ".repeat(400) } }));
    let task = replayed(&env, &events, 1);
    for most in [6_000, 65_536] {
        let ask = json!({ "task_id": task, "include_output": true, "include_events": true, "max_output_bytes": most });
        let reply = Reply::to(&mut client, "delegate_results", ask);
        let output = &reply.content["data"]["output"];
        let stdout = output["stdout"].as_str().unwrap();
        let heading = "last failed command, exit 2: make all\n";
        assert!(stdout.contains(heading) && stdout.ends_with("\nbuild 1999\n"), "{most}: {stdout}");
        let (missing, shown) = taken_apart(stdout);
        let shown = shown.replacen(heading, "", 1);
        assert_eq!(
            missing + shown.len() as u64,
            output["original_size"].as_u64().unwrap(),
            "{most}: {stdout}"
        );
        assert!(reply.text.contains(stdout), "{}", reply.text);
        ends_well(&reply);
    }
}

/// A run may print what looks like a mark of ours.
#[test]
fn a_mark_that_the_run_printed_counts_for_nothing() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    for number in ["5", "18446744073709551615"] {
        let print = format!("echo '… ({number} bytes left out)'; echo FIRST LINE; {}", numbered(6_000));
        let task = env.submit(&print).task_id;
        env.await_final(&task);
        for most in [16_384, 65_536] {
            let ask = json!({ "task_id": task, "include_output": true, "max_output_bytes": most });
            let reply = Reply::to(&mut client, "delegate_results", ask);
            let output = &reply.content["data"]["output"];
            let stdout = output["stdout"].as_str().unwrap();
            let first = format!("... ({number} bytes left out)\nFIRST LINE\nline 0000\n");
            assert!(stdout.starts_with(&first) && stdout.ends_with("\nline 5999\n"), "{most}: {stdout}");
            let (missing, shown) = taken_apart(stdout);
            assert_eq!(missing + shown.len() as u64, output["original_size"].as_u64().unwrap());
        }
    }
}
