//! Finds and kills processes.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::checker::{Row, rows};

/// Sends a signal to one process.
pub fn send(pid: i32, signal: i32) {
    assert!(pid > 1, "{pid} is no process of ours");
    // SAFETY: a system call with integer arguments.
    unsafe { libc::kill(pid, signal) };
}

/// Whether a process exists and has not ended.
pub fn alive(pid: i32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, b'Z' | b'X' | b'x'))
}

/// The state letter of a process.
pub fn state(pid: i32) -> Option<u8> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let name = stat.iter().rposition(|&byte| byte == b')')?;
    stat.get(name + 2).copied()
}

/// Every process except this one and zombies.
pub fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let own = i32::try_from(std::process::id()).unwrap();
    pids.filter(|&pid: &i32| pid != own && alive(pid)).collect()
}

pub fn arguments(pid: i32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let whole = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    whole.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Processes with `path` anywhere in their environment or arguments.
pub fn mentioning(path: &Path) -> Vec<i32> {
    let needle = path.as_os_str().as_bytes();
    let holds = |file: String| {
        let bytes = fs::read(file).unwrap_or_default();
        memchr::memmem::find(&bytes, needle).is_some()
    };
    all()
        .into_iter()
        .filter(|pid| holds(format!("/proc/{pid}/environ")) || holds(format!("/proc/{pid}/cmdline")))
        .collect()
}

/// The supervisors of runs below `home` and their run directories.
pub fn supervisors(home: &Path) -> Vec<(i32, String)> {
    let supervised = |pid: i32| {
        let words = arguments(pid);
        let verb = words.get(1).is_some_and(|word| word == "supervise");
        let dir = words.last().filter(|dir| verb && Path::new(dir).starts_with(home))?;
        Some((pid, dir.clone()))
    };
    all().into_iter().filter_map(supervised).collect()
}

/// The supervisor of one run.
pub fn supervisor_of(run_dir: &Path) -> Option<i32> {
    let home = run_dir.parent()?.parent()?;
    supervisors(home).into_iter().find(|(_, dir)| Path::new(dir) == run_dir).map(|(pid, _)| pid)
}

/// How far a task had come when its process was killed, according to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Window {
    /// No row: nothing was promised.
    BeforeCommit,
    /// A row, but the agent was not started.
    AfterCommit,
    /// The agent was started, but nothing was sealed.
    AfterSpawn,
    /// Sealed, but the row was not final.
    AfterSeal,
    /// The kill came too late.
    Ended,
}

/// The window of the only task, in the environment `is`.
pub fn window(home: &Path, is: impl Fn(&Row) -> bool) -> Window {
    let rows = rows(&home.join("registry.db")).unwrap_or_default();
    let Some(row) = rows.into_iter().find(is) else { return Window::BeforeCommit };
    let dir = home.join("runs").join(&row.run_id);
    if row.is_final() {
        Window::Ended
    } else if dir.join("result.json").exists() {
        Window::AfterSeal
    } else if dir.join("started.json").exists() {
        Window::AfterSpawn
    } else {
        Window::AfterCommit
    }
}

/// A reproducible source of delays.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.max(1))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}
