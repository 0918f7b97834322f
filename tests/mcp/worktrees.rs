//! `delegate_apply`: what it tells, and for whom it writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, finish};

fn shell(env: &TestEnv, dir: &Path, script: &str) -> String {
    let mut command = Command::new("/bin/sh");
    env.settle_in(&mut command);
    let ran = finish(
        {
            command.args(["-ec", script]).current_dir(dir);
            command
        },
        PATIENCE,
    );
    assert_eq!(ran.code, Some(0), "{script}: {}{}", ran.stdout, ran.stderr);
    ran.stdout
}

const REPOSITORY: &str = "git init -q -b main .; git config user.name a; git config user.email a@b; \
                          seq 10 >a; git add a; git commit -qm first";

#[test]
fn changes_are_tried_applied_and_refused_with_their_files() {
    let env = TestEnv::new();
    shell(&env, &env.work(), REPOSITORY);
    let ran = env.submit_with(&["--worktree"], "sed -i s/^1$/agent/ a; echo new >new");
    env.await_final(&ran.task_id);
    let mut client = Client::in_directory(&env, &env.work(), Era::Session);
    let results = client.call("delegate_results", json!({ "task_id": ran.task_id })).unwrap();
    assert_eq!(results["next"][0]["tool"], "delegate_apply", "{results:#}");
    let ask = |dry_run: bool| json!({ "task_id": ran.task_id, "dry_run": dry_run });
    let tried = client.call("delegate_apply", ask(true)).unwrap();
    assert_eq!(
        (&tried["data"]["applied"], &tried["data"]["dry_run"]),
        (&json!(false), &json!(true)),
        "{tried:#}"
    );
    assert_eq!(shell(&env, &env.work(), "git status --short"), "");
    assert_eq!(tried["next"][0]["tool"], "delegate_apply", "{tried:#}");

    fs::write(env.work().join("new"), "mine\n").unwrap();
    let refused = client.call("delegate_apply", ask(false)).unwrap();
    assert_eq!(refused["data"]["conflicts"][0]["path"], "new", "{refused:#}");
    assert_eq!(shell(&env, &env.work(), "git status --short; cat new"), "?? new\nmine\n");

    fs::remove_file(env.work().join("new")).unwrap();
    let done = client.call("delegate_apply", ask(false)).unwrap();
    assert_eq!(done["data"]["files"].as_array().map(Vec::len), Some(2), "{done:#}");
    assert_eq!(shell(&env, &env.work(), "git status --short"), " M a\n?? new\n");
    let results = client.call("delegate_results", json!({ "task_id": ran.task_id })).unwrap();
    assert_ne!(results["next"][0]["tool"], "delegate_apply", "{results:#}");
}

#[test]
fn a_client_of_another_project_or_one_that_may_only_read_applies_nothing() {
    let env = TestEnv::new();
    shell(&env, &env.work(), REPOSITORY);
    let other = env.root().join("other");
    fs::create_dir(&other).unwrap();
    let ran = env.submit_with(&["--worktree"], "echo new >new");
    env.await_final(&ran.task_id);
    let ask = || json!({ "task_id": ran.task_id });
    let refused = Client::in_directory(&env, &other, Era::Session).call("delegate_apply", ask()).unwrap_err();
    assert!(refused.contains("outside this client's project"), "{refused}");
    env.configure("max_sandbox = \"read-only\"\n");
    let refused =
        Client::in_directory(&env, &env.work(), Era::Session).call("delegate_apply", ask()).unwrap_err();
    assert!(
        refused.contains("`workspace-write` is more than this machine's configuration allows"),
        "{refused}"
    );
    assert!(!env.work().join("new").exists());
}
