//! What git and agents obey: no client gets to write there, under whatever name it asks for it.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

const MESSAGE: &str = "files that control git or an agent";
const HINT: &str = "`.git` stays read-only";

fn writing(cwd: &str) -> Value {
    json!({ "task": "look", "cwd": cwd, "sandbox": "workspace-write", "skip_git_repo_check": true })
}

fn adding(dir: &str) -> Value {
    json!({ "task": "look", "sandbox": "workspace-write", "options": { "add_dirs": ["below", dir] } })
}

/// A project with every kind of repository in it, and the ways into them.
fn repositories() -> (World, Vec<&'static str>) {
    let world = World::new();
    let identity = ["-c", "user.name=a", "-c", "user.email=a@localhost"];
    world.git("project", &[&identity[..], &["commit", "--quiet", "--allow-empty", "-m", "x"]].concat());
    world.git("project", &["init", "--quiet", "nest"]);
    world.git("project", &["init", "--quiet", ".codex/own"]);
    world.git("project", &["init", "--quiet", "--bare", "bare"]);
    world.git("project", &["worktree", "add", "--quiet", "tree"]);
    fs::create_dir(world.path("project/hidden")).unwrap();
    world.git("project", &["init", "--quiet", "--separate-git-dir", "hidden/store", "separate"]);
    for dir in [".codex/deep", ".agents", ".aws", "below/.codex", ".git/modules/x"] {
        fs::create_dir_all(world.path("project").join(dir)).unwrap();
    }
    symlink(".git", world.path("project/link")).unwrap();
    symlink("../hidden/store", world.path("project/below/store")).unwrap();
    let asked = vec![
        ".git",
        ".git/",
        "./.git/hooks",
        "below/../.git/info",
        ".git/worktrees/tree",
        ".git/modules/x",
        ".codex",
        ".codex/deep",
        ".agents",
        ".aws",
        "below/.codex",
        ".codex/own",
        "nest/.git",
        "nest/.git/hooks",
        "bare",
        "bare/hooks",
        "hidden/store",
        "hidden/store/hooks",
        "below/store",
        "link",
        "link/hooks",
    ];
    (world, asked)
}

#[test]
fn no_client_writes_to_what_git_and_agents_obey() {
    let (world, asked) = repositories();
    let mut client = world.client();
    for dir in &asked {
        for dir in [(*dir).to_owned(), world.text("project/") + dir] {
            client.call("delegate_run", writing(&dir)).refused("VALIDATION", MESSAGE, HINT);
            client.call("delegate_run", adding(&dir)).refused("VALIDATION", MESSAGE, HINT);
        }
    }
    world.untouched();
    // What is above the repository of a directory that names it, but is not the one to name it.
    fs::create_dir(world.path("project/separate/src")).unwrap();
    let mut together = writing("separate/src");
    together["options"] = json!({ "add_dirs": ["../../hidden"] });
    client.call("delegate_run", together).refused("VALIDATION", MESSAGE, HINT);
    world.untouched();
    // Beside them, and reading in them, is allowed.
    for dir in ["tree", "nest", "separate", "below"] {
        assert!(!client.call("delegate_run", writing(dir)).is_error, "{dir}");
        assert!(!client.call("delegate_run", adding(dir)).is_error, "{dir}");
    }
    let mut reading = writing(".git");
    reading["sandbox"] = "read-only".into();
    assert!(world.arguments(&client.call("delegate_run", reading)).contains("-s\nread-only"));
}

#[test]
fn neither_roots_nor_the_older_names_open_it() {
    let (world, asked) = repositories();
    for dir in &asked {
        let real = fs::canonicalize(world.path("project").join(dir)).unwrap();
        let mut client = world.client_with_roots(&[&format!("file://{}", real.display())]);
        let refused = client.call("delegate_run", writing(&real.display().to_string()));
        refused.refused("VALIDATION", MESSAGE, HINT);
        let nothing_named =
            json!({ "task": "look", "sandbox": "workspace-write", "skip_git_repo_check": true });
        client.call("delegate_run", nothing_named).refused("VALIDATION", MESSAGE, HINT);
    }
    world.configure(&format!("roots = [{:?}, {:?}]\n", world.text("project/.git"), world.text("other")));
    let mut client = Client::connect(world.delegator(&["serve", "--tools", "all"]), None);
    for tool in ["_codex_local_run", "_codex_local_exec", "_codex_local_resume"] {
        for mut arguments in [writing(".git/hooks"), adding(".codex"), adding(&world.text("other/.git"))] {
            if tool == "_codex_local_resume" {
                arguments["thread_id"] = "01a1de11-e775-7fc2-8102-aec1425b9fd0".into();
            }
            client.call(tool, arguments).refused("VALIDATION", MESSAGE, HINT);
        }
    }
    world.untouched();
}

#[test]
fn a_follow_up_does_not_inherit_it_from_a_person() {
    let world = World::new();
    let ran = |args: &[&str]| -> String {
        let mut command = world.delegator(&["run", "--wait", "--json", "--sandbox", "workspace-write"]);
        let output = command.args(args).arg("look").output().unwrap();
        let ran: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
        ran["task_id"].as_str().unwrap().to_owned()
    };
    let (added, inside) = (ran(&["--add-dir", ".git"]), ran(&["--cwd", ".git"]));
    let mut client = world.client();
    let reply = client.call("delegate_resume", json!({ "task_id": added, "task": "go on" }));
    assert!(reply.structured["warnings"].to_string().contains("/.git"), "{:#}", reply.structured);
    assert!(!world.arguments(&reply).contains("--add-dir"));
    let again = json!({ "task_id": inside, "task": "go on" });
    client.call("delegate_resume", again).refused("VALIDATION", MESSAGE, HINT);
}

#[test]
fn temporary_directories_that_hold_the_repository_stay_closed() {
    let world = World::new();
    let arguments =
        |client: &mut Client, cwd: &str| world.arguments(&client.call("delegate_run", writing(cwd)));
    let mut command = world.delegator(&["serve"]);
    world.git("project", &["init", "--quiet", "temporary/inner"]);
    fs::create_dir(world.path("project/temporary/inner/below")).unwrap();
    command.env("TMPDIR", world.path("project/temporary"));
    let mut client = Client::connect(command, None);
    // At the top Codex itself keeps `.git`.
    assert!(!arguments(&mut client, "temporary/inner").contains("exclude_slash_tmp=true"));
    assert!(arguments(&mut client, "temporary/inner/below").contains("exclude_slash_tmp=true"));
}
