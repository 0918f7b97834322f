//! What a run must not do to its user: delegate again, or change Codex's configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::env::{TestEnv, document};
use crate::model::task;

/// A program that leaves a file when it is started.
fn program(name: &str, root: &Path) -> PathBuf {
    let program = root.join(name);
    fs::write(&program, format!("#!/bin/sh\ntouch '{}/{name}.started'\n", root.display()))
        .expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("an executable program");
    program
}

/// An MCP server for Codex's configuration.
fn server(name: &str, root: &Path) -> String {
    format!("\n[mcp_servers.{name}]\ncommand = \"{}\"\n", program(name, root).display())
}

/// The servers that the recorded command line switches off.
fn switched_off(run: &Value) -> Vec<String> {
    let command = document(run, "command.json");
    let args = command["args"].as_array().expect("a command line").iter().filter_map(Value::as_str);
    let settings = args.filter(|argument| argument.starts_with("mcp_servers="));
    let tables = settings.map(|setting| setting.parse::<toml::Table>().expect("a setting in TOML"));
    let servers = tables.flat_map(|table| table["mcp_servers"].as_table().cloned().unwrap_or_default());
    servers.filter(|(_, server)| server["enabled"].as_bool() == Some(false)).map(|(name, _)| name).collect()
}

#[test]
fn a_run_starts_the_users_servers_but_not_delegator() {
    let env = TestEnv::with_codex_config(|root| server("delegator", root) + &server("notes", root));
    let run = env.run(&[], &task("plain", &json!({}))).ended(0);
    assert_eq!(run["status"], "completed");
    assert!(env.path("notes.started").exists(), "Codex started no server at all: this shows nothing");
    assert!(!env.path("delegator.started").exists(), "the run could delegate again");
    assert_eq!(switched_off(&run), ["delegator"]);
}

#[test]
fn a_resumed_run_does_not_start_delegator_either() {
    let env = TestEnv::with_codex_config(|root| server("delegator", root));
    let task = task("plain", &json!({}));
    let first = env.run(&[], &task).ended(0);
    let thread = first["subagent_thread_id"].as_str().unwrap();
    env.delegator(&["resume", thread, &task, "--env", "FAKE_KEY", "--wait", "--json"]).ended(0);
    assert!(!env.path("delegator.started").exists());
}

/// What a repository configures for itself is not loaded for a run, whatever the user once trusted. So a server that
/// only the repository defines needs no switching off; Codex would refuse that as an error.
#[test]
fn a_trusted_projects_servers_neither_start_nor_break_the_run() {
    let trusted = |path: &Path| format!("\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n", path.display());
    let env =
        TestEnv::with_codex_config(|root| trusted(&root.join("repo")) + &trusted(&root.join("repo/part")));
    // Codex reads the configuration of every directory on the way, and looks up the trust of each.
    for (directory, name) in [("", "delegator"), ("part", "notes")] {
        fs::create_dir_all(env.repo(directory).join(".codex")).unwrap();
        fs::write(env.repo(directory).join(".codex/config.toml"), server(name, env.root())).unwrap();
    }
    let cwd = env.repo("part");
    let flags = ["--sandbox", "workspace-write", "--cwd", cwd.to_str().unwrap()];
    let run = env.run(&flags, &task("plain", &json!({}))).ended(0);
    assert_eq!(run["status"], "completed");
    assert!(!env.path("delegator.started").exists(), "the repository's server was started");
    assert!(!env.path("notes.started").exists(), "the directory's server was started");
}

/// Codex marks a repository as trusted in the user's configuration when it may write there. Every test here checks the
/// file at its end; this one also goes through a subdirectory.
#[test]
fn a_run_that_may_write_leaves_the_users_configuration_alone() {
    let env = TestEnv::new();
    fs::create_dir_all(env.repo("deep/er")).unwrap();
    for directory in ["", "deep/er"] {
        let cwd = env.repo(directory);
        let flags = ["--sandbox", "workspace-write", "--cwd", cwd.to_str().unwrap()];
        env.run(&flags, &task("plain", &json!({}))).ended(0);
        assert!(!fs::read_to_string(env.path("home/codex/config.toml")).unwrap().contains("trust_level"));
    }
    assert_eq!(env.requests().len(), 2);
}

/// A plugin's server is listed by Codex and is not in `config.toml`, against which Codex checks a bare `enabled=false`.
#[test]
fn a_run_does_not_start_a_delegator_that_a_plugin_brings() {
    let env = TestEnv::with_plugin(|root| {
        let ours = program("delegator", root);
        let notes = program("notes", root);
        let stdio = |program: &Path| json!({ "command": program, "args": ["serve"], "env": { "A": "b" } });
        let web = json!({ "type": "http", "url": "http://127.0.0.1:9/mcp" });
        json!({ "delegator": stdio(&ours), "notes": stdio(&notes), "delegator-web": web })
    });
    let task = task("plain", &json!({}));
    let run = env.run(&[], &task).ended(0);
    assert_eq!(run["status"], "completed");
    assert!(env.path("notes.started").exists(), "Codex started no server at all: this shows nothing");
    assert!(!env.path("delegator.started").exists(), "the run could delegate again");
    assert_eq!(switched_off(&run), ["delegator", "delegator-web"]);
    let thread = run["subagent_thread_id"].as_str().unwrap();
    env.delegator(&["resume", thread, &task, "--env", "FAKE_KEY", "--wait", "--json"]).ended(0);
    assert!(!env.path("delegator.started").exists(), "the resumed run could delegate again");
}
