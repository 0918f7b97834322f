//! Which processes belong to a test, by asking the kernel and nobody else.

use std::fs;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// A process with its command line.
#[derive(Debug)]
pub struct Process {
    pub pid: u32,
    pub arguments: Vec<String>,
}

impl Process {
    /// Whether it is delegator's own, watching a run, rather than part of what the agent started.
    pub fn is_supervisor(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "supervise")
    }
}

/// Every live process whose environment, command line or directory names the test's directory.
///
/// Three marks, because each can be shed: a daemon that clears its environment still has arguments and a directory.
pub fn of(root: &Path) -> Vec<Process> {
    let entries = fs::read_dir("/proc").expect("the process table").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != std::process::id()).filter_map(|pid| belonging(pid, root)).collect()
}

/// Ends a process that the test itself caused to exist.
pub fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// A process that ends while it is looked at has no files any more, and belongs to nobody.
fn belonging(pid: u32, root: &Path) -> Option<Process> {
    let own = Path::new("/proc").join(pid.to_string());
    let command_line = fs::read(own.join("cmdline")).ok()?;
    let environment = fs::read(own.join("environ")).unwrap_or_default();
    let inside = fs::read_link(own.join("cwd")).is_ok_and(|cwd| cwd.starts_with(root));
    let root = root.as_os_str().as_encoded_bytes();
    let named = |bytes: &[u8]| bytes.windows(root.len()).any(|window| window == root);
    (inside || named(&command_line) || named(&environment)).then(|| Process {
        pid,
        arguments: command_line
            .split(|byte| *byte == 0)
            .filter(|argument| !argument.is_empty())
            .map(|argument| String::from_utf8_lossy(argument).into_owned())
            .collect(),
    })
}
