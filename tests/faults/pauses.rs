//! One process stands still for a moment at each of its system calls while
//! another looks on: every order in which two of them can meet.
//!
//! Nothing dies here, so nothing may be refused, lost, or started twice.

use std::time::Duration;

use crate::claim::claim;
use crate::phase::{Phase, meanwhile, under};
use crate::support::agent::playing;
use crate::support::env::Submitted;
use crate::support::strace::{self, Point};

/// Long enough for another process to come and go.
const PAUSE: Duration = Duration::from_millis(25);

/// The calls by which a process can meet another: those on files of the home.
fn in_the_home(phase: &Phase, points: Vec<Point>) -> Vec<Point> {
    let home = phase.env.home().to_str().unwrap();
    points.into_iter().filter(|point| point.text.contains(home)).collect()
}

/// Looks at the state again and again while `work` goes on.
fn while_looked_at(phase: &Phase, work: impl FnOnce()) {
    meanwhile(|| drop(phase.env.expect(0, &["status", "--all"])), work);
}

#[track_caller]
fn all_completed(phase: Phase, what: &str, points: &[Point]) {
    phase.settle();
    let others: Vec<_> = phase.rows().into_iter().filter(|row| row.state != "completed").collect();
    assert!(others.is_empty(), "{others:?}");
    println!("{what}: pauses={}", points.len());
    phase.close(what);
}

#[test]
fn a_submission_that_pauses_anywhere_is_taken_in_once() {
    let phase = Phase::new();
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    phase.submit(&task);
    let args = ["run", "--agent", "command", "--json", task.as_str()];
    let points = in_the_home(&phase, phase.points(&args));
    while_looked_at(&phase, || {
        for point in &points {
            let ran = under(&strace::pausing(point, PAUSE), |tracer| phase.env.command_under(tracer, &args));
            assert_eq!(ran.code, Some(0), "{point}: {}{}", ran.stdout, ran.stderr);
            assert!(phase.note(&ran.stdout).is_some(), "{point}: {}", ran.stdout);
        }
    });
    all_completed(phase, "paused submissions", &points);
}

#[test]
fn a_supervisor_that_pauses_anywhere_is_not_taken_for_dead() {
    let phase = Phase::new();
    phase.limit(0);
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    let first = claim(&phase, &phase.submit(&task));
    let (ran, points) = phase.points_of(|tracer| first.supervise(&phase, tracer));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    drop(first);
    let points = in_the_home(&phase, points);
    let tasks: Vec<Submitted> = points.iter().map(|_| phase.submit(&task)).collect();
    while_looked_at(&phase, || {
        for (point, submitted) in points.iter().zip(&tasks) {
            let claimed = claim(&phase, submitted);
            let ran = under(&strace::pausing(point, PAUSE), |tracer| claimed.supervise(&phase, tracer));
            assert_eq!(ran.code, Some(0), "{point}: {}{}", ran.stdout, ran.stderr);
        }
    });
    all_completed(phase, "paused supervisors", &points);
}

#[test]
fn a_claim_that_pauses_anywhere_is_made_once() {
    let phase = Phase::new();
    phase.limit(0);
    let task = playing(&phase.env, "brief", &["say one", "exit 0"]);
    phase.submit(&task);
    phase.limit(2);
    let points = in_the_home(&phase, phase.points(&["status"]));
    phase.limit(0);
    (0..points.len()).for_each(|_| drop(phase.submit(&task)));
    phase.limit(2);
    while_looked_at(&phase, || {
        for point in &points {
            let command = |tracer: &[&str]| phase.env.command_under(tracer, &["status"]);
            let ran = under(&strace::pausing(point, PAUSE), command);
            assert_eq!(ran.code, Some(0), "{point}: {}{}", ran.stdout, ran.stderr);
        }
    });
    all_completed(phase, "paused claims", &points);
}
