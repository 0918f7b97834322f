//! Reads the process table from `/proc`.
//!
//! Without `/proc` the answers are empty, and the callers do what they can without it.

use std::collections::HashMap;
use std::ffi::CStr;
use std::fs;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::fd::IntoRawFd;

/// A process, distinguished by start time from a later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// In clock ticks since boot.
    pub(crate) started: u64,
    /// It has ended with all its threads but was not reaped yet.
    pub(crate) zombie: bool,
}

impl Process {
    /// Unique until the next boot.
    pub(crate) fn identity(self) -> (i32, u64) {
        (self.pid, self.started)
    }
}

/// Reads one process; `None` if it is gone.
pub(crate) fn read(pid: i32) -> Option<Process> {
    let stat = whole(&format!("/proc/{pid}/stat")).ok()?;
    parse_stat(pid, &stat)
}

/// Reads a file of unknown length, nearly always in two reads. The fault tests stop a process at a
/// certain system call, so the number of calls must not depend on the file's length.
fn whole(path: &str) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::with_capacity(4096);
    let read = (&file).take(u64::MAX).read_to_end(&mut bytes);
    // Closed by hand: a debug build checks every descriptor before it closes it.
    // SAFETY: nothing else owns the number any more.
    unsafe { libc::close(file.into_raw_fd()) };
    read.map(|_| bytes)
}

/// Reads a text file; empty if it does not exist.
pub(crate) fn text(path: &str) -> String {
    whole(path).ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

/// The name may contain spaces and parentheses: search for its end from the right.
fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let end_of_name = stat.iter().rposition(|&b| b == b')')?;
    let rest = std::str::from_utf8(stat.get(end_of_name + 2..)?).ok()?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let threads: i32 = fields.nth(15)?.parse().ok()?;
    let started = fields.nth(1)?.trim_end().parse().ok()?;
    // The first thread may end before the others; the process then lives on.
    let zombie = matches!(state, "Z" | "X" | "x") && threads <= 1;
    Some(Process { pid, parent, started, zombie })
}

/// Whether a process sleeps, other than for disk I/O. True if unknown.
pub(crate) fn is_asleep(pid: i32) -> bool {
    state(pid).is_none_or(|state| state == b'S')
}

/// Whether a process was stopped by a signal. Traced processes do not count.
pub(crate) fn is_stopped(pid: i32) -> bool {
    state(pid) == Some(b'T')
}

fn state(pid: i32) -> Option<u8> {
    let stat = whole(&format!("/proc/{pid}/stat")).ok()?;
    let end_of_name = stat.iter().rposition(|&b| b == b')')?;
    stat.get(end_of_name + 2).copied()
}

/// Every process there is.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The children of this thread, including adopted orphans. A child that starts or ends meanwhile
/// may be missing. Empty if the kernel does not provide the list.
pub(crate) fn own_children() -> Vec<i32> {
    text("/proc/thread-self/children").split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Result of [`descendants`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Descendants {
    pub(crate) processes: Vec<Process>,
    /// Whether no process was left out as uncertain.
    pub(crate) complete: bool,
}

/// The processes below `root`, without `spared` and their descendants.
pub(crate) fn descendants(root: i32, spared: &[Process]) -> Descendants {
    let spared: Vec<_> = spared.iter().map(|process| process.identity()).collect();
    certain(below(all(), root, &spared), root, |pid| read(pid).map(|process| process.started))
}

/// Parents come before their children.
fn below(processes: Vec<Process>, root: i32, spared: &[(i32, u64)]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            if !spared.contains(&child.identity()) {
                open.push(child.pid);
                found.push(child);
            }
        }
    }
    found
}

/// Leaves out processes below one that ended during the walk: another program may have its id now,
/// and they may be that program's children. Our own orphans have a new parent, and the next walk
/// finds them.
fn certain(walked: Vec<Process>, root: i32, started: impl Fn(i32) -> Option<u64>) -> Descendants {
    let mut parents = HashMap::from([(root, true)]);
    let recorded: HashMap<i32, u64> = walked.iter().map(|process| process.identity()).collect();
    let all = walked.len();
    let mut processes = Vec::with_capacity(all);
    for process in walked {
        let same = || started(process.parent) == recorded.get(&process.parent).copied();
        if *parents.entry(process.parent).or_insert_with(same) {
            processes.push(process);
        } else {
            parents.insert(process.pid, false);
        }
    }
    Descendants { complete: processes.len() == all, processes }
}

/// The ancestors of this process that are called `name`, nearest first. Each must be older than its
/// child; otherwise its id was reused.
pub(crate) fn ancestors(name: &CStr) -> Vec<Process> {
    let above = |(process, _): &(Process, bool)| {
        parent_of(*process, name).filter(|(parent, _)| parent.pid > 1 && parent.started <= process.started)
    };
    let own = read(own_pid()).map(|own| (own, false));
    let all = std::iter::successors(own.as_ref().and_then(above), above);
    all.filter(|(_, is_named)| *is_named).map(|(process, _)| process).collect()
}

/// A parent that is older than its child has had its id all along. One that started in the same
/// tick must still be its parent. That is always checked, so that the number of system calls does
/// not depend on timing; it costs some 10 µs an ancestor.
fn parent_of(process: Process, name: &CStr) -> Option<(Process, bool)> {
    let stat = whole(&format!("/proc/{}/stat", process.parent)).ok()?;
    let parent = parse_stat(process.parent, &stat)?;
    let still =
        read(process.pid).is_some_and(|now| (now.started, now.parent) == (process.started, parent.pid));
    (parent.started < process.started || still).then(|| (parent, is_named(&stat, name)))
}

fn is_named(stat: &[u8], name: &CStr) -> bool {
    let named = stat.splitn(2, |&b| b == b'(').nth(1).and_then(|rest| rest.strip_prefix(name.to_bytes()));
    named.is_some_and(|rest| rest.starts_with(b") "))
}

/// The value of `variable` in the initial environment of a process.
pub(crate) fn variable(process: Process, variable: &str) -> Option<String> {
    let environment = whole(&format!("/proc/{}/environ", process.pid)).ok()?;
    let mut entries = environment.split(|&b| b == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
    entries.find_map(|entry| entry.strip_prefix(variable)?.strip_prefix('=').map(str::to_owned))
}

/// The arguments of a process; empty if it is gone.
pub(crate) fn arguments(process: Process) -> Vec<String> {
    let bytes = whole(&format!("/proc/{}/cmdline", process.pid)).unwrap_or_default();
    if read(process.pid).is_none_or(|now| now.started != process.started) {
        return Vec::new();
    }
    bytes.split(|&b| b == 0).map(|arg| String::from_utf8_lossy(arg).into_owned()).collect()
}

/// The id of this boot; process ids are valid only within one boot.
pub(crate) fn boot_id() -> String {
    text("/proc/sys/kernel/random/boot_id").trim().to_owned()
}

pub(crate) fn own_pid() -> i32 {
    i32::try_from(std::process::id()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;

    use super::*;

    fn process(pid: i32, parent: i32, started: u64) -> Process {
        Process { pid, parent, started, zombie: false }
    }

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let stat = b"77 (a) (b c) S 5 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9 9\n";
        assert_eq!(parse_stat(77, stat), Some(process(77, 5, 4242)));
        assert!(is_named(stat, c"a) (b c") && is_named(b"7 (delegator) S 5", c"delegator"));
        assert!(
            !is_named(b"7 (delegator2) S 5", c"delegator")
                && !is_named(b"7 (x (delegator) S 5", c"delegator")
        );
    }

    #[test]
    fn a_process_is_over_when_its_last_thread_is() {
        let stat = |threads| format!("7 (x) Z 5 7 7 0 -1 4 1 2 3 4 5 6 7 8 20 0 {threads} 0 42 9\n");
        assert!(parse_stat(7, stat(1).as_bytes()).unwrap().zombie);
        assert!(!parse_stat(7, stat(2).as_bytes()).unwrap().zombie);
    }

    #[test]
    fn those_below_a_spared_process_are_spared_and_its_successor_is_not() {
        let all = || vec![process(2, 1, 10), process(3, 2, 11), process(4, 1, 12), process(5, 9, 13)];
        let numbers = |found: Vec<Process>| found.iter().map(|process| process.pid).collect::<Vec<_>>();
        assert_eq!(numbers(below(all(), 1, &[])), [2, 4, 3]);
        assert_eq!(numbers(below(all(), 1, &[(2, 10)])), [4]);
        assert_eq!(numbers(below(all(), 1, &[(2, 9)])), [2, 4, 3]);
    }

    #[test]
    fn the_children_of_one_that_took_over_a_number_are_not_taken_for_ours() {
        let walked = || vec![process(2, 1, 10), process(3, 2, 11), process(4, 3, 12)];
        let all_there = certain(walked(), 1, |pid| Some(8 + pid as u64));
        assert_eq!(all_there, Descendants { processes: walked(), complete: true });
        let taken_over = certain(walked(), 1, |pid| (pid != 2).then_some(8 + pid as u64));
        assert_eq!(taken_over, Descendants { processes: vec![process(2, 1, 10)], complete: false });
    }

    #[test]
    fn this_process_is_there_and_has_a_parent() {
        let own = read(own_pid()).unwrap();
        assert!(own.started > 0 && !own.zombie);
        let parent = CString::new(text(&format!("/proc/{}/comm", own.parent)).trim()).unwrap();
        assert!(ancestors(&parent).first().is_some_and(|parent| parent.pid == own.parent));
        assert_eq!(ancestors(c"nobody has it"), []);
        assert!(!boot_id().is_empty());
    }
}
