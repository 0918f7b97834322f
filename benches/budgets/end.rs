//! The time from the last byte of a long output to the answer.

use std::fs;
use std::io::Read;
use std::time::Duration;

use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};
use crate::{Effort, agent};

const SHORT: u64 = 1 << 10;

pub fn measure(effort: Effort, table: &mut Table) {
    table.section("last byte of an output -> answer of `delegator run --wait`");
    let kept = World::new("max_stream_bytes = 17179869184\n");
    row(&kept, SHORT, &format!("{SHORT} bytes"), table);
    let length = effort.flood_bytes;
    row(&kept, length, &format!("{} MiB, all kept", length >> 20), table);
    let limit = length / 4;
    let cut = World::new(&format!("max_stream_bytes = {limit}\n"));
    row(&cut, length, &format!("{} MiB, {} MiB of them kept", length >> 20, limit >> 20), table);
}

fn row(world: &World, length: u64, what: &str, table: &mut Table) {
    let mut answers = Samples::default();
    for turn in 0..5 {
        let moment = world.scratch(&format!("moment-{length}-{turn}"));
        let task = agent::part(&format!("flood-and-note {length} '{}'", moment.display()));
        machine::settle();
        let (pid, mut answer) = world.start_heard(&[DELEGATOR, "run", "--agent", "command", "--wait", &task]);
        // The first output is the task id, the second the answer.
        let mut bytes = [0; 1 << 16];
        let mut answered = machine::now();
        while answer.read(&mut bytes).unwrap() > 0 {
            answered = machine::now();
        }
        assert_eq!(machine::collect(pid).unwrap().code, Some(0), "`delegator run` failed");
        machine::collect_all();
        let last_byte = Duration::from_nanos(fs::read_to_string(moment).unwrap().parse().unwrap());
        answers.add(millis(answered - last_byte));
    }
    table.row(&format!("{what}, p50"), answers.median(), "ms", Budget::AtMost(100.0));
}
