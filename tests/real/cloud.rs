//! `codex cloud` as the real program refuses it to somebody who is not signed in. What it does for others is scripted
//! elsewhere: it talks to no service but its own.

use std::process::Command;

use serde_json::json;

use crate::env::TestEnv;
use crate::installed::installed;

/// The real program's refusal is the one that the adapter knows.
#[test]
fn somebody_who_is_not_signed_in_is_told_how() {
    let env = TestEnv::new();
    let args = ["run", "--agent", "codex_cloud", "--env-id", "env_none", "--wait", "--json", "do it"];
    let run = env.delegator(&args).ended(1);
    assert!(run["task_id"].as_str().is_some_and(|id| id.starts_with("T-cloud-")), "{run:#}");
    let context = &env.results(&run)["metadata"]["error_context"];
    assert_eq!((&context["code"], &context["retryable"]), (&json!("AUTH"), &json!(false)), "{context:#}");
    let told = serde_json::to_string(context).unwrap();
    assert!(told.contains("Not signed in") && told.contains("`codex login`"), "{told}");
    assert_eq!(env.requests().len(), 0, "a model was asked");
}

/// The options that the adapter writes are known, and those that it never writes are refused as the table says.
#[test]
fn the_command_line_of_the_real_program_is_the_recorded_one() {
    let codex = installed("codex");
    let home = tempfile::tempdir().unwrap();
    let said = |args: &[&str]| {
        let mut command = Command::new(&codex);
        command.arg("cloud").args(args).current_dir(home.path()).env_clear();
        command
            .env("HOME", home.path())
            .env("CODEX_HOME", home.path())
            .env("PATH", std::env::var_os("PATH").unwrap());
        let output = command.stdin(std::process::Stdio::null()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let exec = ["exec", "--env", "e", "--attempts", "4", "--branch", "main", "-"];
    let list = ["list", "--env", "e", "--limit", "20", "--json"];
    for args in [
        &exec[..],
        &list,
        &["status", "task_e_1"],
        &["diff", "task_e_1"],
        &["diff", "--attempt", "2", "task_e_1"],
    ] {
        let (code, text) = said(args);
        assert!(code == Some(1) && text.contains("Not signed in"), "{args:?}: {code:?} {text}");
    }
    for (args, words) in [
        (&["exec", "--env", "e", "--attempts", "5", "x"][..], "invalid value '5' for '--attempts"),
        (&["exec", "--env", "e", "--model", "m", "x"], "unexpected argument '--model'"),
        (&["cancel", "task_e_1"], "unrecognized subcommand 'cancel'"),
    ] {
        let (code, text) = said(args);
        assert!(code == Some(2) && text.contains(words), "{args:?}: {code:?} {text}");
    }
    assert!(home.path().join("error.log").exists(), "the reason for a directory of its own");
}
