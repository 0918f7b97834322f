//! What the system says of its processes.
//!
//! Linux tells through `/proc`. Where there is none, the answers are empty
//! and the callers fall back to what they can do without.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// A process, told apart from a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// In clock ticks since boot.
    pub(crate) started: u64,
    pub(crate) zombie: bool,
}

/// Reads one process; `None` when it is gone.
pub(crate) fn read(pid: i32) -> Option<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &stat)
}

/// The name in the middle may hold spaces and parentheses: count from its end.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let end_of_name = stat.iter().rposition(|&b| b == b')')?;
    let rest = std::str::from_utf8(stat.get(end_of_name + 2..)?).ok()?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.trim_end().parse().ok()?;
    Some(Process { pid, parent, started, zombie: matches!(state, "Z" | "X" | "x") })
}

/// Every process there is.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The processes below `root`, without those below one of `spared`.
pub(crate) fn descendants(root: i32, spared: &[i32]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in all() {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if !spared.contains(&child.pid) {
                open.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

/// The processes above this one, nearest first.
pub(crate) fn ancestors() -> Vec<Process> {
    let mut found = Vec::new();
    let mut next = read(own_pid());
    while let Some(process) = next {
        next = read(process.parent).filter(|parent| parent.pid > 1 && found.len() < 64);
        found.extend(next);
    }
    found
}

/// Whether `pid` has `name` among the `:`-separated parts of `variable`.
pub(crate) fn environment_names(pid: i32, variable: &str, name: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return false };
    environment
        .split(|&b| b == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok()?.strip_prefix(variable)?.strip_prefix('='))
        .any(|value| value.split(':').any(|part| part == name))
}

/// The arguments a process was started with.
pub(crate) fn arguments(pid: i32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    bytes.split(|&b| b == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect()
}

/// Which boot this is; a process number means nothing in another.
pub(crate) fn boot_id() -> String {
    let id = fs::read_to_string(Path::new("/proc/sys/kernel/random/boot_id")).unwrap_or_default();
    id.trim().to_owned()
}

pub(crate) fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = b"77 (a) (b c) S 5 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9 9\n";
        assert_eq!(parse_stat(77, stat), Some(Process { pid: 77, parent: 5, started: 4242, zombie: false }));
    }

    #[test]
    fn this_process_is_there_and_has_a_parent() {
        let own = read(own_pid()).unwrap();
        assert!(own.started > 0 && !own.zombie);
        assert!(ancestors().first().is_some_and(|parent| parent.pid == own.parent));
        assert!(!boot_id().is_empty());
    }
}
