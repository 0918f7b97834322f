//! The server's start, memory and tasks, compared with a small Node server using the official SDK.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::Effort;
use crate::disk;
use crate::figures::{Budget, Samples, Table};
use crate::machine::{self, millis};
use crate::world::{DELEGATOR, World};

/// After this idle time, a server releases its code.
const REST: Duration = Duration::from_secs(11);
/// After a second, a server releases what only its start needed.
const SETTLED: Duration = Duration::from_secs(2);
const NODE_SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/budgets/node_server.mjs");

pub fn measure(effort: Effort, table: &mut Table) {
    table.section("the server (`delegator serve`, standard input and output)");
    let world = World::new("");
    let node = sdk();
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    let (mut ours_kb, mut theirs_kb) = (Samples::default(), Samples::default());
    for _ in 0..effort.looks {
        let mut server = Server::start(&world, &[DELEGATOR, "serve"]);
        ours.add(server.initialize());
        ours_kb.add(server.resident());
        if let Some(sdk) = &node {
            let mut server = Server::start(&world, &["node", NODE_SERVER, sdk.to_str().unwrap()]);
            theirs.add(server.initialize());
            theirs_kb.add(server.resident());
        }
    }
    table.row("start of the process -> `initialize` answered, p50", ours.median(), "ms", Budget::AtMost(5.0));
    table.row("start of the process -> `initialize` answered, p99", ours.quantile(0.99), "ms", Budget::None);
    table.row("resident right after it, median", ours_kb.median(), "MiB", Budget::None);
    table.row("resident at rest, largest of three", resting(&world).max(), "MiB", Budget::AtMost(8.0));
    match node {
        Some(_) => {
            table.row("Node with the official SDK: `initialize`, p50", theirs.median(), "ms", Budget::None);
            table.row("... as a multiple of ours", theirs.median() / ours.median(), "x", Budget::None);
            table.row("Node with the official SDK: resident", theirs_kb.median(), "MiB", Budget::None);
        }
        None => println!("  (no Node server beside it: `scripts/clients` installs the SDK)"),
    }
    calls(effort, &world, table);
}

/// Servers that are initialized and then idle.
fn resting(world: &World) -> Samples {
    let mut servers: Vec<Server> = (0..3).map(|_| Server::start(world, &[DELEGATOR, "serve"])).collect();
    for server in &mut servers {
        server.initialize();
    }
    std::thread::sleep(SETTLED);
    let mut samples = Samples::default();
    servers.iter().for_each(|server| samples.add(server.resident()));
    samples
}

/// Tasks through a running server.
fn calls(effort: Effort, world: &World, table: &mut Table) {
    disk::at_rest(effort, world);
    let mut server = Server::start(world, &[DELEGATOR, "serve"]);
    server.initialize();
    let (mut submit, mut whole, mut list) = (Samples::default(), Samples::default(), Samples::default());
    let mut in_words = Samples::default();
    let say = json!({ "name": "codex", "arguments": {
        "request": "quick --instant", "hints": { "agent": "replay" },
    } });
    let run = |wait_ms: u64| {
        json!({ "name": "delegate_run", "arguments": {
            "task": "quick --instant", "wait_ms": wait_ms, "options": { "agent": "replay", "dedupe": false },
        } })
    };
    for _ in 0..effort.submits {
        submit.add(server.ask("tools/call", &run(0)));
        machine::collect_all_but(server.pid());
        in_words.add(server.ask("tools/call", &say));
        machine::collect_all_but(server.pid());
        whole.add(server.ask("tools/call", &run(10_000)));
        machine::collect_all_but(server.pid());
        list.add(server.ask("tools/list", &json!({})));
    }
    table.row("`delegate_run` -> task id, p50", submit.median(), "ms", Budget::AtMost(5.0));
    table.row("`delegate_run` -> task id, p99", submit.quantile(0.99), "ms", Budget::AtMost(20.0));
    table.row("`codex` (plain words) -> task id, p50", in_words.median(), "ms", Budget::None);
    table.row(
        "... more than `delegate_run`, for the routing",
        in_words.median() - submit.median(),
        "ms",
        Budget::AtMost(1.0),
    );
    table.row("a whole instant run, answer included, p50", whole.median(), "ms", Budget::AtMost(20.0));
    table.row("`tools/list`, p50", list.median(), "ms", Budget::None);
    table.row("resident after all of it", server.resident(), "MiB", Budget::None);
    std::thread::sleep(REST);
    table.row("resident once it rests again", server.resident(), "MiB", Budget::AtMost(8.0));
}

/// The official SDK, if the tests have installed it.
fn sdk() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")))?;
    let mut found: Vec<PathBuf> =
        std::fs::read_dir(cache.join("delegator-agents")).ok()?.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ts-sdk-")));
    found.pop().map(|path| path.join("node_modules/@modelcontextprotocol/sdk"))
}

struct Server {
    began: Duration,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Server {
    fn start(world: &World, argv: &[&str]) -> Server {
        let began = machine::now();
        let mut child = Command::new(argv[0])
            .args(&argv[1..])
            .env_clear()
            .envs(world.environment())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Server { began, child, input, output, last: 0 }
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Milliseconds from the start of the process to its first answer.
    fn initialize(&mut self) -> f64 {
        let client = json!({ "name": "budgets", "version": "1" });
        self.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }),
        );
        let took = millis(machine::now() - self.began);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        took
    }

    /// Milliseconds until the answer.
    fn ask(&mut self, method: &str, params: &Value) -> f64 {
        let began = machine::now();
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let failed = answer["result"]["isError"] == true || answer.get("error").is_some();
        assert!(answer["id"] == self.last && !failed, "{line}");
        millis(machine::now() - began)
    }

    fn send(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn resident(&self) -> f64 {
        machine::mebibytes(self.pid(), "status", "VmRSS").unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
