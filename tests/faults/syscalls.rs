//! A crash at every system call of submit, claim, finish and cancel, in every
//! process that takes part.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::claim::claim;
use crate::crash::{crash, with_each};
use crate::crash_at_each_syscall::{Deed, Run, TRIES};
use crate::phase::Phase;
use crate::sample::sample;
use crate::scene::Scene;
use crate::support::env::{Submitted, wait_for};
use crate::support::kill;
use crate::support::strace::Point;

/// Calls that also serve to look at every process there is. That takes
/// thousands of them, none of which changes anything, and their number is the
/// machine's: strace cannot tell which one comes after.
const LOOKING: [&str; 7] = ["close", "getdents64", "getpid", "newfstatat", "openat", "read", "statx"];

#[test]
fn a_crash_at_any_call_of_a_submission_loses_nothing() {
    let deed = Deed {
        what: "submit",
        // The run goes on until the submitter is dead: what it finds of it is
        // no matter of chance.
        scene: || Scene::new(64, &["say one", "await GO", "say two", "exit 0"]),
        at_once: 2,
        yields_after: Some("wait4"),
        act: |Scene { phase, task, .. }, run| {
            let args = ["run", "--agent", "command", "--json", task];
            let ran = run(&|tracer| phase.env.command_under(tracer, &args));
            phase.note(&ran.stdout);
        },
        is_of_interest: |_| true,
    };
    deed.crash_at_each_call();
}

#[test]
fn a_crash_at_any_call_of_a_claim_loses_nothing() {
    let deed = Deed {
        what: "claim",
        scene: || Scene::new(0, &["say one", "await GO", "say two", "exit 0"]),
        at_once: 1,
        yields_after: Some("wait4"),
        act: claim_one,
        is_of_interest: |_| true,
    };
    deed.crash_at_each_call();
}

/// Three wait and one may run: who looks claims exactly one.
fn claim_one(Scene { phase, task, .. }: &Scene, run: Run<'_>) {
    let rows_that_are = |state: &str| phase.rows().iter().filter(|row| row.state == state).count();
    wait_for("everybody to be at rest", Duration::from_secs(20), || {
        let at_rest = rows_that_are("working") == 0 && kill::supervisors(phase.env.home()).is_empty();
        if !at_rest {
            phase.env.expect(0, &["status"]);
        }
        at_rest.then_some(())
    });
    (rows_that_are("pending")..3).for_each(|_| drop(phase.submit(task)));
    phase.limit(1);
    run(&|tracer| phase.env.command_under(tracer, &["status"]));
    // Whoever ends next starts no other.
    phase.limit(0);
}

#[test]
fn a_crash_at_any_call_of_a_supervisor_loses_nothing() {
    let deed = Deed {
        what: "supervise",
        scene: || Scene::new(0, &["say one", "say two", "exit 0"]),
        at_once: 2,
        yields_after: None,
        act: |Scene { phase, task, .. }, run| {
            let claimed = claim(phase, &phase.submit(task));
            run(&|tracer| claimed.supervise(phase, tracer));
        },
        is_of_interest: |_| true,
    };
    deed.crash_at_each_call();
}

#[test]
fn a_crash_at_any_call_of_a_cancel_of_a_running_task_loses_nothing() {
    let deed = Deed {
        what: "cancel",
        scene: || Scene::new(64, &["say one", "hang"]),
        at_once: 2,
        yields_after: Some("sendto"),
        act: cancel_a_running_one,
        is_of_interest: |_| true,
    };
    deed.crash_at_each_call();
}

/// How often it looks, and what it finds each time, is left to chance; that it
/// looks is not.
#[test]
fn a_crash_at_any_call_by_which_a_cancel_waits_loses_nothing() {
    let deed = Deed {
        what: "cancel that waits",
        scene: || {
            let mut scene = Scene::new(64, &["say one", "hang"]);
            // The agent's shell outlives it for a moment, so that there is
            // something to wait for.
            scene.task = format!("trap 'sleep 0.3' TERM; {}", scene.task.trim_start_matches("exec "));
            scene
        },
        at_once: 2,
        yields_after: None,
        act: cancel_a_running_one,
        is_of_interest: |point| match point.call.as_str() {
            "clock_nanosleep" | "ppoll" => point.nth == 1,
            call => call.starts_with("inotify"),
        },
    };
    deed.crash_at_each_call();
}

fn cancel_a_running_one(Scene { phase, task, .. }: &Scene, run: Run<'_>) {
    let submitted = started(phase, task);
    let cancel = ["cancel", submitted.task_id.as_str()];
    run(&|tracer| phase.env.command_under(tracer, &cancel));
    // Whether or not the first one got through, the second one does.
    let ran = phase.env.run(&cancel);
    assert!(matches!(ran.code, Some(0 | 5)), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(phase.env.await_final(&submitted.task_id), "cancelled");
}

fn started(phase: &Phase, task: &str) -> Submitted {
    let submitted = phase.submit(task);
    let starts = phase.env.side().join(format!("{}.starts", submitted.run_id));
    wait_for("the agent to start", Duration::from_secs(20), || starts.exists().then_some(()));
    submitted
}

#[test]
fn a_crash_at_any_call_of_a_cancel_of_a_waiting_task_loses_nothing() {
    let deed = Deed {
        what: "cancel while waiting",
        scene: || Scene::new(0, &["say one", "exit 0"]),
        at_once: 2,
        yields_after: None,
        act: |Scene { phase, task, .. }, run| {
            let submitted = phase.submit(task);
            run(&|tracer| phase.env.command_under(tracer, &["cancel", &submitted.task_id]));
        },
        is_of_interest: |_| true,
    };
    deed.crash_at_each_call();
}

#[test]
fn a_crash_at_any_call_of_a_recovery_loses_nothing() {
    let deed = Deed {
        what: "recovery",
        scene: || Scene::new(4, &["say one", "spawn setsid", "say two", "hang"]),
        at_once: 1,
        yields_after: None,
        act: |Scene { phase, task, .. }, run| {
            lose(phase, task);
            run(&|tracer| phase.env.command_under(tracer, &["status"]));
        },
        is_of_interest: |point| !LOOKING.contains(&point.call.as_str()),
    };
    deed.crash_at_each_call();
}

fn lose(phase: &Phase, task: &str) {
    let submitted = phase.submit(task);
    let printed = phase.env.side().join(format!("{}.stdout", submitted.run_id));
    wait_for("the agent to print", Duration::from_secs(20), || {
        std::fs::read(&printed).is_ok_and(|text| text == b"one\ntwo\n").then_some(())
    });
    let pid = kill::supervisor_of(&phase.env.run_dir(&submitted.run_id)).unwrap();
    kill::send(pid, libc::SIGKILL);
    wait_for("the supervisor to be gone", Duration::from_secs(5), || (!kill::alive(pid)).then_some(()));
}

/// What a first command does from the registry on, as it mostly does: who began in the same tick as its
/// parent looks once more whether that is still its parent.
fn calls_of_a_first_command() -> Vec<Point> {
    let mut seen: Vec<(usize, Vec<Point>)> = Vec::new();
    for _ in 0..7 {
        let mut points = Phase::new().calls(&["status"]);
        let opened = points
            .iter()
            .position(|point| point.text.contains("registry.db"))
            .expect("the registry is opened");
        points.drain(..opened);
        points.retain(|point| !point.text.contains("/proc/") && point.call != "brk");
        let times = |points: &[Point]| points.iter().map(|point| point.nth).collect::<Vec<_>>();
        match seen.iter_mut().find(|(_, known)| times(known) == times(&points)) {
            Some((often, _)) => *often += 1,
            None => seen.push((1, points)),
        }
    }
    seen.into_iter().max_by_key(|(often, _)| *often).expect("it ran").1
}

/// The first command of all makes the registry; here every crash has a home of
/// its own, since only the first command can. Looking who is above it comes in
/// between, and asking for memory whenever names were long; neither changes anything.
#[test]
fn a_crash_while_the_registry_is_made_leaves_one_that_works() {
    let mut points = calls_of_a_first_command();
    sample(&mut points);
    let points: Vec<&Point> = points.iter().collect();
    let crashed = AtomicUsize::new(0);
    with_each(&points, 2, |point| {
        let reached = (0..TRIES).any(|_| {
            let phase = Phase::new();
            let crash = crash(&phase, point, |tracer| phase.env.command_under(tracer, &["status"]));
            let submitted = phase.submit("true");
            assert_eq!(phase.env.await_final(&submitted.task_id), "completed", "after a crash at {point}");
            crash.at.is_some_and(|at| at.place == point.place)
        });
        if !reached {
            println!("first command: not met again: {point}");
        }
        crashed.fetch_add(usize::from(reached), Ordering::Relaxed);
    });
    let crashed = crashed.into_inner();
    println!("first command: points={}, crashed={crashed}", points.len());
    assert_eq!(crashed, points.len());
}
