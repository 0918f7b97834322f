//! The cost of submitting beside idle servers and beside other submitters.

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
    let script =
        format!("i=0; while [ $i -lt {each} ]; do '{DELEGATOR}' run --agent command true; i=$((i+1)); done");
    let mut cpu = 0.0;
    let began = machine::now();
    let shells: Vec<i32> = (0..SUBMITTERS).map(|_| world.start(&["/bin/sh", "-c", &script])).collect();
    for shell in shells {
        let ended = machine::collect(shell).unwrap();
        assert_eq!(ended.code, Some(0), "`delegator run` failed");
        cpu += millis(ended.cpu);
    }
    let took = machine::now() - began;
    let tasks = (SUBMITTERS * each) as f64;
    table.section("32 processes that only queue");
    table.row("tasks taken in", tasks / took.as_secs_f64(), "/s", Budget::AtLeast(1000.0));
    table.row("CPU of one, its start included", cpu / tasks, "ms", Budget::None);
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
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap().flatten();
        let mut names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
        names.any(|name| name.trim() == "keeper")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
