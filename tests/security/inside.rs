//! The attacker inside a sandbox: this very program, started as the command of a client.
//!
//! It tries everything that a sandbox has to stop and prints, for each, whether it was open. The file `attack.json` in its
//! working directory says what there is to attack.

#![allow(clippy::print_stdout, reason = "it is a program as well")]

use std::fs::{self, OpenOptions};
use std::io::{self, IoSlice};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::Path;
use std::process::Command;

use rustix::net::{SendAncillaryBuffer, SendFlags, SocketAddrUnix, sendmsg_addr};
use serde_json::Value;

/// The command line that starts the attack.
pub fn command_line() -> String {
    let own = std::env::current_exe().unwrap();
    format!("'{}' --ignored --exact --nocapture --test-threads 1 inside::attack", own.display())
}

/// What the attack printed of one attempt.
pub fn was_open(output: &str, attempt: &str) -> bool {
    let told = output.lines().find_map(|line| line.strip_suffix(attempt)?.strip_suffix(": "));
    match told {
        Some(word) if word.ends_with("open") => true,
        Some(word) if word.ends_with("closed") => false,
        _ => panic!("`{attempt}` was not tried: {output}"),
    }
}

#[test]
#[ignore = "runs inside a sandbox, started by the tests of `commands`"]
fn attack() {
    let targets: Value = serde_json::from_slice(&fs::read("attack.json").unwrap()).unwrap();
    let target = |name: &str| targets[name].as_str().unwrap_or_else(|| panic!("{name}")).to_owned();
    files(&target);
    // Without a sandbox, the test only tries what it can take back.
    if targets["gentle"] != true {
        system();
    }
    sockets(&target);
    others(&targets);
}

/// Says how an attempt went.
fn attempt<T>(name: &str, tried: io::Result<T>) {
    match tried {
        Ok(_) => println!("\nopen: {name}"),
        Err(error) => println!("\n({error}) closed: {name}"),
    }
}

fn create(path: impl AsRef<Path>) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path).map(drop)
}

fn files(target: &dyn Fn(&str) -> String) {
    attempt("write in the project", create("made-by-command"));
    attempt("write to scratch", create(std::env::temp_dir().join("scratch")));
    for place in ["parent", "other", "home", "state"] {
        attempt(&format!("write to {place}"), create(Path::new(&target(place)).join("made-by-command")));
    }
    attempt("read the registry", fs::read(Path::new(&target("state")).join("registry.db")));
    attempt("append to .git/config", OpenOptions::new().append(true).open(".git/config"));
    attempt("plant a hook", create(".git/hooks/post-checkout"));
    attempt("move .git away", fs::rename(".git", "elsewhere"));
    attempt("write to .codex", fs::create_dir_all(".codex").and_then(|()| create(".codex/config.toml")));
    attempt("write to .agents", fs::create_dir_all(".agents").and_then(|()| create(".agents/x")));
    let link = std::os::unix::fs::symlink(target("other"), "a-link");
    attempt("write through a link", link.and_then(|()| create("a-link/made-through-a-link")));
}

fn system() {
    attempt("write to /", create("/made-by-command"));
    attempt("write to /tmp", create("/tmp/made-by-command"));
    attempt("write through /proc", create("/proc/self/root/made-by-command"));
}

fn sockets(target: &dyn Fn(&str) -> String) {
    attempt("connect by TCP", TcpStream::connect(target("tcp")));
    attempt(
        "send by UDP",
        UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"x", target("udp"))),
    );
    let (stream, datagram) = (target("unix_stream"), target("unix_datagram"));
    attempt("connect to a Unix socket", UnixStream::connect(stream));
    attempt(
        "send to a Unix socket",
        UnixDatagram::unbound().and_then(|socket| socket.send_to(b"x", &datagram)),
    );
    let message = |socket: UnixDatagram| {
        let address = SocketAddrUnix::new(datagram.as_str())?;
        let parts = [IoSlice::new(b"x")];
        Ok(sendmsg_addr(&socket, &address, &parts, &mut SendAncillaryBuffer::default(), SendFlags::empty())?)
    };
    attempt("send a message to a Unix socket", UnixDatagram::unbound().and_then(message));
    attempt("send a message from a pair", UnixDatagram::pair().and_then(|(socket, _)| message(socket)));
    let hidden = SocketAddr::from_abstract_name(target("unix_abstract")).unwrap();
    let sent = UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(b"x", &hidden));
    attempt("send to an abstract Unix socket", sent);
    attempt("make a pair of one's own", UnixStream::pair());
}

fn others(targets: &Value) {
    let pid = targets["pid"].as_i64().unwrap();
    attempt("see a process outside", fs::read(format!("/proc/{pid}/environ")));
    // SAFETY: signal 0 is none: the call only says whether one could be sent.
    let signalled = unsafe { libc::kill(i32::try_from(pid).unwrap(), 0) };
    attempt(
        "signal a process outside",
        if signalled == 0 { Ok(()) } else { Err(io::Error::last_os_error()) },
    );
    attempt("start a program", Command::new("/bin/true").status());
    for (name, _) in std::env::vars_os() {
        println!("\nvariable {}", name.to_string_lossy());
    }
}
