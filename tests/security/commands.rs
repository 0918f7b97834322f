//! Shell commands for clients: off, then only in a sandbox that holds.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::inside;
use crate::world::{World, real_bwrap, real_codex, text};

fn command(sandbox: Option<&str>, line: &str) -> Value {
    let mut arguments = json!({ "task": line, "options": { "agent": "command" }, "wait_ms": 60_000 });
    if let Some(sandbox) = sandbox {
        arguments["sandbox"] = sandbox.into();
    }
    arguments
}

fn run(client: &mut Client, arguments: Value) -> Reply {
    client.call("delegate_run", arguments)
}

/// A machine whose operator allows commands, kept in their sandbox by the real Codex.
fn with_codex() -> World {
    let world = World::bare();
    world.configure(&format!("command_over_mcp = true\ncodex_path = {:?}\n", real_codex()));
    world
}

/// The same with bubblewrap alone, and the server's command line for it.
fn with_bwrap() -> (World, Command) {
    let world = World::bare();
    symlink(real_bwrap(), world.path("bin/bwrap")).unwrap();
    world.configure("command_over_mcp = true\n");
    let mut server = world.delegator(&["serve"]);
    server.env("PATH", format!("{}:/usr/bin:/bin", world.text("bin")));
    (world, server)
}

#[test]
fn commands_are_off_until_the_operator_turns_them_on() {
    let world = World::new();
    let mut client = world.client();
    for sandbox in [None, Some("read-only"), Some("workspace-write"), Some("danger-full-access")] {
        let reply = run(&mut client, command(sandbox, "touch made"));
        reply.refused("UNSUPPORTED", "not offered to clients", "`command_over_mcp = true`");
    }
    world.configure("default_agent = \"command\"\n");
    let reply = run(&mut client, json!({ "task": "touch made" }));
    reply.refused("UNSUPPORTED", "not offered to clients", "`command_over_mcp = true`");
    world.untouched();
    assert!(!world.path("project/made").exists());
}

#[test]
fn without_anything_that_holds_they_are_unsupported() {
    let world = World::configured("command_over_mcp = true\ncodex_path = \"/nonexistent/codex\"\n");
    let reply = run(&mut world.client(), command(None, "touch made"));
    reply.refused(
        "UNSUPPORTED",
        "`codex sandbox` is not installed; `bwrap` is not installed",
        "`command_over_mcp`",
    );
    // The fake Codex of this machine has no sandbox at all.
    world.configure("command_over_mcp = true\n");
    let reply = run(&mut world.client(), command(None, "touch made"));
    reply.refused("UNSUPPORTED", "`codex sandbox`: it failed: ", "doctor");
    world.untouched();
    assert!(!world.path("project/made").exists());
}

/// A program that starts whatever it is given, without any sandbox.
const LEAKY: &str = "while [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n";

#[test]
fn a_sandbox_that_holds_nothing_is_found_out_before_anything_exists() {
    let world = World::bare();
    let leaky = world.script("bin/leaky", &format!("#!/bin/sh\n{LEAKY}"));
    world.configure(&format!("command_over_mcp = true\ncodex_path = {leaky:?}\n"));
    for sandbox in ["read-only", "workspace-write"] {
        let reply = run(&mut world.client(), command(Some(sandbox), "touch made"));
        reply.refused("UNSUPPORTED", &format!("`{}` can be written to", world.text("state")), "doctor");
    }
    world.untouched();
    assert!(!world.path("project/made").exists());
    let lying = world.script("bin/lying", "#!/bin/sh\necho nothing to see here\n");
    world.configure(&format!("command_over_mcp = true\ncodex_path = {lying:?}\n"));
    run(&mut world.client(), command(None, "touch made")).refused(
        "UNSUPPORTED",
        "nothing to see here",
        "doctor",
    );
    world.untouched();
}

#[test]
fn a_sandbox_that_stops_holding_is_found_out_before_the_command_starts() {
    let world = World::bare();
    // The first time it is honest; from then on it leaks.
    let (once, real) = (world.text("bin/once"), text(&real_codex()));
    let script =
        format!("#!/bin/sh\nif [ ! -e '{once}' ]; then : > '{once}'; exec '{real}' \"$@\"; fi\n{LEAKY}");
    let changing = world.script("bin/changing", &script);
    world.configure(&format!("command_over_mcp = true\ncodex_path = {changing:?}\n"));
    let mut server = world.delegator(&["serve"]);
    server.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let task = run(&mut Client::connect(server, None), command(None, "touch made")).task();
    let row = world.ended(&task);
    assert_eq!((row.state.as_str(), row.code.as_deref()), ("failed", Some("SANDBOX")));
    assert!(!world.path("project/made").exists());
}

/// What an attack could reach outside, and whether it did.
struct Targets {
    tcp: TcpListener,
    udp: UdpSocket,
    unix_stream: UnixListener,
    unix_datagram: UnixDatagram,
    unix_abstract: UnixDatagram,
}

impl Targets {
    fn set_up(world: &World) -> Targets {
        let name = format!("delegator-{}", std::process::id());
        let targets = Targets {
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            unix_stream: UnixListener::bind(world.path("side/s")).unwrap(),
            unix_datagram: UnixDatagram::bind(world.path("side/d")).unwrap(),
            unix_abstract: UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap(),
        };
        targets.tcp.set_nonblocking(true).unwrap();
        targets.udp.set_nonblocking(true).unwrap();
        targets.unix_stream.set_nonblocking(true).unwrap();
        targets.unix_datagram.set_nonblocking(true).unwrap();
        targets.unix_abstract.set_nonblocking(true).unwrap();
        let told = json!({
            "parent": world.path(""), "other": world.path("other"), "home": world.path("home"),
            "state": world.path("state"),
            "tcp": targets.tcp.local_addr().unwrap(), "udp": targets.udp.local_addr().unwrap(),
            "unix_stream": world.path("side/s"), "unix_datagram": world.path("side/d"),
            "unix_abstract": name, "pid": std::process::id(),
        });
        fs::write(world.path("project/attack.json"), told.to_string()).unwrap();
        targets
    }

    #[track_caller]
    fn unreached(&self) {
        let mut byte = [0];
        assert!(self.tcp.accept().is_err(), "TCP");
        assert!(self.udp.recv(&mut byte).is_err(), "UDP");
        assert!(self.unix_stream.accept().is_err(), "a Unix socket");
        assert!(self.unix_datagram.recv(&mut byte).is_err(), "a Unix datagram socket");
        assert!(self.unix_abstract.recv(&mut byte).is_err(), "an abstract Unix socket");
    }
}

const NEVER: [&str; 21] = [
    "write to parent",
    "write to other",
    "write to home",
    "write to state",
    "write to /",
    "write to /tmp",
    "read the registry",
    "append to .git/config",
    "plant a hook",
    "move .git away",
    "write to .codex",
    "write to .agents",
    "write through a link",
    "write through /proc",
    "connect by TCP",
    "send by UDP",
    "connect to a Unix socket",
    "send to a Unix socket",
    "send a message to a Unix socket",
    "send a message from a pair",
    "send to an abstract Unix socket",
];

/// Runs the attack as a client's command; what it printed.
fn attacked(world: &World, server: Command, sandbox: &str) -> String {
    let config = fs::read(world.path("project/.git/config")).unwrap();
    let targets = Targets::set_up(world);
    let mut client = Client::connect(server, None);
    let reply = run(&mut client, command(Some(sandbox), &inside::command_line()));
    let task = reply.task();
    let row = world.ended(&task);
    let stdout = world.path("state/runs").join(row.run_id).join("stdout.log");
    let output = fs::read_to_string(&stdout).unwrap();
    assert_eq!(row.state, "completed", "{}\n{output}", reply.text);
    for attempt in NEVER {
        assert!(!inside::was_open(&output, attempt), "{attempt}: {output}");
    }
    for attempt in ["see a process outside", "signal a process outside"] {
        assert!(!inside::was_open(&output, attempt), "{attempt}: {output}");
    }
    for attempt in ["write to scratch", "make a pair of one's own", "start a program"] {
        assert!(inside::was_open(&output, attempt), "{attempt}: {output}");
    }
    let writes = sandbox == "workspace-write";
    assert_eq!(inside::was_open(&output, "write in the project"), writes, "{output}");
    targets.unreached();
    assert_eq!(fs::read(world.path("project/.git/config")).unwrap(), config);
    let litter = [".codex", ".agents", ".aws"].map(|name| world.path("project").join(name));
    assert!(!litter.iter().any(|path| path.exists()), "left behind: {litter:?}");
    output
}

#[test]
fn without_a_sandbox_the_attack_gets_through() {
    let world = World::bare();
    let _targets = Targets::set_up(&world);
    let told = fs::read_to_string(world.path("project/attack.json")).unwrap();
    fs::write(world.path("project/attack.json"), told.replacen('{', "{\"gentle\":true,", 1)).unwrap();
    fs::write(world.path("state/registry.db"), "").unwrap();
    let mut shell = world.command("/bin/sh");
    shell.args(["-c", &inside::command_line()]).env("TMPDIR", world.path("side"));
    let output = shell.output().unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let system = ["write to /", "write to /tmp", "write through /proc"];
    for attempt in NEVER.iter().filter(|attempt| !system.contains(*attempt)) {
        assert!(inside::was_open(&output, attempt), "{attempt}: {output}");
    }
}

#[test]
fn codex_keeps_a_command_in_its_sandbox() {
    for sandbox in ["read-only", "workspace-write"] {
        let world = with_codex();
        let mut server = world.delegator(&["serve"]);
        server.env("SECRET", "s3cr3t");
        let output = attacked(&world, server, sandbox);
        assert!(output.contains("variable HOME") && !output.contains("variable SECRET"), "{output}");
    }
}

#[test]
fn bubblewrap_keeps_a_command_in_its_sandbox() {
    for sandbox in ["read-only", "workspace-write"] {
        let (world, mut server) = with_bwrap();
        server.env("SECRET", "s3cr3t");
        let output = attacked(&world, server, sandbox);
        assert!(output.contains("variable HOME") && !output.contains("variable SECRET"), "{output}");
    }
}

#[test]
fn a_command_is_held_to_what_everything_else_is_held_to() {
    let world = with_codex();
    let mut client = world.client();
    let with = |more: &[(&str, Value)]| {
        let mut arguments = command(Some("workspace-write"), "touch made");
        for (name, value) in more {
            match *name {
                "cwd" | "sandbox" => arguments[name] = value.clone(),
                _ => arguments["options"][name] = value.clone(),
            }
        }
        arguments
    };
    let danger = run(&mut client, with(&[("sandbox", json!("danger-full-access"))]));
    danger.refused("UNSUPPORTED", "`danger-full-access` is not allowed", "read-only");
    for (dir, word) in
        [("..", "never allowed"), ("/", "never allowed"), ("../other", "outside"), ("/usr", "outside")]
    {
        run(&mut client, with(&[("cwd", json!(dir))])).refused("VALIDATION", word, "");
    }
    for (field, value) in [("network", json!(true)), ("add_dirs", json!(["below"])), ("model", json!("x"))] {
        run(&mut client, with(&[(field, value)])).refused("UNSUPPORTED", field, "leave out");
    }
    run(&mut client, with(&[("env_from", json!(["PATH"]))])).refused("VALIDATION", "PATH", "`env_allow`");
    let meta = json!({ "codex/sandbox-state-meta": crate::ceiling::reported(&world, "read-only") });
    let reader = client.call_with("delegate_run", with(&[]), meta.clone());
    reader.refused("VALIDATION", "more than the client itself has", "sandbox_mode");
    let nested = json!({ "x-codex-turn-metadata": { "thread_source": "delegator" } });
    client.call_with("delegate_run", with(&[]), nested).refused(
        "VALIDATION",
        "inside another",
        "`max_depth`",
    );
    world.configure(&format!(
        "command_over_mcp = true\nmax_sandbox = \"read-only\"\ncodex_path = {:?}\n",
        real_codex()
    ));
    run(&mut client, with(&[])).refused("VALIDATION", "workspace-write", "`max_sandbox`");
    world.untouched();
    assert!(!world.path("project/made").exists());
}

#[test]
fn a_command_that_ends_badly_is_told_as_it_ended() {
    let world = with_codex();
    let mut client = world.client();
    let reply = run(&mut client, command(None, "echo one; echo two >&2; exit 7"));
    assert_eq!(world.ended(&reply.task()).code.as_deref(), Some("TOOL_ERROR"));
    assert!(reply.text.contains("exit 7: two"), "{}", reply.text);
}

#[test]
fn a_repository_that_only_names_another_is_kept_too() {
    let world = with_codex();
    let (project, real): (PathBuf, PathBuf) = (world.path("project"), world.path("project/repository"));
    fs::rename(project.join(".git"), &real).unwrap();
    fs::write(project.join(".git"), "gitdir: repository\n").unwrap();
    let line = "echo x >> repository/config; echo x >> .git; mv repository away; echo y > made";
    let task = run(&mut world.client(), command(Some("workspace-write"), line)).task();
    world.ended(&task);
    assert!(project.join("made").exists(), "the command did not run");
    assert!(!fs::read_to_string(real.join("config")).unwrap().contains('x'));
    assert_eq!(fs::read_to_string(project.join(".git")).unwrap(), "gitdir: repository\n");
}

#[test]
fn cancelling_ends_everything_in_the_sandbox() {
    let world = with_codex();
    let mut client = world.client();
    let mut arguments = command(Some("workspace-write"), "echo x > begun; sleep 1000 & sleep 1000");
    arguments["wait_ms"] = 0.into();
    let task = run(&mut client, arguments).task();
    crate::world::wait_for("the command", || world.path("project/begun").exists().then_some(()));
    let reply = client.call("delegate_cancel", json!({ "task_id": task }));
    assert_eq!(reply.structured["data"]["state"], "cancelled", "{}", reply.text);
    assert!(crate::support::kill::mentioning(&world.path("project/")).is_empty());
}
