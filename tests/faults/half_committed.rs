//! A submitter that is killed when its row is in the log, and nobody has been
//! told of it yet: SQLite syncs the log in between. Whoever reads the log anew
//! finds the row.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use rusqlite::config::DbConfig;

use crate::crash::crash;
use crate::phase::{Phase, under};
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, wait_for};
use crate::support::strace::{self, Point};
use crate::support::{checker, kill};

#[test]
fn a_row_that_nobody_could_see_never_comes_back_without_its_directory() {
    let phase = Phase::new();
    let task = playing(&phase.env, "short", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", "--json", &task];
    // The first one of all makes the registry as well.
    phase.submit(&task);
    let in_the_log = |text: &str| text.contains("registry.db-wal");
    let points = phase.points(&args);
    let point = points.iter().find(|point| point.call == "fsync" && in_the_log(&point.text)).unwrap();
    assert_eq!(point.place.process, 0, "{point}");
    for _ in 0..3 {
        wait_for("everybody to be at rest", PATIENCE, || {
            let over = phase.rows().iter().all(|row| row.is_final());
            (over && kill::supervisors(phase.env.home()).is_empty()).then_some(())
        });
        // While somebody has the registry open, nobody reads the log anew.
        let somebody = rusqlite::Connection::open(phase.env.registry()).unwrap();
        somebody.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        let count =
            || somebody.query_row("SELECT count(*) FROM tasks", [], |row| row.get::<_, i64>(0)).unwrap();
        let before = count();
        let crash = crash(&phase, point, |tracer| phase.env.command_under(tracer, &args));
        assert!(crash.at.is_some_and(|at| in_the_log(&at.text)), "it was struck elsewhere");
        assert_eq!(count(), before, "it was told of");
        // Takes away the directory of a submission that was never made.
        phase.env.expect(0, &["status"]);
        // As whoever comes next sees it when nobody has the registry open any more.
        let anew = phase.env.side().join("registry.db");
        for suffix in ["", "-wal"] {
            let name = |path: &Path| format!("{}{suffix}", path.display());
            fs::copy(name(&phase.env.registry()), name(&anew)).unwrap();
        }
        for row in checker::rows(&anew).unwrap() {
            let request = phase.env.run_dir(&row.run_id).join("request.json");
            assert!(request.exists(), "it came back without its directory: {row:?}");
        }
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", anew.display()));
        }
    }
    phase.close("half committed");
}

/// The same where the disk fails: the row is in the log, and the submitter is
/// told that it is not.
#[test]
fn a_row_whose_commit_failed_never_comes_back() {
    let phase = Phase::new();
    let task = playing(&phase.env, "short", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", "--json", &task];
    phase.submit(&task);
    let points = phase.points(&args);
    let is_of_the_log = |point: &&Point| point.call == "fsync" && point.text.contains("registry.db-wal");
    let point = points.iter().find(is_of_the_log).unwrap();
    wait_for("everybody to be at rest", PATIENCE, || {
        let over = phase.rows().iter().all(|row| row.is_final());
        (over && kill::supervisors(phase.env.home()).is_empty()).then_some(())
    });
    let ran = under(&strace::failing(point), |tracer| phase.env.command_under(tracer, &args));
    assert_eq!(ran.code, Some(6), "{}{}", ran.stdout, ran.stderr);
    phase.faults.fetch_add(1, Ordering::Relaxed);
    // Nobody has it open: the log is read anew.
    phase.env.expect(0, &["status"]);
    assert_eq!(phase.rows().len(), 2);
    assert_eq!(fs::read_dir(phase.env.home().join("runs")).unwrap().count(), 2);
    assert_eq!(fs::read_dir(phase.env.home().join("unsettled")).unwrap().count(), 0);
    phase.close("a commit that failed");
}

/// A log whose name is lost with the power takes every row in it along.
#[test]
fn the_name_of_the_log_is_on_disk_before_the_first_id_is_given_and_is_synced_once() {
    let phase = Phase::new();
    let task = playing(&phase.env, "short", &["say one", "exit 0"]);
    let home = format!("<{}>)", phase.env.home().display());
    let synced = || {
        let calls = phase.calls(&["run", "--agent", "command", "--json", &task]);
        let place = |call: &str, text: &str| {
            calls.iter().position(|point| point.call.starts_with(call) && point.text.contains(text))
        };
        assert!(place("fsync", "registry.db-wal") < place("write", "write(1<"));
        place("fsync", &home).map(|at| Some(at) < place("write", "write(1<"))
    };
    assert_eq!(synced(), Some(true), "the first one makes the log");
    assert_eq!(synced(), None);
    // Whoever dies before leaves it to the next.
    let other = Phase::new();
    let task = playing(&other.env, "short", &["say one", "exit 0"]);
    let args = ["run", "--agent", "command", "--json", &task];
    let home = format!("<{}>)", other.env.home().display());
    let is_it = |point: &&Point| point.call == "fsync" && point.text.contains(&home);
    let scratch = Phase::new();
    let there = format!("<{}>)", scratch.env.home().display());
    let points = scratch.points(&["run", "--agent", "command", "--json", &task]);
    let point = points.iter().find(|point| point.call == "fsync" && point.text.contains(&there)).unwrap();
    let crash = crash(&other, point, |tracer| other.env.command_under(tracer, &args));
    assert!(crash.at.as_ref().is_some_and(|at| is_it(&at)), "it was struck elsewhere");
    assert!(other.calls(&args).iter().any(|point| is_it(&point)));
    for phase in [phase, other, scratch] {
        phase.close("the name of the log");
    }
}
