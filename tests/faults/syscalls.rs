//! A crash at every system call of submit, claim, finish, cancel and recovery.
//!
//! A traced run first tells which calls there are; then one run for each is
//! killed there. All runs of a phase share one home, so that damage adds up.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::claim::claim;
use crate::phase::Phase;
use crate::support::agent::playing;
use crate::support::env::{TestEnv, wait_for};
use crate::support::kill;
use crate::support::strace::Point;

const BRIEF: &[&str] = &["say one", "say two", "exit 0"];

/// A crash that did not happen is no test. Some calls come only when nobody
/// else has the registry open, so a few points are missed.
#[track_caller]
fn reckon(phase: Phase, what: &str, points: &[Point]) {
    let crashed = phase.faults.load(Ordering::Relaxed);
    let calls: BTreeSet<&str> = points.iter().map(|point| point.call.as_str()).collect();
    println!("{what}: points={}, crashed={crashed}, kinds of calls={}", points.len(), calls.len());
    assert!(crashed * 5 >= points.len() * 4, "only {crashed} of {} points were reached", points.len());
    phase.close(what);
}

#[test]
fn a_crash_at_any_call_of_a_submission_loses_nothing() {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", BRIEF);
    phase.submit(&task);
    let args = ["run", "--agent", "command", "--json", task.as_str()];
    let points = phase.points(&args);
    phase.at_each(&points, |point| {
        let ran = phase.crash(point, |tracer| phase.env.command_under(tracer, &args));
        phase.note(&ran.stdout);
    });
    reckon(phase, "submit", &points);
}

#[test]
fn a_crash_at_any_call_of_a_claim_loses_nothing() {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", BRIEF);
    let queue = |phase: &Phase| {
        if !phase.rows_if_any().iter().any(|row| row.state == "pending") {
            phase.limit(0);
            (0..20).for_each(|_| drop(phase.submit(&task)));
        }
        phase.limit(1);
    };
    queue(&phase);
    let points = phase.points(&["status"]);
    for point in &points {
        queue(&phase);
        // One free slot, so that a look at the state claims exactly one task.
        wait_for("a free slot", Duration::from_secs(20), || {
            let taken = phase.rows().iter().any(|row| row.state == "working");
            (!taken || kill::supervisors(phase.env.home()).is_empty()).then_some(())
        });
        phase.crash(point, |tracer| phase.env.command_under(tracer, &["status"]));
    }
    reckon(phase, "claim", &points);
}

#[test]
fn a_crash_at_any_call_of_a_supervisor_loses_nothing() {
    let phase = Phase::new();
    phase.limit(0);
    let task = playing(&phase.env, "brief", BRIEF);
    let first = claim(&phase, &phase.submit(&task));
    let (ran, points) = phase.points_of(|tracer| first.supervise(&phase, tracer));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    drop(first);
    phase.at_each(&points, |point| {
        let claimed = claim(&phase, &phase.submit(&task));
        phase.crash(point, |tracer| claimed.supervise(&phase, tracer));
    });
    reckon(phase, "supervise", &points);
}

#[test]
fn a_crash_at_any_call_of_a_cancel_of_a_running_task_loses_nothing() {
    let phase = Phase::new();
    phase.limit(64);
    let task = playing(&phase.env, "endless", &["say one", "hang"]);
    let run = || {
        let submitted = phase.submit(&task);
        let starts = phase.env.side().join(format!("{}.starts", submitted.run_id));
        wait_for("the agent to start", Duration::from_secs(20), || starts.exists().then_some(()));
        submitted
    };
    let points = phase.points(&["cancel", &run().task_id]);
    phase.at_each(&points, |point| {
        let submitted = run();
        phase.crash(point, |tracer| phase.env.command_under(tracer, &["cancel", &submitted.task_id]));
        // Whether or not the first one got through, the second one does.
        let ran = phase.env.run(&["cancel", &submitted.task_id]);
        assert!(matches!(ran.code, Some(0 | 5)), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(phase.env.await_final(&submitted.task_id), "cancelled");
    });
    reckon(phase, "cancel", &points);
}

#[test]
fn a_crash_at_any_call_of_a_cancel_of_a_waiting_task_loses_nothing() {
    let phase = Phase::new();
    phase.limit(0);
    let task = playing(&phase.env, "brief", BRIEF);
    let points = phase.points(&["cancel", &phase.submit(&task).task_id]);
    phase.at_each(&points, |point| {
        let submitted = phase.submit(&task);
        phase.crash(point, |tracer| phase.env.command_under(tracer, &["cancel", &submitted.task_id]));
    });
    reckon(phase, "cancel while waiting", &points);
}

#[test]
fn a_crash_at_any_call_of_a_recovery_loses_nothing() {
    let phase = Phase::new();
    let task = playing(&phase.env, "endless", &["say one", "spawn setsid", "say two", "hang"]);
    let lose_one = || {
        let submitted = phase.submit(&task);
        let printed = phase.env.side().join(format!("{}.stdout", submitted.run_id));
        wait_for("the agent to print", Duration::from_secs(20), || {
            std::fs::read(&printed).is_ok_and(|text| text == b"one\ntwo\n").then_some(())
        });
        let pid = kill::supervisor_of(&phase.env.run_dir(&submitted.run_id)).unwrap();
        kill::send(pid, libc::SIGKILL);
        wait_for("the supervisor to be gone", Duration::from_secs(5), || (!kill::alive(pid)).then_some(()));
    };
    lose_one();
    let mut points = phase.points(&["status"]);
    // Looking at every process there is takes thousands of calls, none of which
    // changes anything.
    points.retain(|point| !point.text.contains("/proc/") && point.call != "getpid");
    for point in &points {
        lose_one();
        phase.crash(point, |tracer| phase.env.command_under(tracer, &["status"]));
    }
    reckon(phase, "recovery", &points);
}

/// The first command of all makes the registry; here every crash has a home of
/// its own, since only the first command can.
#[test]
fn a_crash_while_the_registry_is_made_leaves_one_that_works() {
    let model = Phase::new();
    let points = model.points(&["status"]);
    let opened =
        points.iter().position(|point| point.text.contains("registry.db")).expect("the registry is opened");
    let crashed = AtomicUsize::new(0);
    model.at_each(&points[opened..], |point| {
        let phase = Phase::in_env(TestEnv::new());
        phase.crash(point, |tracer| phase.env.command_under(tracer, &["status"]));
        crashed.fetch_add(phase.faults.load(Ordering::Relaxed), Ordering::Relaxed);
        let submitted = phase.submit("true");
        assert_eq!(phase.env.await_final(&submitted.task_id), "completed", "after a crash at {point}");
    });
    let crashed = crashed.into_inner();
    println!("first command: points={}, crashed={crashed}", points.len() - opened);
    assert!(crashed * 5 >= (points.len() - opened) * 4, "only {crashed} points were reached");
}
