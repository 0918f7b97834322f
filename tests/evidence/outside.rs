//! Runs outside any repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::world::World;

/// Says what it changed, as the real one does, and changes it; one patch is refused.
const CODEX: &str = r#"printf 'hi\n' >new.txt
changed() {
  printf '{"type":"item.completed","item":{"id":"%s","type":"file_change","status":"%s","changes":[%s]}}\n' "$1" "$2" "$3"
}
echo '{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}'
echo '{"type":"turn.started"}'
changed 1 completed '{"path":"'$PWD/new.txt'","kind":"add"},{"path":"/etc/passwd","kind":"update"}'
changed 2 completed '{"path":"'$PWD/old.txt'","kind":"delete"}'
changed 3 failed '{"path":"'$PWD/refused.txt'","kind":"add"}'
echo '{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"I changed 17 files"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

#[test]
fn an_agent_outside_git_is_known_by_its_events_and_never_by_its_words() {
    let world = World::bare();
    world.codex(CODEX);
    let args = [
        "run",
        "--agent",
        "codex",
        "--sandbox",
        "workspace-write",
        "--skip-git-repo-check",
        "--wait",
        "--json",
        "change files",
    ];
    let report = world.env.json(&args);
    let run_dir = std::path::PathBuf::from(report["run_dir"].as_str().unwrap());
    let evidence: serde_json::Value =
        serde_json::from_slice(&fs::read(run_dir.join("evidence.json")).unwrap()).unwrap();
    let files = &evidence["files"];
    assert_eq!(files["source"], "agent_events");
    let changes = files["changes"].as_array().unwrap();
    let told: Vec<_> = changes.iter().map(|one| (&one["kind"], &one["path"], one["size"].as_u64())).collect();
    assert_eq!(
        told,
        [
            (&json!("modified"), &json!("/etc/passwd"), None),
            (&json!("added"), &json!("new.txt"), Some(3)),
            (&json!("deleted"), &json!("old.txt"), None),
        ]
    );
    assert_eq!(changes[1]["sha256"].as_str().map(|sum| &sum[..8]), Some("98ea6e4f"));
    assert_eq!(files["totals"], json!({ "files": 3 }));
    let results = world.env.json(&["results", report["task_id"].as_str().unwrap(), "--json"]);
    let operations = &results["data"]["metadata"]["file_operations"];
    assert_eq!((&operations["source"], &operations["lines_changed"]), (&json!("agent_events"), &json!(null)));
    let text = world.text(&["results", report["task_id"].as_str().unwrap()]);
    let line = "files: 3 changed, lines unknown (agent_events; it did not work in a git repository)";
    assert!(text.contains(line), "{text}");
    assert_eq!(operations["added_files"], json!(["new.txt"]));
}

/// Changes files by commands as well, and reports one that it did not write.
const BUSY: &str = r#"printf 'hi\n' >b; rm -f a
echo '{"type":"thread.started","thread_id":"01a1de11-e775-7fc2-8102-000000000001"}'
echo '{"type":"turn.started"}'
echo '{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"rm -f a","aggregated_output":"","exit_code":0,"status":"completed"}}'
echo '{"type":"item.completed","item":{"id":"2","type":"file_change","status":"completed","changes":[{"path":"'$PWD/b'","kind":"add"},{"path":"./b","kind":"update"},{"path":"'$PWD/never'","kind":"add"}]}}'
echo '{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}'
"#;

#[test]
fn outside_git_a_file_is_told_once_and_what_commands_did_is_said_not_to_be_known() {
    let world = World::bare();
    world.shell("echo a >a");
    world.codex(BUSY);
    let args = [
        "run",
        "--agent",
        "codex",
        "--sandbox",
        "workspace-write",
        "--skip-git-repo-check",
        "--wait",
        "--json",
        "change files",
    ];
    let files = world.env.json(&args)["file_operations"].take();
    assert_eq!((&files["added_files"], &files["files_changed"]), (&json!(["b"]), &json!(1)), "{files:#}");
    let gaps = json!([
        "the agent reports changes to files that do not exist: never",
        "unknown what the agent's commands and tools changed: only the edits that it reported are listed"
    ]);
    assert_eq!(files["incomplete"], gaps, "{files:#}");
}

#[test]
fn a_command_outside_git_is_known_to_have_done_nothing_in_particular() {
    let world = World::bare();
    let done = world.run("echo x >x");
    assert_eq!(done.files()["source"], "none");
    assert_eq!(done.files()["reason"], "it did not work in a git repository");
    let results = world.env.json(&["results", &done.task_id, "--json"]);
    let operations = &results["data"]["metadata"]["file_operations"];
    assert_eq!((&operations["source"], &operations["files_changed"]), (&json!("none"), &json!(null)));
    assert_eq!(operations["reason"], "it did not work in a git repository");
    assert!(!world.env.home().join("checkouts").exists());
}

#[test]
fn an_empty_git_directory_is_no_repository() {
    let world = World::bare();
    world.shell("mkdir .git");
    let done = world.run("echo x >x");
    assert_eq!(done.files()["source"], "none");
}

#[test]
fn evidence_is_private_and_among_the_runs_files() {
    let world = World::new("echo a >a; git add a; git commit -qm a");
    let done = world.run("echo x >>a");
    let mode = fs::metadata(done.run_dir.join("evidence.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let results = world.env.json(&["results", &done.task_id, "--json"]);
    let files = results["data"]["files"].as_array().unwrap();
    assert!(files.iter().any(|one| one == "evidence.json"), "{files:?}");
}
