//! No file but those that are meant to be inspected: not by a path, not by a
//! link, not by a link that is swapped in at the right moment.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::client::Client;
use crate::world::World;

const OUTSIDE: &str = "nobody outside may read this";
const MODES: [&str; 4] = ["head", "tail", "summary", "grep"];

/// A home with one finished run; its task and its directory.
fn run(world: &World) -> (String, std::path::PathBuf) {
    let ran = world.person(&["run", "--wait", "look around"]);
    let dir = Path::new(ran["run_dir"].as_str().unwrap()).to_owned();
    (ran["task_id"].as_str().unwrap().to_owned(), dir)
}

/// Asks in every mode; nothing may come.
#[track_caller]
fn refused(client: &mut Client, ask: &Value) {
    for mode in MODES {
        let mut ask = ask.clone();
        ask["mode"] = json!(mode);
        if mode == "grep" {
            ask["pattern"] = json!(".");
        }
        let reply = client.call("inspect_output", ask.clone());
        assert!(reply.is_error, "{ask}: {}", reply.text);
        let said = reply.text + &reply.structured.to_string();
        assert!(!said.contains(OUTSIDE) && !said.contains("root:x:"), "{ask}: {said}");
        assert!(said.contains("hint"), "{ask}: {said}");
    }
}

#[track_caller]
fn refused_at_a_shell(world: &World, args: &[&str]) {
    let output = world.delegator(&["inspect"]).args(args).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(2 | 3)), "{args:?}: {said}");
    assert!(!said.contains(OUTSIDE) && !said.contains("root:x:"), "{args:?}: {said}");
    assert!(said.contains("hint: "), "{args:?}: {said}");
}

#[test]
fn no_path_leads_out_of_the_home() {
    let world = World::new();
    let (_, dir) = run(&world);
    let mut client = world.client();
    let home = world.text("state");
    fs::write(world.path("side/secret"), OUTSIDE).unwrap();
    let secret = world.text("side/secret");
    let run = dir.file_name().unwrap().to_str().unwrap();
    let paths = [
        secret.clone(),
        "/etc/passwd".into(),
        "//etc/passwd".into(),
        "/etc/../etc/passwd".into(),
        "etc/passwd".into(),
        "file:///etc/passwd".into(),
        "~/secret".into(),
        "../side/secret".into(),
        "../../../../../../etc/passwd".into(),
        format!("{home}/../side/secret"),
        format!("{home}/runs/../../side/secret"),
        format!("{home}/runs/{run}/../../../side/secret"),
        format!("{home}/runs/{run}/stdout.log/../../../../side/secret"),
        format!("runs/{run}/../../../side/secret"),
        "captures/../../side/secret".into(),
        "terminals/../../side/secret".into(),
        "terminals/../output.log".into(),
        "terminals/./output.log".into(),
        format!("{home}x/captures/secret"),
        "/proc/self/environ".into(),
        "/proc/self/root/etc/passwd".into(),
        "/dev/stdin".into(),
        "/dev/zero".into(),
        home.clone(),
        format!("{home}/"),
        ".".into(),
        "..".into(),
        "/".into(),
        String::new(),
        " ".into(),
        format!("{home}/runs/{run}/events.jsonl\n"),
        format!("{home}/runs/{run}/events.jsonl\0"),
        format!("\u{202e}{home}/runs/{run}/events.jsonl"),
        format!("{home}/registry.db"),
        format!("{home}/registry.db-wal"),
        format!("{home}/http-token"),
        format!("{home}/runs/{run}"),
        format!("{home}/runs/{run}/run.lock"),
        format!("{home}/runs/{run}/env.json"),
        format!("{home}/runs/{run}/ctl.sock"),
        format!("{home}/runs/{run}/inner/x"),
        format!("{home}/runs/{}/events.jsonl", "x".repeat(300)),
        "a/".repeat(5_000),
    ];
    assert!(paths.len() >= 30);
    for path in &paths {
        refused(&mut client, &json!({ "file_path": path }));
        // At a shell the same, as far as a program can be told of it.
        if !path.contains('\0') {
            refused_at_a_shell(&world, &[&format!("--file={path}")]);
        }
    }
    // What differs only in being meant to be read is read.
    let reply =
        client.call("inspect_output", json!({ "file_path": format!("{home}/runs/{run}/events.jsonl") }));
    assert!(!reply.is_error && reply.text.contains("thread.started"), "{}", reply.text);
}

#[test]
fn no_artifact_leads_out_of_its_run() {
    let world = World::new();
    let (task, _) = run(&world);
    let mut client = world.client();
    for artifact in [
        "../../registry.db",
        "/etc/passwd",
        "env.json",
        "run.lock",
        "..",
        ".",
        "",
        "command-../x.log",
        "command-/.log",
        "stdout.log/../env.json",
        "events.jsonl\n",
        "EVENTS.JSONL",
        "inner",
        "reserve",
        "cancel",
    ] {
        refused(&mut client, &json!({ "task_id": task, "artifact": artifact }));
        refused_at_a_shell(&world, &[&task, artifact]);
    }
}

#[test]
fn no_link_and_no_special_file_is_read() {
    let world = World::new();
    let (task, dir) = run(&world);
    let mut client = world.client();
    fs::write(world.path("side/secret"), OUTSIDE).unwrap();
    let secret = world.path("side/secret");
    let artifact = dir.join("stdout.log");
    let ask = json!({ "task_id": task, "artifact": "stdout.log" });
    let pipe = |path: &Path| {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    let tricks: [(&str, &dyn Fn()); 7] = [
        ("a link to a file outside", &|| symlink(&secret, &artifact).unwrap()),
        ("a link to another file of the run", &|| symlink("events.jsonl", &artifact).unwrap()),
        ("a link to itself", &|| symlink("stdout.log", &artifact).unwrap()),
        ("a link to the environment", &|| symlink("/proc/self/environ", &artifact).unwrap()),
        ("another name of a file outside", &|| fs::hard_link(&secret, &artifact).unwrap()),
        ("a pipe that nobody writes to", &|| pipe(&artifact)),
        ("a directory", &|| fs::create_dir(&artifact).unwrap()),
    ];
    for (what, make) in tricks {
        make();
        refused(&mut client, &ask);
        refused(&mut client, &json!({ "file_path": artifact.display().to_string() }));
        let is_dir = fs::symlink_metadata(&artifact).unwrap().is_dir();
        if is_dir { fs::remove_dir(&artifact) } else { fs::remove_file(&artifact) }
            .unwrap_or_else(|e| panic!("{what}: {e}"));
    }
    // A socket, and a whole directory that is a link.
    let socket = std::os::unix::net::UnixListener::bind(&artifact).unwrap();
    refused(&mut client, &ask);
    drop(socket);
    let away = world.path("side/away");
    fs::create_dir(&away).unwrap();
    fs::write(away.join("events.jsonl"), OUTSIDE).unwrap();
    fs::rename(&dir, dir.with_extension("aside")).unwrap();
    symlink(&away, &dir).unwrap();
    refused(&mut client, &json!({ "task_id": task, "artifact": "events.jsonl" }));
    let captures = world.path("state/captures");
    symlink(&away, &captures).unwrap();
    fs::write(away.join("tool-x-0.txt"), OUTSIDE).unwrap();
    refused(&mut client, &json!({ "file_path": "captures/tool-x-0.txt" }));
}

#[test]
fn a_link_that_is_swapped_ten_thousand_times_shows_nothing_of_what_it_leads_to() {
    let world = World::new();
    let (task, dir) = run(&world);
    let mut client = world.client();
    let (artifact, secret) = (dir.join("stdout.log"), world.path("side/secret"));
    fs::write(&secret, OUTSIDE).unwrap();
    let (own, link) = (dir.join("own"), dir.join("link"));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..10_000 {
                fs::write(&own, "inside").unwrap();
                fs::rename(&own, &artifact).unwrap();
                symlink(&secret, &link).unwrap();
                fs::rename(&link, &artifact).unwrap();
            }
            done.store(true, Ordering::Release);
        });
        let (mut shown, mut refused) = (0, 0);
        while !done.load(Ordering::Acquire) {
            let reply = client.call("inspect_output", json!({ "task_id": task, "artifact": "stdout.log" }));
            let said = reply.text + &reply.structured.to_string();
            assert!(!said.contains(OUTSIDE), "{said}");
            if reply.is_error { refused += 1 } else { shown += 1 }
        }
        assert!(shown > 0 && refused > 0, "{shown} shown, {refused} refused");
    });
}
