//! A disk that fills up, at each phase of a task's life.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;

use crate::claim::claim;
use crate::phase::{Phase, under};
use crate::small_disk::{self, SmallDisk};
use crate::support::agent::playing;
use crate::support::env::{PATIENCE, Ran, Submitted, TestEnv, wait_for};
use crate::support::strace::{self, Point};

const MIB: u64 = 1 << 20;

/// A phase whose home is on a disk of its own.
pub fn on_a_disk_of(size: u64) -> (SmallDisk, Phase) {
    let disk = SmallDisk::mount(size);
    let home = disk.root().join("state");
    (disk, Phase::in_env(TestEnv::with_home(home)))
}

fn result(phase: &Phase, task: &Submitted) -> Option<Value> {
    let path = phase.env.run_dir(&task.run_id).join("result.json");
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

#[track_caller]
fn refused(ran: &Ran) {
    assert_eq!(ran.code, Some(6), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.is_empty(), "{}", ran.stdout);
    let errors: Vec<&str> = ran.stderr.lines().filter(|line| !line.starts_with("hint:")).collect();
    assert_eq!(errors.len(), 1, "{}", ran.stderr);
    assert!(["free", "full", "space"].iter().any(|word| errors[0].contains(word)), "{}", ran.stderr);
}

#[test]
fn a_full_disk_refuses_a_submission_in_one_line() {
    if !small_disk::inside("full_disk::a_full_disk_refuses_a_submission_in_one_line") {
        return;
    }
    let (disk, phase) = on_a_disk_of(8 * MIB);
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let submit = || phase.env.run(&["run", "--agent", "command", &task]);
    disk.fill(0);
    let first = submit();
    assert_eq!(first.code, Some(6), "without a registry: {}{}", first.stdout, first.stderr);
    disk.free();
    phase.submit(&task);
    phase.settle();
    for leave in [0, 4 << 10, 64 << 10, MIB] {
        disk.fill(leave);
        refused(&submit());
        phase.faults.fetch_add(1, Ordering::Relaxed);
        let runs = fs::read_dir(phase.env.home().join("runs")).unwrap().count();
        assert_eq!(runs, phase.rows().len(), "a refused submission leaves nothing behind");
        disk.free();
        phase.submit(&task);
        phase.settle();
    }
    phase.close("disk full at submit");
}

#[test]
fn a_full_disk_at_the_claim_loses_nothing() {
    if !small_disk::inside("full_disk::a_full_disk_at_the_claim_loses_nothing") {
        return;
    }
    let (disk, phase) = on_a_disk_of(8 * MIB);
    phase.limit(0);
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    for leave in [0, 4 << 10, 16 << 10, 64 << 10, 256 << 10] {
        phase.limit(0);
        let submitted = phase.submit(&task);
        disk.fill(leave);
        phase.limit(1);
        let ran = phase.env.run(&["status"]);
        assert!(matches!(ran.code, Some(0 | 6)), "{}{}", ran.stdout, ran.stderr);
        phase.faults.fetch_add(1, Ordering::Relaxed);
        // Whoever was started has given up or is done.
        wait_for("supervisors to go", PATIENCE, || {
            crate::support::kill::supervisors(phase.env.home()).is_empty().then_some(())
        });
        disk.free();
        phase.settle();
        honest(&phase, &submitted);
    }
    phase.close("disk full at claim");
}

/// Done, or ended by the disk and saying so.
#[track_caller]
fn honest(phase: &Phase, task: &Submitted) {
    let row = phase.row(task);
    let told = (row.state.as_str(), row.code.as_deref());
    assert!(matches!(told, ("completed", None) | ("failed", Some("STORAGE"))), "{row:?}");
}

#[test]
fn output_that_does_not_fit_ends_the_run_with_the_reason() {
    if !small_disk::inside("full_disk::output_that_does_not_fit_ends_the_run_with_the_reason") {
        return;
    }
    let (_disk, phase) = on_a_disk_of(6 * MIB);
    let task = phase.submit(&playing(&phase.env, "flood", &["say one", "flood 20000000", "hang"]));
    // The disk stays full: the end of the run must be told all the same.
    let ran = phase.env.run(&["wait", &task.task_id]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.stdout, ran.stderr);
    let sealed = result(&phase, &task).expect("the reserve was kept for this");
    assert_eq!(sealed.pointer("/outcome/state").unwrap(), "failed");
    assert_eq!(sealed.pointer("/outcome/fault/code").unwrap(), "STORAGE");
    let reason = sealed.pointer("/outcome/fault/message").unwrap().as_str().unwrap().to_lowercase();
    assert!(["space", "full", "disk"].iter().any(|word| reason.contains(word)), "{reason}");
    phase.faults.fetch_add(1, Ordering::Relaxed);
    phase.close("disk full during output");
}

#[test]
fn a_disk_that_fills_up_during_a_run_does_not_keep_its_end_from_being_sealed() {
    if !small_disk::inside(
        "full_disk::a_disk_that_fills_up_during_a_run_does_not_keep_its_end_from_being_sealed",
    ) {
        return;
    }
    let (disk, phase) = on_a_disk_of(8 * MIB);
    for code in [0, 3] {
        let go = phase.env.work().join(format!("go-{code}"));
        let steps = ["say one", &format!("await {}", go.display()), &format!("exit {code}")];
        let task = phase.submit(&playing(&phase.env, "held", &steps));
        let started = phase.env.run_dir(&task.run_id).join("started.json");
        let printed = phase.env.run_dir(&task.run_id).join("stdout.log");
        wait_for("the agent's first line", PATIENCE, || {
            (started.exists() && fs::read(&printed).is_ok_and(|text| text == b"one\n")).then_some(())
        });
        disk.fill(0);
        fs::write(&go, "").unwrap();
        wait_for("the seal on a full disk", Duration::from_secs(20), || result(&phase, &task));
        phase.faults.fetch_add(1, Ordering::Relaxed);
        disk.free();
        phase.settle();
        let row = phase.row(&task);
        let expected = if code == 0 { "completed" } else { "failed" };
        assert_eq!(row.state, expected, "{row:?}");
    }
    phase.close("disk full at seal and finish");
}

/// The calls by which something reaches the disk.
fn writes(point: &&Point) -> bool {
    let plain =
        ["write", "pwrite64", "fsync", "fdatasync", "mkdir", "rename", "renameat2", "ftruncate", "fallocate"];
    let to_a_stream =
        point.call == "write" && ["write(1<", "write(2<"].iter().any(|start| point.text.starts_with(start));
    let creates = point.call == "openat" && point.text.contains("O_CREAT");
    (plain.contains(&point.call.as_str()) && !to_a_stream) || creates
}

#[test]
fn a_write_that_fails_anywhere_in_a_submission_is_told_and_loses_nothing() {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    phase.submit(&task);
    let args = ["run", "--agent", "command", "--json", task.as_str()];
    let points: Vec<Point> = phase.points(&args).iter().filter(writes).cloned().collect();
    let mut told = 0;
    for point in &points {
        let ran = under(&strace::failing(point), |tracer| phase.env.command_under(tracer, &args));
        phase.faults.fetch_add(1, Ordering::Relaxed);
        match ran.code {
            Some(0) => {
                assert!(phase.note(&ran.stdout).is_some(), "{point}: nothing acknowledged: {}", ran.stdout)
            }
            Some(6) => told += 1,
            _ => panic!("{point}: {:?}: {}{}", ran.code, ran.stdout, ran.stderr),
        }
    }
    println!("failed writes of a submission: points={}, told={told}", points.len());
    assert!(told > 5, "hardly a failure was noticed");
    phase.close("failed writes of a submission");
}

#[test]
fn a_write_that_fails_anywhere_in_a_supervisor_loses_nothing() {
    let phase = Phase::new();
    phase.limit(0);
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let first = claim(&phase, &phase.submit(&task));
    let (_, points) = phase.points_of(|tracer| first.supervise(&phase, tracer));
    drop(first);
    let points: Vec<Point> = points.iter().filter(writes).cloned().collect();
    let tasks: Vec<Submitted> = points.iter().map(|_| phase.submit(&task)).collect();
    for (point, submitted) in points.iter().zip(&tasks) {
        let claimed = claim(&phase, submitted);
        let ran = under(&strace::failing(point), |tracer| claimed.supervise(&phase, tracer));
        assert!(ran.code.is_some() && !ran.stderr.contains("panicked"), "{point}: {}", ran.stderr);
        phase.faults.fetch_add(1, Ordering::Relaxed);
    }
    println!("failed writes of a supervisor: points={}", points.len());
    phase.settle();
    tasks.iter().for_each(|task| honest(&phase, task));
    phase.close("failed writes of a supervisor");
}
