//! The registry's file beside other programs: somebody looks into it with a tool of their own, copies it, or removes a part
//! of it while servers, waiters and supervisors have it open. Nothing that was acknowledged is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::client::{Client, Era};
use crate::support::env::{PATIENCE, TestEnv, finish, wait_for};
use crate::support::kill;

const COUNT: &str = "select count(*) from tasks";

/// How somebody else counts the rows of a database.
const READERS: [(&str, &[&str]); 2] = [
    ("sqlite3", &[]),
    (
        "python3",
        &[
            "-c",
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); print(c.execute(sys.argv[2]).fetchone()[0])",
        ],
    ),
];

/// What somebody else's program finds in the database: a number.
#[track_caller]
fn ask(reader: (&str, &[&str]), database: &Path, query: &str) -> usize {
    let mut command = Command::new(reader.0);
    command.args(reader.1).arg(database).arg(query);
    let ran = finish(command, PATIENCE);
    assert_eq!(ran.code, Some(0), "{}: {}", reader.0, ran.stderr);
    ran.stdout.trim().parse().unwrap_or_else(|_| panic!("{}: {}", reader.0, ran.stdout))
}

fn count(env: &TestEnv) -> usize {
    ask(READERS[0], &env.registry(), COUNT)
}

/// A run that goes on until `end`, and somebody at a shell who waits for it.
struct Waited {
    task: String,
    go: std::path::PathBuf,
    waiter: Child,
}

impl Waited {
    fn begin(env: &TestEnv) -> Waited {
        let go = env.side().join("go");
        let task = env.submit(&format!("while ! [ -e {} ]; do sleep 0.02; done", go.display())).task_id;
        let mut waiter = env.command(&["wait", &task]);
        let waiter = waiter.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pid = i32::try_from(waiter.id()).unwrap();
        wait_for("the waiter to open it", PATIENCE, || holds_a_lock(pid, &env.registry()).then_some(()));
        Waited { task, go, waiter }
    }

    fn end(mut self, env: &TestEnv) {
        fs::write(&self.go, "").unwrap();
        let ended = wait_for("the waiter to end", PATIENCE, || self.waiter.try_wait().unwrap());
        assert_eq!(ended.code(), Some(0));
        assert_eq!(env.await_final(&self.task), "completed");
    }
}

/// Whether `pid` holds a lock of the kind that SQLite takes on this file.
fn holds_a_lock(pid: i32, file: &Path) -> bool {
    let inode = format!(":{}", fs::metadata(file).unwrap().ino());
    let locks = fs::read_to_string("/proc/locks").unwrap();
    locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).any(|line| {
        line.contains(&"POSIX")
            && line.contains(&pid.to_string().as_str())
            && line.iter().any(|at| at.ends_with(&inode))
    })
}

/// Everything acknowledged is in the registry, has its directory and ends.
#[track_caller]
fn all_are_there(env: &TestEnv, tasks: &[String]) {
    for task in tasks {
        assert_eq!(env.await_final(task), "completed");
        env.expect(0, &["status", task]);
    }
    assert_eq!(count(env), tasks.len());
    assert_eq!(database(env), ("ok".to_owned(), format!("{} tasks", tasks.len())));
}

/// What `doctor` says of the database, up to the first comma.
fn database(env: &TestEnv) -> (String, String) {
    let document = env.json(&["doctor", "--json"]);
    let checks = document["data"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "database").unwrap();
    let text = |name: &str| check[name].as_str().unwrap().to_owned();
    (text("verdict"), text("found").split(',').next().unwrap().to_owned())
}

#[test]
fn a_reader_of_the_database_takes_nothing_from_a_server_a_waiter_or_a_supervisor() {
    for reader in READERS {
        let env = TestEnv::new();
        let mut client = Client::new(&env, Era::Session);
        let mut tasks = vec![client.replay("quick --instant")];
        env.await_final(&tasks[0]);
        let waited = Waited::begin(&env);
        tasks.push(waited.task.clone());
        assert_eq!(ask(reader, &env.registry(), COUNT), 2);
        for _ in 0..5 {
            tasks.push(client.replay("quick --instant"));
        }
        waited.end(&env);
        assert_eq!(ask(reader, &env.registry(), COUNT), 7, "{}", reader.0);
        all_are_there(&env, &tasks);
    }
}

/// Without a waiter at the shell, which would hold the file open by itself.
#[test]
fn a_reader_of_the_database_takes_nothing_from_a_lone_server() {
    for reader in READERS {
        let env = TestEnv::new();
        let mut client = Client::new(&env, Era::Session);
        let first = client.replay("quick --instant");
        client.call("delegate_wait", json!({ "task_id": first })).unwrap();
        assert_eq!(ask(reader, &env.registry(), COUNT), 1);
        let mut tasks = vec![first];
        for _ in 0..5 {
            tasks.push(client.replay("quick --instant"));
        }
        for task in &tasks {
            let waited = client.call("delegate_wait", json!({ "task_id": task })).unwrap();
            assert_eq!(waited["data"]["state"], "completed", "{waited}");
        }
        client.leave();
        all_are_there(&env, &tasks);
    }
}

#[test]
fn a_server_holds_its_lock_on_the_database_whatever_it_is_asked() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let task = client.replay("quick --instant");
    let pid = client.pid();
    for (tool, arguments) in [
        ("delegate_status", json!({})),
        ("delegate_wait", json!({ "task_id": task })),
        ("delegate_results", json!({ "task_id": task })),
        ("inspect_output", json!({ "task_id": task, "artifact": "events.jsonl" })),
        (
            "delegate_run",
            json!({ "task": "quick --instant", "options": { "agent": "replay", "dedupe": false } }),
        ),
        ("delegate_cancel", json!({ "task_id": task })),
    ] {
        let _ = client.call(tool, arguments);
        assert!(holds_a_lock(pid, &env.registry()), "after {tool}");
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for name in ["registry.db", "registry.db-wal", "registry.db-shm"] {
        assert_eq!(mode(&env.home().join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_copy_of_a_live_home_opens() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let tasks: Vec<String> = (0..3).map(|_| client.replay("quick --instant")).collect();
    for task in &tasks {
        client.call("delegate_wait", json!({ "task_id": task })).unwrap();
    }
    let copy = env.root().join("copy");
    let copied = Command::new("cp").arg("-a").arg(env.home()).arg(&copy).status().unwrap();
    assert!(copied.success());
    let database = copy.join("registry.db");
    for reader in READERS {
        assert_eq!(ask(reader, &database, COUNT), 3);
        assert_eq!(
            ask(
                reader,
                &database,
                "select count(*) from pragma_integrity_check where integrity_check = 'ok'"
            ),
            1
        );
    }
    let mut doctor = env.command(&["doctor", "--json"]);
    let ran = finish(
        {
            doctor.env("DELEGATOR_HOME", &copy);
            doctor
        },
        PATIENCE,
    );
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(
        found["data"]["checks"].as_array().unwrap().iter().any(|check| {
            check["name"] == "database" && check["found"].as_str().unwrap().starts_with("3 tasks")
        }),
        "{found:#}"
    );
}

/// Removes files of the database while a server and a waiter have it open.
#[track_caller]
fn check_removal(names: &[&str], beside: bool) {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let mut tasks: Vec<String> = (0..3).map(|_| client.replay("quick --instant")).collect();
    for task in &tasks {
        client.call("delegate_wait", json!({ "task_id": task })).unwrap();
    }
    let waited = Waited::begin(&env);
    tasks.push(waited.task.clone());
    for name in names {
        fs::remove_file(env.home().join(name)).unwrap();
    }
    if beside {
        // Somebody else has a look before the server does.
        let _ = finish(
            {
                let mut command = Command::new("sqlite3");
                command.arg(env.registry()).arg(COUNT);
                command
            },
            PATIENCE,
        );
    }
    let options = json!({ "agent": "replay", "dedupe": false });
    let acknowledged =
        client.call("delegate_run", json!({ "task": "quick --instant", "options": options })).unwrap();
    assert!(
        acknowledged.to_string().contains("removed or replaced"),
        "{names:?}: it says nothing: {acknowledged}"
    );
    tasks.push(acknowledged["task_id"].as_str().unwrap().to_owned());
    for _ in 0..4 {
        tasks.push(client.replay("quick --instant"));
        tasks.push(env.submit("true").task_id);
    }
    waited.end(&env);
    for task in &tasks {
        let waited = client.call("delegate_wait", json!({ "task_id": task })).unwrap();
        assert_eq!(waited["data"]["state"], "completed", "{names:?}: {waited}");
    }
    all_are_there(&env, &tasks);
}

const DATABASE: &str = "registry.db";
const LOG: &str = "registry.db-wal";
const INDEX: &str = "registry.db-shm";

#[test]
fn a_log_and_its_index_removed_under_a_server_take_nothing_along() {
    check_removal(&[LOG, INDEX], false);
    check_removal(&[LOG, INDEX], true);
}

#[test]
fn a_log_removed_under_a_server_takes_nothing_along() {
    check_removal(&[LOG], false);
}

#[test]
fn a_database_removed_under_a_server_takes_nothing_along() {
    check_removal(&[DATABASE], false);
    check_removal(&[DATABASE, LOG, INDEX], false);
}

/// An old copy in the place of the database, as from a backup.
#[test]
fn a_database_replaced_under_a_server_takes_nothing_along() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let mut tasks = vec![client.replay("quick --instant")];
    client.call("delegate_wait", json!({ "task_id": tasks[0] })).unwrap();
    let old = env.home().join("old.db");
    let made = Command::new("sqlite3")
        .arg(env.registry())
        .arg(format!("vacuum into '{}'", old.display()))
        .status()
        .unwrap();
    assert!(made.success());
    for _ in 0..3 {
        tasks.push(client.replay("quick --instant"));
        client.call("delegate_wait", json!({ "task_id": tasks.last().unwrap() })).unwrap();
    }
    fs::rename(&old, env.registry()).unwrap();
    let status = client.call("delegate_status", json!({})).unwrap();
    assert!(status["meta"]["notice"].as_str().unwrap().contains("removed or replaced"), "{status:#}");
    tasks.push(client.replay("quick --instant"));
    all_are_there(&env, &tasks);
    assert!(kill::alive(client.pid()));
}

/// A repeated request and one that is refused, each the first thing asked after the database is gone.
#[test]
fn a_repeated_request_tells_of_a_removed_database_and_a_refused_one_leaves_it_to_the_next() {
    let env = TestEnv::new();
    let mut client = Client::new(&env, Era::Session);
    let mut ask = |task: &str| {
        let options = json!({ "agent": "replay", "idempotency_key": "once" });
        client.call("delegate_run", json!({ "task": task, "options": options }))
    };
    let first = ask("quick --instant").unwrap();
    let task = first["task_id"].as_str().unwrap();
    env.await_final(task);

    fs::remove_file(env.registry()).unwrap();
    let repeated = ask("quick --instant").unwrap();
    assert_eq!(repeated["task_id"], task);
    assert!(repeated.to_string().contains("removed or replaced"), "{repeated}");

    fs::remove_file(env.registry()).unwrap();
    let refused = ask("fails --instant").unwrap_err();
    assert!(refused.contains("another request"), "{refused}");
    let next = ask("quick --instant").unwrap();
    assert!(next.to_string().contains("removed or replaced"), "{next}");
}
