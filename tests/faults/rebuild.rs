//! The registry is an index: lost or damaged, it is made again from the runs.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{Submitted, wait_for};

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
