//! The cost of submitting beside idle servers and beside other submitters.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use crate::Effort;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World, wait_for};

const SERVERS: usize = 64;
const SUBMITTERS: usize = 32;

pub fn measure(effort: Effort, table: &mut Table) {
    beside_servers(effort, table);
    queueing(effort, table);
}

/// Queued tasks, so that only submission is measured: alone and beside servers, in one home.
fn beside_servers(effort: Effort, table: &mut Table) {
    let world = World::new("max_concurrent = 0\n");
    world.submit("command", "true");
    let alone = ids(&world, effort.submits);
    let servers: Vec<Server> = (0..SERVERS).map(|_| Server::start(&world)).collect();
    // Each has a queue thread once it is idle.
    wait_for("the servers to rest", || servers.iter().all(Server::has_settled).then_some(()));
    let beside = ids(&world, effort.submits);
    table.section("submit beside idle servers (the task waits its turn)");
    table.row("start of the process -> task id, no server, p50", alone, "ms", Budget::None);
    table.row("start of the process -> task id, 64 idle servers, p50", beside, "ms", Budget::None);
    table.row("... as a multiple of none", beside / alone, "x", Budget::AtMost(1.3));
}

fn ids(world: &World, count: usize) -> f64 {
    let mut samples = Samples::default();
    (0..count).for_each(|_| samples.add(millis(world.submit("command", "true").id_after)));
    samples.median()
}

/// Processes that submit one task after another, all at once.
fn queueing(effort: Effort, table: &mut Table) {
    let world = World::new("max_concurrent = 0\n");
    world.submit("command", "true");
    let each = effort.submits.div_ceil(4);
    let place = world.scratch("synced");
    fs::create_dir(&place).unwrap();
    let bare = std::env::current_exe().unwrap();
    let bare = format!("'{}' four-syncs '{}'", bare.display(), place.display());
    let (floor, _) = repeated(&world, each, &bare);
    let (taken, cpu) = repeated(&world, each, &format!("'{DELEGATOR}' run --agent command true"));
    table.section("32 processes that only queue");
    table.row("reference: a bare program that makes the same 4 syncs", floor, "/s", Budget::None);
    table.row("tasks taken in", taken, "/s", Budget::AtLeast(1000.0));
    table.row("... as a part of the reference", taken / floor, "x", Budget::None);
    table.row("CPU of one, its start included", cpu, "ms", Budget::None);
}

/// Runs a command `each` times in every shell. Returns how many a second, and the milliseconds of CPU of one.
fn repeated(world: &World, each: usize, command: &str) -> (f64, f64) {
    let script = format!("i=0; while [ $i -lt {each} ]; do {command} || exit 1; i=$((i+1)); done");
    let mut cpu = 0.0;
    let began = machine::now();
    let shells: Vec<i32> = (0..SUBMITTERS).map(|_| world.start(&["/bin/sh", "-c", &script])).collect();
    for shell in shells {
        let ended = machine::collect(shell).unwrap();
        assert_eq!(ended.code, Some(0), "`{command}` failed");
        cpu += millis(ended.cpu);
    }
    let took = machine::now() - began;
    let count = (SUBMITTERS * each) as f64;
    (count / took.as_secs_f64(), cpu / count)
}

struct Server(Child);

impl Server {
    /// A server that has answered a request.
    fn start(world: &World) -> Server {
        let mut child = Command::new(DELEGATOR)
            .arg("serve")
            .env_clear()
            .envs(world.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"budgets","version":"1"}}}"#;
        writeln!(child.stdin.as_mut().unwrap(), "{hello}").unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("protocolVersion"), "{line}");
        Server(child)
    }

    /// Whether it watches the queue or waits to do so.
    fn has_settled(&self) -> bool {
        let threads = fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap().flatten();
        let mut names = threads.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        names.any(|name| name.trim() == "keeper")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
