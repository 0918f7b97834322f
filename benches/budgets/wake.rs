//! The time from the end of the agent to the end of the wait.

use std::fs;
use std::io::{self, Read};
use std::time::Duration;

use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World, wait_for};
use crate::{Effort, agent};

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    let [mut answered, mut over, mut between] = [(); 3].map(|()| Samples::default());
    for turn in 0..effort.wakes {
        let woken = once(&world, turn);
        answered.add(millis(woken.answered));
        over.add(millis(woken.over));
        between.add(millis(woken.over - woken.answered));
    }
    table.section("last act of the agent -> `delegator wait`");
    table.row("has answered, p50", answered.median(), "ms", Budget::AtMost(50.0));
    table.row("has answered, p99", answered.quantile(0.99), "ms", Budget::AtMost(50.0));
    table.row("from its answer to its end, p50", between.median(), "ms", Budget::AtMost(2.0));
    table.row("has ended, p50", over.median(), "ms", Budget::AtMost(50.0));
    table.row("has ended, p99", over.quantile(0.99), "ms", Budget::AtMost(50.0));
}

/// The time after the agent's last action.
struct Woken {
    answered: Duration,
    over: Duration,
}

fn once(world: &World, turn: usize) -> Woken {
    let (go, moment) = (world.scratch(&format!("go-{turn}")), world.scratch(&format!("moment-{turn}")));
    let (go, moment) = (go.to_str().unwrap(), moment.to_str().unwrap());
    assert_eq!(world.time(&["/usr/bin/mkfifo", go]).1.code, Some(0), "mkfifo failed");
    let submitted = world.submit("command", &agent::part(&format!("last-act '{go}' '{moment}'")));
    let (waiter, mut answer) = world.start_heard(&[DELEGATOR, "wait", &submitted.task]);
    wait_for("the waiter to fall asleep", || asleep(waiter).then_some(()));
    // Opening the other end releases the agent.
    drop(fs::File::options().write(true).open(go).unwrap());
    assert!(answer.read(&mut [0]).unwrap() > 0, "`delegator wait` said nothing");
    let answered = machine::now();
    io::copy(&mut answer, &mut io::sink()).unwrap();
    let ended = machine::collect(waiter).unwrap();
    let over = machine::now();
    assert_eq!(ended.code, Some(0), "`delegator wait` failed");
    machine::collect_all();
    let last_act = Duration::from_nanos(fs::read_to_string(moment).unwrap().parse().unwrap());
    Woken { answered: answered - last_act, over: over - last_act }
}

/// Whether a process sleeps in a poll, like a waiter and unlike a starting program.
fn asleep(pid: i32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/wchan")).is_ok_and(|place| place.contains("poll"))
}
