//! Words that a newcomer goes by: what is said holds, and what is offered works.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::normalized_output::value;
use crate::support::env::{PATIENCE, Ran, TestEnv, finish};

/// Makes a project of its own of `dir`.
fn project(dir: &Path) {
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
}

fn run_in(env: &TestEnv, dir: &Path, args: &[&str]) -> Ran {
    let mut command = env.command(args);
    command.current_dir(dir);
    finish(command, PATIENCE)
}

/// A stand-in for Codex that is the shell script `body`.
fn codex(env: &TestEnv, body: &str) {
    let path = env.root().join("bin/codex");
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    env.configure(&format!("codex_path = \"{}\"\n", path.display()));
}

#[test]
fn resume_says_that_it_goes_on_as_the_task_did() {
    let env = TestEnv::new();
    let help = env.expect(0, &["resume", "--help"]).stdout;
    let about = |option: &str| help.lines().find(|line| line.contains(option)).unwrap().to_owned();
    for option in ["--cwd", "--sandbox", "--agent", "--model", "--effort", "--role", "--network"] {
        assert!(about(&format!("{option} ")).contains("[default: as before]"), "{help}");
    }
    assert!(about("  [TASK]...  ").contains("[default: continue]"), "{help}");
    assert!(!help.contains("this one"), "{help}");
}

#[test]
fn an_agent_that_said_nothing_is_not_quoted() {
    let env = TestEnv::new();
    let silent = env.root().join("silent.jsonl");
    let lines = [
        r#"{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-aec1425b9fd0"}"#,
        r#"{"type":"turn.started"}"#,
        r#"{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}"#,
    ];
    fs::write(&silent, lines.join("\n") + "\n").unwrap();
    let run = ["run", "--agent", "replay", "--wait", silent.to_str().unwrap()];
    let text = env.expect(0, &run).stdout;
    assert_eq!(value(&text, "summary"), "the agent finished without a message");
    assert!(text.contains("warnings:\n- the agent ended its turn without a final message"), "{text}");
    let report = env.json(&[&["--json"][..], &run].concat());
    assert!(report.get("report_by").is_none(), "{report:#}");
    let status = env.json(&["status", "--json"]);
    assert_eq!(status.pointer("/data/recently_completed/0/report_by"), None, "{status:#}");
}

#[test]
fn a_thread_that_is_gone_is_not_offered_again() {
    let env = TestEnv::new();
    project(&env.work());
    codex(
        &env,
        "case \"$*\" in *--version*) echo codex-cli 0.166.0; exit 0;; esac\ncat >/dev/null\n\
         echo 'Error: thread/resume failed: no rollout found for thread id 01a1e20f-bb71-7633-b794-000000000000' >&2\nexit 1",
    );
    let run = ["resume", "01a1e20f-bb71-7633-b794-000000000000", "--wait", "x"];
    let text = env.expect(1, &run).stdout;
    assert!(value(&text, "hint").contains("start a new run instead of resuming"), "{text}");
    assert!(!text.contains("continues its thread"), "{text}");
    let id = value(&text, "task_id");
    let results = env.json(&["results", id, "--json"]);
    let suggestions = results.pointer("/data/metadata/error_context/suggestions").unwrap();
    assert!(!suggestions.to_string().contains("goes on with"), "{suggestions:#}");
}

#[test]
fn a_task_without_words_is_shown_as_what_it_means() {
    let env = TestEnv::new();
    project(&env.work());
    codex(&env, "exit 1");
    let task = env.expect(0, &["resume", "01a1e20f-bb71-7633-b794-000000000000"]).stdout;
    env.await_final(task.trim());
    let status = env.expect(0, &["status"]).stdout;
    assert!(status.contains("  (continue)  "), "{status}");
}

#[test]
fn a_slow_agent_is_told_from_another_program() {
    let env = TestEnv::new();
    codex(&env, "case \"$1\" in --version) exec sleep 60;; login) exit 0;; esac\nexit 1");
    let ran = env.expect(0, &["doctor"]).stdout;
    let row = |what: &str| ran.lines().find(|line| line.contains(what)).unwrap_or_default().to_owned();
    let codex = row(" agent codex ");
    assert!(codex.starts_with("warn") && codex.contains("did not answer within 10 s"), "{ran}");
    assert!(!ran.contains("is it Codex?"), "{ran}");
    assert!(row("codex login").starts_with("ok") && row("codex login").ends_with("logged in"), "{ran}");
    assert!(
        row("codex sandbox").starts_with("warn") && row("codex sandbox").ends_with("does not work here"),
        "{ran}"
    );
}

#[test]
fn a_limit_is_told_with_the_option_that_sets_it() {
    let env = TestEnv::new();
    let run = ["run", "--agent", "command", "--wait", "--hard", "0.2", "sleep 60"];
    let text = env.expect(1, &run).stdout;
    // The contract of a start has no other word for it.
    assert!(value(&text, "status").starts_with("failed ("), "{text}");
    assert!(value(&text, "error").starts_with("the hard limit was reached after "), "{text}");
    assert!(value(&text, "hint").contains("`--hard SECONDS`"), "{text}");
    let report = env.json(&[&["--json"][..], &run].concat());
    assert_eq!(report["status"], "failed", "{report:#}");
    assert!(report["error_context"]["hint"].as_str().unwrap().contains("`--hard SECONDS`"), "{report:#}");
    let id = report["task_id"].as_str().unwrap();
    let results = env.json(&["results", id, "--json"]);
    let first = results.pointer("/data/metadata/error_context/suggestions/0").and_then(Value::as_str);
    assert!(first.unwrap().contains("`--hard SECONDS`"), "{results:#}");
}

#[test]
fn an_alias_that_reaches_into_another_project_is_told() {
    let env = TestEnv::new();
    let elsewhere = env.root().join("user");
    [&env.work(), &elsewhere].into_iter().for_each(|dir| project(dir));
    let own = format!("delegator: `deploy` is a task of another project, {}", env.work().display());
    let task = env.submit_with(&["--alias", "deploy"], "sleep 60").task_id;
    let resumed = run_in(&env, &elsewhere, &["resume", "deploy", "go on"]);
    assert!(resumed.stderr.starts_with(&own), "{}", resumed.stderr);
    // What cannot be undone wants the id.
    let refused = run_in(&env, &elsewhere, &["cancel", "deploy"]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.starts_with(&own) && refused.stderr.contains(&task), "{}", refused.stderr);
    let refused = run_in(&env, &elsewhere, &["do", "cancel \"deploy\""]);
    assert_eq!(refused.code, Some(3), "{}", refused.stdout);
    assert!(
        refused.stdout.contains("of another project") && refused.stderr.contains(&task),
        "{}",
        refused.stderr
    );
    env.expect(4, &["results", &task]);
    // Who gives an id, or wants a document, knows.
    for args in [&["cancel", &task][..], &["results", "deploy", "--json"]] {
        assert_eq!(run_in(&env, &elsewhere, args).stderr, "", "{args:?}");
    }
    assert_eq!(env.expect(0, &["cancel", "deploy"]).stderr, "");
}

#[test]
fn status_says_how_many_more_there_are_and_whose_they_are() {
    let env = TestEnv::new();
    let elsewhere = env.root().join("user");
    [&env.work(), &elsewhere].into_iter().for_each(|dir| project(dir));
    for _ in 0..3 {
        let task = env.submit("true").task_id;
        env.await_final(&task);
    }
    let some = env.expect(0, &["status", "--limit", "1"]).stdout;
    assert!(some.contains("1 finished (2 more: `--limit 3`), in "), "{some}");
    let all = env.expect(0, &["status", "--limit", "3"]).stdout;
    assert!(all.contains("3 finished, in ") && !all.contains("PROJECT"), "{all}");
    let ran = run_in(&env, &elsewhere, &["run", "--agent", "command", "--wait", "echo other"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let all = env.expect(0, &["status", "--all"]).stdout;
    assert!(all.lines().next().unwrap().contains("  PROJECT  "), "{all}");
    let of = |what: &str| all.lines().find(|line| line.contains(what)).unwrap().to_owned();
    assert!(of("echo other").contains("  user "), "{all}");
    let document = env.json(&["status", "--all", "--json"]);
    let project = document.pointer("/data/recently_completed/0/project").and_then(Value::as_str);
    assert_eq!(project, elsewhere.to_str(), "{document:#}");
}

#[test]
fn help_is_given_whichever_way_it_is_asked_for() {
    let env = TestEnv::new();
    assert_eq!(env.expect(0, &["help"]).stdout, env.expect(0, &["--help"]).stdout);
    assert_eq!(env.expect(0, &["help", "run"]).stdout, env.expect(0, &["run", "--help"]).stdout);
}

#[test]
fn what_can_never_start_is_not_told_to_wait_for_a_slot() {
    let env = TestEnv::new();
    env.configure("max_concurrent = 0\n");
    let ran = env.expect(0, &["run", "--agent", "command", "true"]);
    assert!(ran.stderr.contains("warning: no task starts while `max_concurrent` is 0"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("free slot"), "{}", ran.stderr);
}

#[test]
fn the_demonstration_ends_with_what_works_where_it_was_given() {
    let env = TestEnv::new();
    let outside = env.expect(0, &["demo", "--instant"]).stdout;
    assert!(outside.contains("delegator run --wait --skip-git-repo-check \"explain"), "{outside}");
}

#[test]
fn two_streams_do_not_meet_in_the_middle_of_a_line() {
    let env = TestEnv::new();
    let task = env.submit("printf last; echo warn >&2").task_id;
    env.await_final(&task);
    assert_eq!(env.expect(0, &["logs", &task]).stdout, "warn\nlast");
}
