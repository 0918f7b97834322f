//! The cost of submitting a task: from the start of the process to the id, and everything after.

use std::fs;

use crate::Effort;
use crate::disk;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};

#[derive(Default)]
struct Measured {
    bare: Samples,
    durable: Samples,
    shell_cpu: Samples,
    version: Samples,
    id: Samples,
    over: Samples,
    cpu: Samples,
    whole: Samples,
}

pub fn measure(effort: Effort, table: &mut Table) {
    let world = World::new("");
    let new_file = disk::at_rest(effort, &world);
    world.submit("command", "true");
    machine::collect_all();
    fs::create_dir(world.scratch("durable")).unwrap();
    let mut seen = Measured::default();
    // Alternating, so that other load on the machine affects all alike.
    for round in 0..effort.submits {
        seen.round(&world, round);
    }
    let bare = seen.bare.median();
    table.section("submit (`delegator run --agent command true`)");
    table.row("bare posix_spawn of /bin/true, p50", bare, "ms", Budget::None);
    table.row("bare posix_spawn of /bin/true, p99", seen.bare.quantile(0.99), "ms", Budget::None);
    table.row("one new file before all of it, p50", new_file, "ms", Budget::None);
    table.row(
        "one durable file (create, sync, rename, sync), p50",
        seen.durable.median(),
        "ms",
        Budget::None,
    );
    table.row("start of the program alone (--version), p50", seen.version.median(), "ms", Budget::None);
    table.row("start of the process -> task id, p50", seen.id.median(), "ms", Budget::AtMost(5.0));
    table.row("start of the process -> task id, p99", seen.id.quantile(0.99), "ms", Budget::AtMost(20.0));
    table.row("... as a multiple of the bare posix_spawn", seen.id.median() / bare, "x", Budget::None);
    table.row("start -> end of the process, p50", seen.over.median(), "ms", Budget::None);
    table.row("start -> end of the process, p99", seen.over.quantile(0.99), "ms", Budget::None);
    table.row("a whole instant run (`run --wait`), p50", seen.whole.median(), "ms", Budget::AtMost(20.0));
    let overhead = seen.cpu.median() - seen.shell_cpu.median();
    table.row(
        "CPU of a supervisor, its agent (`sh -c true`) taken off",
        overhead,
        "ms",
        Budget::AtMost(10.0),
    );
}

impl Measured {
    fn round(&mut self, world: &World, round: usize) {
        self.bare.add(millis(world.time(&["/bin/true"]).0));
        self.durable.add(millis(disk::durable_file(&world.scratch("durable"), &round.to_string())));
        self.shell_cpu.add(millis(world.time(&["/bin/sh", "-c", "true"]).1.cpu));
        self.version.add(millis(world.time(&[DELEGATOR, "--version"]).0));
        let submitted = world.submit("command", "true");
        self.id.add(millis(submitted.id_after));
        self.over.add(millis(submitted.over_after));
        // The supervisor is our child now; its usage includes its agent's.
        let supervisor = machine::collect(-1).expect("a supervisor");
        self.cpu.add(millis(supervisor.cpu));
        machine::collect_all();
        let argv = [DELEGATOR, "run", "--agent", "command", "--wait", "true"];
        self.whole.add(millis(world.time(&argv).0));
        machine::collect_all();
    }
}
