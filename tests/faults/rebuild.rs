//! The registry is an index: lost or damaged, it is made again from the runs.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::config::DbConfig;
use serde_json::Value;

use crate::crash::crash;
use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{Submitted, acknowledged, wait_for};

/// A home with one task in each stage, and the file that lets the running one go on.
struct Stages {
    phase: Phase,
    finished: Submitted,
    failed: Submitted,
    cancelled: Submitted,
    running: Submitted,
    waiting: Submitted,
    go: PathBuf,
}

fn stages() -> Stages {
    let phase = Phase::new();
    let go = phase.env.work().join("go");
    let finished = phase.submit(&playing(&phase.env, "good", &["say one", "exit 0"]));
    let failed = phase.submit(&playing(&phase.env, "bad", &["say one", "exit 3"]));
    phase.settle();
    phase.limit(1);
    let running = phase.submit(&playing(
        &phase.env,
        "held",
        &["say one", &format!("await {}", go.display()), "say two", "exit 0"],
    ));
    let starts = phase.env.side().join(format!("{}.starts", running.run_id));
    wait_for("the agent to start", Duration::from_secs(20), || starts.exists().then_some(()));
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let (cancelled, waiting) = (phase.submit(&brief), phase.submit(&brief));
    phase.env.run(&["cancel", &cancelled.task_id]);
    phase.env.await_final(&cancelled.task_id);
    Stages { phase, finished, failed, cancelled, running, waiting, go }
}

impl Stages {
    /// Everybody is where they were, and the rest of the way is open.
    fn check(self, what: &str) {
        let Stages { phase, finished, failed, cancelled, running, waiting, go } = self;
        let state = |task: &Submitted| phase.row(task).state;
        assert_eq!(state(&finished), "completed");
        assert_eq!(state(&failed), "failed");
        assert_eq!(state(&cancelled), "cancelled");
        assert_eq!(state(&running), "working");
        assert_eq!(state(&waiting), "pending");
        fs::write(go, "").unwrap();
        assert_eq!(phase.env.await_final(&running.task_id), "completed");
        // Whoever finished the run has started the next one.
        assert_eq!(phase.env.await_final(&waiting.task_id), "completed");
        phase.faults.fetch_add(1, Ordering::Relaxed);
        phase.close(what);
    }

    fn forget(&self, names: &[&str]) {
        for name in names {
            let _ = fs::remove_file(self.phase.env.home().join(name));
        }
    }
}

#[test]
fn a_deleted_registry_is_made_again_by_the_next_command() {
    let stages = stages();
    stages.forget(&["registry.db", "registry.db-wal", "registry.db-shm"]);
    stages.phase.env.expect(0, &["status", "--all"]);
    stages.check("deleted registry");
}

#[test]
fn a_registry_deleted_without_its_log_is_made_again_by_the_next_command() {
    let stages = stages();
    stages.forget(&["registry.db"]);
    stages.phase.env.expect(0, &["status", "--all"]);
    stages.check("deleted registry, log left");
}

#[test]
fn a_registry_deleted_under_a_run_is_made_again_by_its_supervisor() {
    let stages = stages();
    stages.forget(&["registry.db", "registry.db-wal", "registry.db-shm"]);
    fs::write(&stages.go, "").unwrap();
    let Stages { phase, running, waiting, .. } = stages;
    assert_eq!(phase.env.await_final(&running.task_id), "completed");
    assert_eq!(phase.env.await_final(&waiting.task_id), "completed");
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("registry deleted under a run");
}

/// Damages the one file the registry then consists of.
fn check_damage(what: &str, damage: impl Fn(&mut Vec<u8>)) {
    let stages = stages();
    let path = stages.phase.env.registry();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "wal_checkpoint", "truncate").unwrap();
    drop(connection);
    stages.forget(&["registry.db-wal", "registry.db-shm"]);
    let mut bytes = fs::read(&path).unwrap();
    damage(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    for args in [
        &["status", "--all"][..],
        &["run", "--agent", "command", "true"],
        &["cancel", &stages.running.task_id],
    ] {
        let ran = stages.phase.env.expect(6, args);
        assert!(ran.stderr.contains("delegator doctor --rebuild"), "{what}: {args:?}: {}", ran.stderr);
    }
    let ran = stages.phase.env.run(&["doctor", "--rebuild"]);
    assert!(matches!(ran.code, Some(0)), "{what}: {}{}", ran.stdout, ran.stderr);
    stages.check(what);
}

#[test]
fn a_registry_that_is_no_database_is_told_and_rebuilt_on_demand() {
    check_damage("no database", |bytes| bytes[..64].fill(0xa5));
}

#[test]
fn a_registry_with_damaged_pages_is_told_and_rebuilt_on_demand() {
    check_damage("damaged pages", |bytes| bytes[4096..].fill(0xa5));
}

#[test]
fn a_registry_that_was_cut_off_is_told_and_rebuilt_on_demand() {
    check_damage("cut off", |bytes| bytes.truncate(4096 + 100));
}

/// What `doctor` says of the database.
fn database(phase: &Phase, code: i32) -> (String, String) {
    let ran = phase.env.expect(code, &["doctor", "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let checks = document["data"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "database").unwrap();
    let text = |name: &str| check[name].as_str().unwrap().to_owned();
    (text("verdict"), text("found"))
}

/// Everything that the registry has of these tasks.
fn whole_rows(phase: &Phase, tasks: &[&Submitted]) -> Vec<Vec<rusqlite::types::Value>> {
    let connection = rusqlite::Connection::open(phase.env.registry()).unwrap();
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    let mut statement = connection.prepare("SELECT * FROM tasks WHERE id = ?1").unwrap();
    let columns = statement.column_count();
    let mut row = |task: &&Submitted| {
        let read = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        statement.query_row([&task.task_id], read).unwrap()
    };
    tasks.iter().map(&mut row).collect()
}

#[test]
fn doctor_compares_both_sides_and_rebuild_mends_them_and_touches_nothing_else() {
    let stages = stages();
    let Stages { phase, finished, failed, cancelled, running, waiting, .. } = &stages;
    let brief = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let (deleted, deleted_waiting) = (finished, phase.env.submit(&brief));
    assert_eq!(database(phase, 0).0, "ok");
    let connection = rusqlite::Connection::open(phase.env.registry()).unwrap();
    // One that leaves the log where it is: without it, whoever comes next completes the registry.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    for forgotten in [failed, waiting] {
        let delete = "DELETE FROM tasks WHERE id = ?1";
        assert_eq!(connection.execute(delete, [&forgotten.task_id]).unwrap(), 1);
    }
    drop(connection);
    for task in [deleted, &deleted_waiting] {
        fs::remove_dir_all(phase.env.run_dir(&task.run_id)).unwrap();
    }
    let (verdict, found) = database(phase, 6);
    assert_eq!(verdict, "bad");
    assert!(found.contains("2 runs without a row, 2 rows without a run directory"), "{found}");
    let untouched = [cancelled, running];
    let before = whole_rows(phase, &untouched);
    let told = phase.env.expect(0, &["doctor", "--rebuild"]).stdout;
    for part in [
        "restored 2 runs without a row",
        "marked 1 open task without a run directory as failed",
        "removed 1 finished task without a run directory",
        "the registry now has 5 tasks",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert_eq!(whole_rows(phase, &untouched), before);
    let state = |task: &Submitted| (phase.row(task).state, phase.row(task).code);
    assert_eq!(state(failed).0, "failed");
    assert_eq!(state(waiting).0, "pending");
    assert_eq!(state(&deleted_waiting), ("failed".into(), Some("LOST".into())));
    phase.env.expect(3, &["status", &deleted.task_id]);
    assert_eq!(database(phase, 0).0, "ok");
    let nothing = phase.env.run(&["doctor", "--rebuild"]);
    assert!(nothing.stderr.contains("nothing to rebuild"), "{}{}", nothing.stdout, nothing.stderr);
    fs::write(&stages.go, "").unwrap();
    for task in [running, waiting] {
        assert_eq!(phase.env.await_final(&task.task_id), "completed");
    }
}

/// The first submitter dies somewhere, the client tries again, and then the registry is lost.
#[test]
fn a_rebuild_keeps_the_acknowledged_run_of_a_key_whose_first_submitter_died() {
    let phase = Phase::new();
    phase.limit(100);
    let go = |number: usize| phase.env.work().join(format!("go-{number}"));
    let waiting = |number: usize| format!("while ! [ -e {} ]; do sleep 0.02; done", go(number).display());
    fs::write(go(0), "").unwrap();
    let task = waiting(0);
    phase.submit("true");
    let points = phase.points(&["run", "--agent", "command", "--json", "--key", "first", &task]);
    let at = |text: &str| points.iter().rposition(|point| point.text.contains(text)).unwrap();
    let from = points.iter().position(|point| point.text.contains("/unsettled")).unwrap();
    let to = at("write(1<").min(points.len() - 1);
    let mut kept = 0;
    for (number, point) in points.iter().enumerate().take(to + 1).skip(from).step_by(3) {
        if point.place.process != 0 {
            continue;
        }
        let (key, task) = (format!("key-{number}"), waiting(number));
        let args = ["run", "--agent", "command", "--json", "--key", &key, &task];
        let died = crash(&phase, point, |tracer| phase.env.command_under(tracer, &args));
        let told = acknowledged(&died.ran.stdout);
        let again = acknowledged(&phase.env.expect(0, &args).stdout).unwrap();
        assert!(told.is_none_or(|told| told == again), "{point}");
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", phase.env.registry().display()));
        }
        phase.env.expect(0, &["status", &again.task_id]);
        let rows = phase.rows();
        assert!(
            rows.iter().any(|row| row.id == again.task_id && row.state == "working"),
            "{point}: {rows:?}"
        );
        // And it is the one that the key means.
        let third = acknowledged(&phase.env.expect(0, &args).stdout).unwrap();
        assert_eq!(third, again, "{point}");
        fs::write(go(number), "").unwrap();
        kept += 1;
    }
    println!("rebuilds after a submitter died: kept={kept}");
    assert!(kept > 20, "{kept}");
    for row in phase.rows() {
        let told = || phase.env.run(&["results", &row.id]).stdout;
        assert_eq!(phase.env.await_final(&row.id), "completed", "{}", told());
    }
}

/// Whoever closes another descriptor of it drops the locks of the whole process.
#[test]
fn the_database_is_opened_by_sqlite_alone() {
    let phase = Phase::new();
    phase.submit("true");
    let mut opened = 0;
    for args in [
        &["run", "--agent", "command", "--json", "--wait", "true"][..],
        &["status", "--all"],
        &["doctor"],
        &["cleanup"],
        &["doctor", "--rebuild"],
    ] {
        for call in phase.calls(args) {
            if call.call.starts_with("open") && call.text.contains("/registry.db") {
                // As SQLite opens a file, and nobody else of ours.
                assert!(call.text.contains("O_RDWR") && call.text.contains("O_NOFOLLOW"), "{args:?}: {call}");
                opened += 1;
            }
        }
    }
    assert!(opened >= 5 * 3, "{opened}");
}
