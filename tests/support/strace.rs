//! Crashes a program at a chosen system call, or makes it pause or fail there.
//!
//! `strace` counts each call separately, by name, in every thread and forked
//! process; a point is therefore a name and a number. It kills at the entry: the
//! call itself does not happen. It lets go of a process that executes another
//! program, so that supervisors and agents run on untraced.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

pub const PROGRAM: &str = "/usr/bin/strace";

/// The `nth` time that a process makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub call: String,
    pub nth: usize,
    /// The call as it was logged, with the paths of its descriptors, to find a
    /// certain one by.
    pub text: String,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.text.chars().take(200).collect();
        write!(f, "{} number {}, {text}", self.call, self.nth)
    }
}

/// What comes before a command to have its calls logged.
pub fn logging(log: &Path) -> Vec<String> {
    let log = log.to_str().unwrap();
    [PROGRAM, "-f", "-qq", "-y", "--detach-on=execve", "-s", "4096", "-o", log, "--"]
        .map(str::to_owned)
        .to_vec()
}

/// What comes before a command to have it killed at `point`.
pub fn crashing(point: &Point) -> Vec<String> {
    tampering(point, "signal=KILL")
}

/// What comes before a command to have it stand still at `point` for a while.
pub fn pausing(point: &Point, time: Duration) -> Vec<String> {
    tampering(point, &format!("delay_enter={}", time.as_micros()))
}

/// What comes before a command to have the call at `point` fail for want of space.
pub fn failing(point: &Point) -> Vec<String> {
    tampering(point, "error=ENOSPC")
}

fn tampering(point: &Point, how: &str) -> Vec<String> {
    let Point { call, nth, .. } = point;
    let inject = format!("inject={call}:{how}:when={nth}");
    [PROGRAM, "-f", "-qq", "--detach-on=execve", "-o", "/dev/null", "-e", &inject, "--"]
        .map(str::to_owned)
        .to_vec()
}

/// The points of a logged run, in the order in which they are reached first.
///
/// A point that two processes share strikes whichever comes first, so the later
/// one of them is not counted.
pub fn points(log: &Path) -> Vec<Point> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut seen: BTreeMap<(String, usize), ()> = BTreeMap::new();
    let mut points = Vec::new();
    for line in fs::read_to_string(log).unwrap().lines() {
        let Some((process, call, text)) = parse(line) else { continue };
        let nth = counts.entry((process.to_owned(), call.to_owned())).or_default();
        *nth += 1;
        if let Entry::Vacant(new) = seen.entry((call.to_owned(), *nth)) {
            new.insert(());
            points.push(Point { call: call.to_owned(), nth: *nth, text: text.to_owned() });
        }
    }
    points
}

/// Process, name and whole text of a call; other lines tell of signals, ends,
/// and second halves of calls.
fn parse(line: &str) -> Option<(&str, &str, &str)> {
    let (process, text) = line.split_once(' ')?;
    let text = text.trim_start();
    let (call, _) = text.split_once('(')?;
    // The first call of all has happened by the time that strace could strike.
    let nameable = call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (nameable && !call.is_empty() && call != "execve").then_some((process, call, text))
}

#[test]
fn a_point_is_the_nth_call_of_a_name_in_any_process() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let lines = [
        "10 execve(\"/bin/x\") = 0",
        "10 write(1, \"a\") = 1",
        "10 fork() = 11",
        "11 write(1, \"b\" <unfinished ...>",
        "10 write(1, \"c\") = 1",
        "11 <... write resumed>) = 1",
        "11 write(1, \"d\") = 1",
        "11 close(3) = 0",
        "11 +++ exited with 0 +++",
    ];
    fs::write(&log, lines.join("\n")).unwrap();
    let found: Vec<_> =
        points(&log).into_iter().map(|point| format!("{}#{}", point.call, point.nth)).collect();
    assert_eq!(found, ["write#1", "fork#1", "write#2", "close#1"]);
}
