//! A supervisor's memory while its agent works.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine;
use crate::world::{DELEGATOR, World, wait_for};

const CROWD: usize = 16;

pub fn measure(_: Effort, table: &mut Table) {
    table.section("memory of a supervisor (PSS: shared pages counted in parts)");
    let alone = proportional(1);
    table.row("alone", alone.max(), "MiB", Budget::AtMost(3.0));
    let crowd = proportional(CROWD);
    table.row("each of 16, mean", crowd.mean(), "MiB", Budget::AtMost(1.5));
    table.row("each of 16, largest", crowd.max(), "MiB", Budget::None);
}

/// Runs `count` tasks at once and measures each supervisor.
fn proportional(count: usize) -> Samples {
    let world = World::new(&format!("max_concurrent = {CROWD}\n"));
    let tasks: Vec<String> = (0..count).map(|_| world.submit("command", "exec sleep 60").task).collect();
    let supervisors = wait_for("all runs to start", || {
        let started: Vec<i32> =
            world.runs().iter().filter_map(|run| supervisor(&run.join("started.json"))).collect();
        (started.len() == count).then_some(started)
    });
    // After the first second a supervisor only waits.
    std::thread::sleep(Duration::from_millis(1200));
    let mut samples = Samples::default();
    for pid in supervisors {
        samples.add(machine::mebibytes(pid, "smaps_rollup", "Pss").expect("a live supervisor"));
    }
    for task in &tasks {
        world.time(&[DELEGATOR, "cancel", task]);
    }
    machine::collect_all();
    samples
}

fn supervisor(started: &std::path::Path) -> Option<i32> {
    let json: Value = serde_json::from_slice(&fs::read(started).ok()?).ok()?;
    i32::try_from(json["supervisor_pid"].as_i64()?).ok()
}
