//! Files of a run directory that somebody has spoiled: every command says so
//! in one line, and tells what the others know.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::normalized_output::fits;
use crate::support::env::{PATIENCE, Submitted, TestEnv, finish, wait_for};

const KINDS: [&str; 7] = ["cut", "binary", "empty", "other", "directory", "pipe", "endless"];

/// Puts something else in the place of `file`.
fn spoil(file: &Path, kind: &str) {
    let whole = fs::read(file).unwrap();
    fs::remove_file(file).unwrap();
    match kind {
        "cut" => fs::write(file, &whole[..whole.len() / 2]).unwrap(),
        "binary" => fs::write(file, b"\x00\xff\xfe\x1b[31m\x07 no text\r\n\x80").unwrap(),
        "empty" => fs::write(file, b"").unwrap(),
        "other" => fs::write(file, b"[\"some\", \"other\", \"document\"]").unwrap(),
        "directory" => fs::create_dir(file).unwrap(),
        "pipe" => assert!(Command::new("/usr/bin/mkfifo").arg(file).status().unwrap().success()),
        "endless" => std::os::unix::fs::symlink("/dev/zero", file).unwrap(),
        _ => unreachable!("{kind}"),
    }
}

/// A run that failed with output, and one that an agent of events completed.
fn ended(env: &TestEnv) -> [(Submitted, i32, &'static str); 2] {
    let failed = env.submit("echo so far; echo complaint >&2; exit 3");
    env.await_final(&failed.task_id);
    let ran = env.expect(0, &["run", "--agent", "replay", "--wait", "--json", "quick"]);
    let replayed = crate::support::env::acknowledged(&ran.stdout).unwrap();
    [(failed, 1, "failed"), (replayed, 0, "completed")]
}

/// The one line that says so, wherever it is printed.
#[track_caller]
fn says(text: &str, file: &Path, what: &str) {
    let name = format!("`{}` is damaged: ", file.display());
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("damaged")).collect();
    assert_eq!(lines.len(), 1, "{what}: {text}");
    assert!(lines[0].contains(&name), "{what}: {}", lines[0]);
}

#[track_caller]
fn check(file: &str) {
    let env = TestEnv::new();
    for kind in KINDS {
        for (task, code, state) in ended(&env) {
            let path = env.run_dir(&task.run_id).join(file);
            spoil(&path, kind);
            let id = task.task_id.as_str();
            let commands = [
                (["status", id], 0, "status_snapshot"),
                (["wait", id], code, "wait_result"),
                (["results", id], code, "result_set"),
                (["logs", id], 0, "registry_info"),
            ];
            for (args, code, schema) in commands {
                let what = format!("{file}, {kind}, {state}, {}", args[0]);
                let ran = finish(env.command(&args), PATIENCE);
                assert_eq!(ran.code, Some(code), "{what}: {}{}", ran.stdout, ran.stderr);
                let text = format!("{}{}", ran.stdout, ran.stderr);
                assert!(!text.contains("panicked") && !text.contains('\u{1b}'), "{what}: {text}");
                says(&text, &path, &what);
                assert!(args[0] == "logs" || text.contains(state), "{what}: {text}");

                let ran = finish(env.command(&[&args[..], &["--json"]].concat()), PATIENCE);
                assert_eq!(ran.code, Some(code), "{what}: {}{}", ran.stdout, ran.stderr);
                let document: Value = serde_json::from_str(&ran.stdout).unwrap();
                fits(schema, &document);
                let warnings = document.pointer("/data/warnings").and_then(Value::as_array);
                let warnings = warnings.unwrap_or_else(|| panic!("{what}: {document:#}"));
                let warnings: Vec<&str> = warnings.iter().map(|one| one.as_str().unwrap()).collect();
                says(&warnings.join("\n"), &path, &what);
            }
            // What is over stays over, and can be removed.
            let list = env.expect(0, &["status", "--all"]).stdout;
            assert!(list.lines().any(|line| line.contains(id) && line.contains(state)), "{list}");
            env.expect(0, &["cancel", id]);
        }
    }
    let cleaned = env.json(&["cleanup", "--older-than", "0", "--json"]);
    let removed = cleaned.pointer("/data/old_tasks/deleted").and_then(Value::as_u64);
    assert_eq!(removed, Some(2 * KINDS.len() as u64), "{cleaned:#}");
    assert_eq!(fs::read_dir(env.home().join("runs")).unwrap().count(), 0);
}

#[test]
fn a_spoiled_result_is_named_by_every_command() {
    check("result.json");
}

#[test]
fn a_spoiled_request_is_named_by_every_command() {
    check("request.json");
}

#[test]
fn spoiled_evidence_is_named_by_every_command() {
    check("evidence.json");
}

#[test]
fn a_run_whose_evidence_is_spoiled_or_gone_does_not_look_clean() {
    let env = TestEnv::new();
    for kind in KINDS.into_iter().chain(["types", "gone"]) {
        let task = env.submit("echo '1 failed, 1 passed in 0.02s'; ./missing; true");
        env.await_final(&task.task_id);
        let file = env.run_dir(&task.run_id).join("evidence.json");
        match kind {
            "gone" => fs::remove_file(&file).unwrap(),
            "types" => fs::write(&file, br#"{"version": "one", "files": 3}"#).unwrap(),
            kind => spoil(&file, kind),
        }
        let (what, why) = if kind == "gone" { ("gone", "is gone") } else { ("damaged: ", "cannot be read") };
        let warning = format!("`{}` is {what}", file.display());
        let reason = format!("evidence.json {why}");
        let files = format!("unknown ({reason})");
        for command in ["results", "wait", "status"] {
            let ran = finish(env.command(&[command, &task.task_id]), PATIENCE);
            let text = format!("{}{}", ran.stdout, ran.stderr);
            assert!(text.contains(&warning), "{kind}, {command}: {text}");
            assert!(text.contains(&format!("files: {files}")), "{kind}, {command}: {text}");
            let document = env.json(&[command, &task.task_id, "--json"]);
            let told = document["data"]["warnings"].to_string();
            assert!(told.contains(&warning), "{kind}, {command}: {document:#}");
            let data = &document["data"];
            let found = match command {
                "status" => data["recently_completed"][0]["files"] == files,
                _ => {
                    let seen = &data["metadata"]["file_operations"];
                    seen["source"] == "none" && seen["reason"] == reason
                }
            };
            assert!(found, "{kind}, {command}: {document:#}");
        }
    }
}

#[test]
fn a_run_that_never_had_evidence_is_told_without_a_word_of_it() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 1\n");
    let first = env.submit("sleep 60");
    let waiting = env.submit("true");
    env.expect(0, &["cancel", &waiting.task_id]);
    env.expect(0, &["cancel", &first.task_id]);
    for args in [["results", &waiting.task_id], ["status", &waiting.task_id]] {
        let ran = env.run(&args);
        assert!(!ran.stdout.contains("evidence") && !ran.stdout.contains("files:"), "{}", ran.stdout);
    }
}

#[test]
fn a_run_that_works_is_not_said_to_start_when_its_progress_is_lost() {
    let env = TestEnv::new();
    let task = env.submit("sleep 60");
    let file = env.run_dir(&task.run_id).join("progress.json");
    wait_for("its start", PATIENCE, || file.exists().then_some(()));
    for bytes in [None, Some("{")] {
        wait_for("its state", PATIENCE, || {
            let _ = fs::remove_file(&file);
            bytes.inspect(|bytes| fs::write(&file, bytes).unwrap());
            let text = env.expect(0, &["status", &task.task_id]).stdout;
            text.contains("now: working\n").then_some(())
        });
    }
    env.expect(0, &["cancel", &task.task_id]);
}
