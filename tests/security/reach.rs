//! Sandbox, network, and every directory that is not the client's.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::world::World;

/// A task that writes in `cwd`.
fn writing(cwd: &str) -> Value {
    json!({ "task": "look", "cwd": cwd, "sandbox": "workspace-write", "skip_git_repo_check": true })
}

fn adding(dirs: &[&str]) -> Value {
    json!({ "task": "look", "sandbox": "workspace-write", "options": { "add_dirs": dirs } })
}

fn run(client: &mut Client, arguments: Value) -> Reply {
    client.call("delegate_run", arguments)
}

#[test]
fn a_sandbox_above_the_maximum_is_refused() {
    let world = World::new();
    let ask = |sandbox: &str| json!({ "task": "look", "sandbox": sandbox });
    let mut client = world.client();
    run(&mut client, ask("danger-full-access")).refused("VALIDATION", "danger-full-access", "`max_sandbox`");
    for word in ["Danger-Full-Access", "danger-full-access ", "workspace-write\n", "full", ""] {
        run(&mut client, ask(word)).refused("VALIDATION", "`sandbox` cannot be", "nown: read-only");
    }
    world.configure("max_sandbox = \"read-only\"\n");
    run(&mut client, ask("workspace-write")).refused("VALIDATION", "workspace-write", "`max_sandbox`");
    world.untouched();
    assert!(world.arguments(&run(&mut client, json!({ "task": "look" }))).contains("-s\nread-only"));
}

#[test]
fn network_is_off_until_the_operator_turns_it_on() {
    let world = World::new();
    let mut client = world.client();
    let ask = |sandbox: &str, network: Value| json!({ "task": "look", "sandbox": sandbox, "options": { "network": network } });
    for sandbox in ["read-only", "workspace-write"] {
        for yes in [json!(true), json!("true")] {
            run(&mut client, ask(sandbox, yes)).refused(
                "VALIDATION",
                "network access",
                "`allow_network = true`",
            );
        }
    }
    world.untouched();
    world.configure("allow_network = true\n");
    let given = run(&mut client, ask("workspace-write", json!(true)));
    assert!(world.arguments(&given).contains("network_access=true"));
    let kept = run(&mut client, ask("workspace-write", json!(false)));
    assert!(world.arguments(&kept).contains("network_access=false"));
}

#[test]
fn nobody_writes_outside_of_the_project() {
    let world = World::new();
    fs::create_dir(world.path("project-twin")).unwrap();
    symlink(world.path("other"), world.path("project/out")).unwrap();
    symlink(world.path("project/out"), world.path("project/twice")).unwrap();
    let other = world.text("other");
    let outside = [
        ("..", "outside"),
        ("../other", "outside"),
        ("below/../../other", "outside"),
        (&world.text("project-twin"), "outside"),
        (&other, "outside"),
        ("out", "outside"),
        ("twice", "outside"),
        ("/usr/share", "outside"),
        ("/proc/self/cwd/../other", "outside"),
    ];
    let mut client = world.client();
    for (dir, word) in outside {
        // A parent may hold our own state besides.
        let (word, hint) = if dir == ".." { ("never allowed", "read-only") } else { (word, "`roots`") };
        run(&mut client, writing(dir)).refused("VALIDATION", word, hint);
        run(&mut client, adding(&["below", dir])).refused("VALIDATION", word, hint);
    }
    world.untouched();
    world.configure(&format!("roots = [{other:?}]\n"));
    let task = run(&mut client, writing("out")).task();
    assert_eq!(world.ended(&task).state, "completed");
    assert_eq!(world.run_file(&task, "command.json")["cwd"], other);
    // Codex gets the place itself, not a name that may lead elsewhere later.
    assert!(world.arguments(&run(&mut client, adding(&["out"]))).contains(&format!("--add-dir\n{other}\n")));
}

#[test]
fn nobody_writes_to_everything_or_to_what_holds_the_rules() {
    let world = World::new();
    fs::create_dir_all(world.path("home/.codex")).unwrap();
    fs::create_dir_all(world.path("state/runs/x")).unwrap();
    // Not even where the operator names all of it as roots.
    world.configure("roots = [\"/\"]\n");
    let mut client = world.client();
    for dir in
        ["/", "home", "", "state", "state/runs", "state/runs/x", "config", "config/delegator", "home/.codex"]
    {
        let dir = if dir == "/" { dir.to_owned() } else { world.text(dir) };
        run(&mut client, writing(&dir)).refused("VALIDATION", "never allowed", "read-only");
        run(&mut client, adding(&[&dir])).refused("VALIDATION", "never allowed", "read-only");
    }
    fs::remove_dir(world.path("state/runs/x")).unwrap();
    world.untouched();
    assert!(!run(&mut client, writing(&world.text("other"))).is_error);
}

#[test]
fn further_directories_are_seen_from_where_the_run_works() {
    let world = World::new();
    for dir in ["project/sub", "project/api/sub"] {
        fs::create_dir_all(world.path(dir)).unwrap();
    }
    let mut ask = adding(&["sub"]);
    ask["cwd"] = world.text("project/api").into();
    let reply = run(&mut world.client(), ask.clone());
    assert!(world.arguments(&reply).contains(&format!("--add-dir\n{}\n", world.text("project/api/sub"))));
    ask["options"]["add_dirs"] = serde_json::json!(["nowhere"]);
    run(&mut world.client(), ask).refused("VALIDATION", "project/api/nowhere", "");
}

#[test]
fn a_client_cannot_make_everything_its_project() {
    let world = World::new();
    let (other, home) = (world.text("other"), world.text("home"));
    fs::create_dir(world.path("home/mine")).unwrap();
    symlink("/", world.path("project/all")).unwrap();
    let mine = world.text("home/mine");
    let parent = format!("file://{}", world.text(""));
    let roots = [
        vec!["file:///"],
        vec!["file:///usr/.."],
        vec!["file://localhost/"],
        vec!["file:///%2e%2e"],
        vec![&parent],
        vec!["other", "../other"],
        vec![other.as_str()],
        vec!["http://localhost/other", "FILE:///other", "file:other"],
        vec![],
    ];
    for roots in roots {
        let mut client = world.client_with_roots(&roots);
        let refused = run(&mut client, writing(&other));
        refused.refused("VALIDATION", "outside this client's project", "`roots`");
    }
    for root in [format!("file://{home}"), format!("file://{}", world.text("project/all"))] {
        let mut client = world.client_with_roots(&[&root]);
        run(&mut client, writing(&mine)).refused("VALIDATION", "outside", "`roots`");
    }
    world.untouched();
    let mut client = world.client_with_roots(&[&format!("file://{other}")]);
    assert!(!run(&mut client, writing(&other)).is_error);
    run(&mut client, writing(&world.text("project"))).refused("VALIDATION", "outside", "`roots`");
}

#[test]
fn reading_is_allowed_where_writing_is_not() {
    let world = World::new();
    let ask = json!({ "task": "look", "cwd": world.text("other"), "sandbox": "read-only" });
    assert!(world.arguments(&run(&mut world.client(), ask)).contains("-s\nread-only"));
}

#[test]
fn a_directory_that_becomes_a_link_before_the_start_is_not_followed() {
    let world = World::configured("max_concurrent = 0\n");
    let mut client = world.client();
    let waiting = [run(&mut client, writing("below")).task(), run(&mut client, adding(&["below"])).task()];
    fs::remove_dir(world.path("project/below")).unwrap();
    symlink(world.path("other"), world.path("project/below")).unwrap();
    world.configure("");
    client.call("delegate_status", json!({}));
    for task in waiting {
        let row = world.ended(&task);
        assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("SANDBOX")));
    }
    assert_eq!(fs::read_dir(world.path("side")).unwrap().count(), 0, "Codex was started");
}

#[test]
fn what_needs_writing_is_refused_to_a_reader() {
    let world = World::new();
    let ask = json!({ "task": "look", "options": { "add_dirs": ["below"] } });
    run(&mut world.client(), ask).refused("VALIDATION", "`add_dirs` needs", "workspace-write");
    world.untouched();
}

#[test]
fn the_older_names_of_a_start_are_held_to_the_same() {
    let world = World::new();
    let mut client = Client::connect(world.delegator(&["serve", "--tools", "all"]), None);
    let thread = "01a1de11-e775-7fc2-8102-aec1425b9fd0";
    for tool in ["_codex_local_run", "_codex_local_exec", "_codex_local_resume"] {
        let mut check = |mut arguments: Value, message: &str, hint: &str| {
            if tool == "_codex_local_resume" {
                arguments["thread_id"] = thread.into();
            }
            client.call(tool, arguments).refused("VALIDATION", message, hint);
        };
        check(json!({ "task": "look", "sandbox": "danger-full-access" }), "danger", "`max_sandbox`");
        check(writing("../other"), "outside", "`roots`");
        check(adding(&["/"]), "never allowed", "read-only");
        let options = json!({ "network": true });
        check(
            json!({ "task": "look", "sandbox": "workspace-write", "options": options }),
            "network",
            "`allow_network",
        );
        check(json!({ "task": "look", "options": { "env_from": ["HOME"] } }), "HOME", "`env_allow`");
    }
    world.untouched();
}

#[test]
fn the_users_own_settings_do_not_widen_a_run() {
    let world = World::new();
    let arguments = world.arguments(&run(&mut world.client(), writing(".")));
    for setting in ["network_access=false", "writable_roots=[]"] {
        assert!(arguments.contains(&format!("-c\nsandbox_workspace_write.{setting}")), "{arguments}");
    }
}

#[test]
fn only_our_own_recordings_are_played_for_a_client() {
    let world = World::new();
    fs::write(world.path("project/mine.jsonl"), "{}\n").unwrap();
    let mut client = world.client();
    let play = |task: &str| json!({ "task": task, "options": { "agent": "replay" } });
    for task in ["mine.jsonl", "./mine.jsonl", "/etc/passwd", "quick/../mine.jsonl", "mine.jsonl --instant"] {
        run(&mut client, play(task)).refused("VALIDATION", "recordings that come with delegator", "`quick`");
    }
    world.untouched();
    let task = run(&mut client, play("quick --instant")).task();
    assert_eq!(world.ended(&task).state, "completed");
}
