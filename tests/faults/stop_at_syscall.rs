//! A process that stands still at a chosen system call until it is told to go on.
//!
//! The call itself has happened: the stop takes effect on the way back from it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::phase::Phase;
use crate::support::env::{PATIENCE, Ran, wait_for};
use crate::support::kill;
use crate::support::strace::{PROGRAM, Point};

pub struct Held {
    /// The call that it has just made, with the paths of its descriptors.
    pub call: String,
    tracer: Child,
    pid: i32,
}

/// Starts a command that stops at `point`, and waits until it does. One that
/// does not come there ends, and is `None`.
pub fn at(phase: &Phase, point: &Point, command: impl FnOnce(&[&str]) -> Command) -> Option<Held> {
    stopped(phase, &[], &format!("{}:signal=STOP:when={}", point.call, point.nth), command)
}

/// As [`at`], where it first does `call` with `path`.
pub fn first(phase: &Phase, call: &str, path: &Path, command: impl FnOnce(&[&str]) -> Command) -> Held {
    let only = ["-P", path.to_str().unwrap()];
    stopped(phase, &only, &format!("{call}:signal=STOP:when=1"), command)
        .unwrap_or_else(|| panic!("it ended without {call} of {}", path.display()))
}

fn stopped(
    phase: &Phase,
    only: &[&str],
    inject: &str,
    command: impl FnOnce(&[&str]) -> Command,
) -> Option<Held> {
    let log = log(phase);
    let inject = format!("inject={inject}");
    let fixed =
        [PROGRAM, "-f", "-qq", "-y", "--detach-on=execve", "-o", log.to_str().unwrap(), "-e", &inject];
    let prefix: Vec<&str> = fixed.iter().chain(only).chain(&["--"]).copied().collect();
    let mut tracer = command(&prefix).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let found = wait_for("a process to stand still, or to end", PATIENCE, || match who_stopped(&log) {
        Some(found) => Some(Some(found)),
        None => tracer.try_wait().unwrap().map(|_| None),
    });
    found.map(|(pid, call)| Held { call, tracer, pid })
}

/// A name for each: several may be held at once.
fn log(phase: &Phase) -> PathBuf {
    let number = fs::read_dir(phase.env.root()).unwrap().count();
    phase.env.root().join(format!("held-{number}"))
}

fn who_stopped(log: &Path) -> Option<(i32, String)> {
    let text = String::from_utf8_lossy(&fs::read(log).ok()?).into_owned();
    let (before, _) = text.split_once("--- stopped by SIGSTOP ---")?;
    let pid = before.lines().last()?.trim();
    let call = before.lines().rev().find(|line| line.starts_with(pid) && line.contains('('))?;
    Some((pid.parse().ok()?, call.to_owned()))
}

impl Held {
    /// Lets it run to its end.
    pub fn go_on(mut self) -> Ran {
        kill::send(self.pid, libc::SIGCONT);
        wait_for("what was held to end", PATIENCE, || self.tracer.try_wait().unwrap());
        let output = self.tracer.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Kills it where it stands.
    pub fn kill(self) {
        kill::send(self.pid, libc::SIGKILL);
        let mut tracer = self.tracer;
        wait_for("what was held to die", PATIENCE, || tracer.try_wait().unwrap());
    }
}
