//! No secret of any kind leaves by any way: whatever an agent printed it in,
//! and however a client or a person asks.

use std::fs;

use serde_json::{Value, json};

use crate::generated_secrets::Secret;
use crate::support::agent::install;
use crate::support::env::{PATIENCE, finish, wait_for};
use crate::watched::World;

#[test]
fn nothing_of_what_a_command_printed() {
    let mut world = World::new();
    for place in ["output", "stderr"] {
        fs::write(world.env.side().join(place), world.text(place)).unwrap();
    }
    let [out, err] = ["output", "stderr"].map(|place| world.env.side().join(place).display().to_string());
    // In the command itself as well, on lines of their own that do nothing.
    let quoted: String = world.of("command").iter().map(|one| format!(": '{}'\n", one.text)).collect();
    for end in ["true", "exit 3"] {
        let task = world.env.submit(&format!("cat {out}; cat {err} >&2\n{quoted}{end}")).task_id;
        world.env.await_final(&task);
        world.look_at(&task);
    }
    world.nothing_leaked();
}

/// What an agent that talks as Codex does says, with secrets wherever it may.
fn said(world: &World, ends_well: bool) -> Vec<Value> {
    let item = |step: &str, item: Value| json!({ "type": format!("item.{step}"), "item": item });
    let mut said = vec![
        json!({ "type": "thread.started", "thread_id": "01a20000-0000-7000-8000-0000000091c4" }),
        json!({ "type": "turn.started" }),
    ];
    let steps: Vec<Value> =
        world.of("plan").iter().map(|one| json!({ "text": one.text, "completed": false })).collect();
    said.push(item("started", json!({ "id": "p", "type": "todo_list", "items": steps })));
    for (at, command) in world.of("command").iter().enumerate() {
        let (id, output) = (format!("c{at}"), &world.of("output")[at].text);
        let run = |output: &str, status: &str, code: Value| json!({ "id": id, "type": "command_execution", "command": format!("/bin/bash -lc '\n{}'", command.text), "aggregated_output": output, "exit_code": code, "status": status });
        said.push(item("started", run("", "in_progress", Value::Null)));
        said.push(item("completed", run(output, "failed", json!(1))));
    }
    let changes: Vec<Value> = world
        .of("file")
        .iter()
        .filter(|one| one.kind != "a key without beginning")
        .map(|one| json!({ "path": format!("/home/dev/{}", one.text), "kind": "add" }))
        .collect();
    said.push(item(
        "completed",
        json!({ "id": "f", "type": "file_change", "changes": changes, "status": "completed" }),
    ));
    for (at, one) in world.of("tool").iter().enumerate() {
        let call = json!({ "id": format!("t{at}"), "type": "mcp_tool_call", "server": "s", "tool": one.text, "arguments": { "text": one.text }, "result": null, "error": { "message": one.text }, "status": "failed" });
        said.push(item("completed", call));
    }
    for one in world.of("error") {
        said.push(item("completed", json!({ "id": "e", "type": "error", "message": one.text })));
        said.push(json!({ "type": "error", "message": format!("Reconnecting... 1/5 (\n{})", one.text) }));
    }
    if ends_well {
        let texts: Vec<String> = world.of("message").iter().map(|one| one.text.clone()).collect();
        let steps: Vec<Value> =
            texts.iter().map(|text| json!({ "type": "fix", "content": text, "path": text })).collect();
        let answer = json!({ "summary": world.text("message"), "deliverables": steps, "open_questions": texts, "next_actions": texts, "status": "completed" });
        said.push(item(
            "completed",
            json!({ "id": "m", "type": "agent_message", "text": answer.to_string() }),
        ));
        said.push(json!({ "type": "turn.completed", "usage": { "input_tokens": 1, "output_tokens": 1 } }));
    } else {
        said.push(item(
            "completed",
            json!({ "id": "m", "type": "agent_message", "text": world.text("message") }),
        ));
        said.push(json!({ "type": "turn.failed", "error": { "message": world.text("error") } }));
    }
    said
}

fn recording(world: &World, ends_well: bool) -> String {
    let said = said(world, ends_well);
    let out = said.iter().map(|line| json!({ "at_ms": 0, "out": line.to_string() }));
    let err = world.of("stderr").iter().map(|one| json!({ "at_ms": 0, "err": one.text }));
    let end = json!({ "at_ms": 0, "exit": i32::from(!ends_well) });
    out.chain(err).chain([end]).map(|line| format!("{line}\n")).collect()
}

#[test]
fn nothing_of_what_an_agent_said() {
    let mut world = World::new();
    for ends_well in [true, false] {
        let file = world.env.side().join(format!("said-{ends_well}.jsonl"));
        fs::write(&file, recording(&world, ends_well)).unwrap();
        // Only at the shell may a recording be any file.
        let task = format!("{} --instant", file.display());
        let task = world.env.expect(0, &["run", "--agent", "replay", &task]).stdout.trim().to_owned();
        world.env.await_final(&task);
        world.look_at(&task);
    }
    world.nothing_leaked();
}

#[test]
fn nothing_of_what_is_asked_for_and_waited_for() {
    let mut world = World::new();
    let codex = install(&world.env, "codex");
    world.env.configure(&format!("codex_path = {:?}\n", codex.to_str().unwrap()));
    let (go, begun) = (world.env.side().join("go"), world.env.side().join("begun"));
    let said = said(&world, true);
    let line = |line: &Value| format!("say {line}\n");
    let (first, last) = said.split_at(said.len() - 2);
    let first: String = first.iter().map(line).collect();
    let last: String = last.iter().map(line).collect();
    let script = format!(
        "{}\nSCRIPT:\n{first}touch {}\nawait {}\n{last}exit 0\nEND",
        world.text("stderr"),
        begun.display(),
        go.display()
    );
    let arguments = json!({ "task": script, "skip_git_repo_check": true, "wait_ms": 50_000 });
    let params = json!({ "name": "delegate_run", "arguments": arguments, "_meta": { "progressToken": "r" } });
    let run = world.client.begin("tools/call", params);
    wait_for("the first events", PATIENCE, || begun.exists().then_some(()));
    let told = |message: &Value| message["method"] == "notifications/progress";
    world.client.wait_for("progress", told);
    // While it works, all that is known of it is what it said so far.
    let task = wait_for("what it does", PATIENCE, || {
        let listed = world.call("delegate_status", &json!({}));
        let text = listed["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        let task = text.split_whitespace().find(|word| word.starts_with("T-local-"))?;
        (!text.contains("(starting)")).then(|| task.to_owned())
    });
    for verbose in [false, true] {
        world.call("delegate_status", &json!({ "task_id": task, "verbose": verbose }));
    }
    world.call("delegate_wait", &json!({ "task_id": task, "timeout_sec": 1 }));
    world.ask("resources/read", &json!({ "uri": format!("delegator://tasks/{task}") }));
    world.shell(&["status"]);
    world.shell(&["status", &task]);
    world.shell(&["status", "--verbose"]);
    world.shell(&["wait", &task, "--timeout", "1"]);
    fs::write(go, "").unwrap();
    world.client.answer(run);
    let heard = world.client.heard();
    world.note("delegate_run", &heard);
    world.look_at(&task);
    world.nothing_leaked();
}

#[test]
fn nothing_of_what_a_terminal_showed() {
    let mut world = World::new();
    let file = world.env.side().join("shown");
    fs::write(&file, world.text("terminal")).unwrap();
    // In colours as well: what is between the letters is not seen.
    let script = format!("cat {0}; sed 's/[A-Za-z0-9+]\\{{9\\}}/&\\x1b[1m/' {0}", file.display());
    let command = world.env.command(&["terminal", "--name", "mine", "--", "sh", "-c", &script]);
    let ran = finish(command, PATIENCE);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut path = String::new();
    for strip in [true, false] {
        for ask in [
            json!({}),
            json!({ "lines": 3 }),
            json!({ "mode": "head", "lines": 30 }),
            json!({ "mode": "all" }),
        ] {
            let mut ask = ask;
            ask["strip"] = json!(strip);
            let read = world.call("get_terminal_output", &ask);
            path = read["structuredContent"]["data"]["file_path"].as_str().unwrap().to_owned();
        }
    }
    world.inspect(&json!({ "file_path": path }));
    for part in [&["--all"][..], &["--head", "9"], &["--tail", "9"], &["--since", "1h"]] {
        world.shell(&[&["terminal", "read", "mine"], part].concat());
    }
    world.shell(&["terminal", "list"]);
    // Without `--json`, this is for who wants the recording itself.
    let raw = world.env.run(&["terminal", "read", "mine", "--raw", "--all", "--json"]);
    world.note("terminal read --raw --json", &raw.stdout);
    world.nothing_leaked();
}

#[test]
fn nothing_wherever_a_part_ends() {
    let mut world = World::new();
    let whole: Vec<&Secret> =
        world.of("output").iter().filter(|one| !one.kind.starts_with("a key without")).collect();
    let lines: String = whole.iter().map(|one| format!("{}\n", one.text)).collect();
    let one_line: String =
        whole.iter().filter(|one| !one.text.contains('\n')).map(|one| format!("{} ", one.text)).collect();
    // Of a length that shares no factor with that of any part.
    for (name, text) in [("lines", lines), ("line", one_line)] {
        let many: String =
            (0..140_000 / text.len()).map(|at| format!("{}{text}", "z".repeat(at % 53))).collect();
        let file = world.env.side().join(name);
        fs::write(&file, many).unwrap();
        let task = world.env.submit(&format!("cat {}", file.display())).task_id;
        world.env.await_final(&task);
        for mode in ["head", "tail"] {
            let ask = json!({ "task_id": task, "mode": mode, "lines": 10_000 });
            assert!(world.pages("inspect_output", &ask, "next_cursor") > 3, "{name} {mode}");
        }
        for most in [900, 1_777, 4_096, 16_384] {
            world.call(
                "delegate_results",
                &json!({ "task_id": task, "include_output": true, "max_output_bytes": most }),
            );
        }
        let command = world.env.command(&["terminal", "--name", name, "--", "cat", file.to_str().unwrap()]);
        assert_eq!(finish(command, PATIENCE).code, Some(0));
        for strip in [true, false] {
            let ask = json!({ "terminal_id": name, "mode": "all", "strip": strip });
            assert!(world.pages("get_terminal_output", &ask, "cursor") > 3, "{name} {strip}");
            for count in [1, 2, 3, 7, 29] {
                world.call(
                    "get_terminal_output",
                    &json!({ "terminal_id": name, "lines": count, "strip": strip }),
                );
            }
        }
    }
    world.nothing_leaked();
}

#[test]
fn nothing_beside_what_was_left_out_of_a_stream() {
    let mut world = World::new();
    world.env.configure("max_stream_bytes = 1048576\n");
    let one: Vec<&Secret> = world.of("output").iter().filter(|one| !one.text.contains('\n')).collect();
    let lines: String = one.iter().map(|one| format!("{}\n", one.text)).collect();
    let file = world.env.side().join("many");
    fs::write(&file, lines.repeat((3 << 20) / lines.len())).unwrap();
    let task = world.env.submit(&format!("cat {}", file.display())).task_id;
    world.env.await_final(&task);
    let ask = json!({ "task_id": task, "pattern": "bytes were left out here", "context_lines": 10 });
    let found = world.call("inspect_output", &ask);
    assert_eq!(found["structuredContent"]["data"]["match_count"], 1, "{found:#}");
    let shown = world.env.expect(0, &["inspect", &task, "--grep", "left out here", "-C", "9"]).stdout;
    world.note("inspect", &shown);
    world.expect_marked(2);
}

#[test]
fn nothing_of_what_a_mistaken_call_was_given() {
    let mut world = World::new();
    let task = world.env.submit("true").task_id;
    world.env.await_final(&task);
    let given: Vec<String> = world.of("message").iter().map(|one| one.text.clone()).collect();
    for text in given {
        for (tool, arguments) in [
            ("delegate_status", json!({ "task_id": text })),
            ("delegate_results", json!({ "task_id": text })),
            ("delegate_wait", json!({ "task_ids": [text], "timeout_sec": 1 })),
            ("delegate_wait", json!({ "task_id": task, &text: 1 })),
            ("delegate_wait", json!({ "task_id": task, "until": text })),
            ("delegate_cancel", json!({ "task_id": text })),
            ("delegate_run", json!({ "task": text, "options": { "agent": "replay" } })),
            (
                "delegate_run",
                json!({ "task": "quick", "cwd": format!("/{text}"), "options": { "agent": "replay" } }),
            ),
            ("delegate_run", json!({ "task": "quick", "options": { "agent": text } })),
            ("inspect_output", json!({ "task_id": task, "artifact": text })),
            ("inspect_output", json!({ "task_id": task, "pattern": format!("({text}") })),
            ("inspect_output", json!({ "task_id": task, "json_path": text })),
            ("inspect_output", json!({ "task_id": task, "cursor": text })),
            ("inspect_output", json!({ "file_path": format!("/{text}") })),
            ("get_terminal_output", json!({ "terminal_id": text })),
            ("get_terminal_output", json!({ "since_timestamp": text })),
        ] {
            world.call(tool, &arguments);
        }
        world.ask("tools/call", &json!({ "name": text, "arguments": {} }));
        world.ask("resources/read", &json!({ "uri": text }));
        world.ask("resources/read", &json!({ "uri": format!("delegator://tasks/{text}") }));
        world.ask("prompts/get", &json!({ "name": text }));
        world.ask(&text, &json!({}));
    }
    let some: Vec<String> = world.of("message").iter().step_by(5).map(|one| one.text.clone()).collect();
    for text in some {
        for args in [
            &["status", &text][..],
            &["inspect", &task, &text],
            &["inspect", &task, "--grep", &format!("({text}")],
            &["terminal", "read", &text],
            &["results", &text],
            &[&text],
        ] {
            world.shell(args);
        }
    }
    world.nothing_leaked();
}
