//! How long a waiter sleeps on after the agent has ended.

use std::fs;
use std::time::Duration;

use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World, wait_for};
use crate::{Effort, agent};

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    let mut samples = Samples::default();
    for turn in 0..effort.wakes {
        samples.add(millis(once(&world, turn)));
    }
    table.section("last act of the agent -> `delegator wait` has answered and ended");
    table.row("p50", samples.median(), "ms", Budget::AtMost(50.0));
    table.row("p99", samples.quantile(0.99), "ms", Budget::AtMost(50.0));
}

fn once(world: &World, turn: usize) -> Duration {
    let (go, moment) = (world.scratch(&format!("go-{turn}")), world.scratch(&format!("moment-{turn}")));
    let (go, moment) = (go.to_str().unwrap(), moment.to_str().unwrap());
    assert_eq!(world.time(&["/usr/bin/mkfifo", go]).1.code, Some(0), "mkfifo failed");
    let submitted = world.submit("command", &agent::part(&format!("last-act '{go}' '{moment}'")));
    let waiter = world.start(&[DELEGATOR, "wait", &submitted.task]);
    wait_for("the waiter to fall asleep", || asleep(waiter).then_some(()));
    // Opening the other end lets the agent go on.
    drop(fs::File::options().write(true).open(go).unwrap());
    let ended = machine::collect(waiter).unwrap();
    let answered = machine::now();
    assert_eq!(ended.code, Some(0), "`delegator wait` failed");
    machine::collect_all();
    let agent_ended: u64 = fs::read_to_string(moment).unwrap().parse().unwrap();
    answered - Duration::from_nanos(agent_ended)
}

/// Whether a process sleeps in a poll, as a waiter does and a starting program does not.
fn asleep(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|place| place.contains("poll"))
}
