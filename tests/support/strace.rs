//! Makes a program crash, pause or fail at a chosen system call.
//!
//! `strace` counts calls by name separately in every process and thread, and strikes the first one
//! that reaches the count. A later process that makes a call equally often is therefore
//! [hidden](Point::hidden) from strace; `tracer` can reach it. Both kill at the entry, so the call
//! itself does not happen. Both detach from a process that executes another program, so supervisors
//! and agents run untraced.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Duration;

pub const PROGRAM: &str = "/usr/bin/strace";

/// The `nth` time that a process makes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    pub place: Place,
    pub call: String,
    pub nth: usize,
    /// Another process was the first to make this call this often.
    pub hidden: bool,
    /// The call as logged, with the paths of its descriptors, for searching.
    pub text: String,
}

/// Identifies a point independently of the run and of how often other files were touched before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The process or thread in order of creation; the program itself is 0.
    pub process: usize,
    /// The name of the call.
    pub number: u64,
    /// The files it concerns, without parts that differ between runs.
    paths: Vec<String>,
    /// How often it was made for them.
    turn: usize,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.text.chars().take(200).collect();
        write!(f, "{} number {} of process {}, {text}", self.call, self.nth, self.place.process)
    }
}

/// The command prefix that logs calls.
pub fn logging(log: &Path) -> Vec<String> {
    prefix(&[], log)
}

/// The command prefix that kills at `point`; [`Trace::struck`] tells from the log whether it did.
pub fn crashing(point: &Point, log: &Path) -> Vec<String> {
    tampering(point, "signal=KILL", log)
}

/// The command prefix that pauses at `point`.
pub fn pausing(point: &Point, time: Duration) -> Vec<String> {
    tampering(point, &format!("delay_enter={}", time.as_micros()), Path::new("/dev/null"))
}

/// The command prefix that makes the call at `point` fail with "no space".
pub fn failing(point: &Point) -> Vec<String> {
    tampering(point, "error=ENOSPC", Path::new("/dev/null"))
}

fn tampering(point: &Point, how: &str, log: &Path) -> Vec<String> {
    let Point { call, nth, .. } = point;
    prefix(&["-e", &format!("inject={call}:{how}:when={nth}")], log)
}

/// Constant length: a program that examines its ancestors needs more calls to read more.
fn prefix(options: &[&str], log: &Path) -> Vec<String> {
    const LENGTH: usize = 600;
    let fixed = [PROGRAM, "-f", "-qq", "-n", "-y", "-s", "4096", "--detach-on=execve", "-o", "--"];
    let (dir, name) = (log.parent().unwrap().to_str().unwrap(), log.file_name().unwrap().to_str().unwrap());
    let length = fixed.iter().chain(options).chain(&[dir, name]).map(|word| word.len() + 1).sum();
    let slashes = "/".repeat(LENGTH.saturating_sub(length).max(1));
    let log = format!("{dir}{slashes}{name}");
    let (end, before) = fixed.split_last().unwrap();
    before
        .iter()
        .copied()
        .chain([log.as_str()])
        .chain(options.iter().copied())
        .chain([*end])
        .map(str::to_owned)
        .collect()
}

/// A logged run.
#[derive(Debug, Default)]
pub struct Trace {
    /// All calls of all processes in order.
    pub points: Vec<Point>,
    killed: BTreeSet<usize>,
}

impl Trace {
    pub fn read(log: &Path) -> Trace {
        let mut trace = Trace::default();
        let mut processes: Vec<String> = Vec::new();
        let (mut counts, mut turns) = (BTreeMap::new(), BTreeMap::new());
        let mut seen: BTreeSet<(u64, usize)> = BTreeSet::new();
        for line in fs::read_to_string(log).unwrap().lines() {
            let Some((pid, number, what)) = parse(line) else { continue };
            let process = processes.iter().position(|known| known == pid).unwrap_or_else(|| {
                processes.push(pid.to_owned());
                processes.len() - 1
            });
            if what.starts_with("+++ killed by SIGKILL") {
                trace.killed.insert(process);
            }
            // The first call happens before strace can strike and is not counted.
            let Some(call) = call(what).filter(|&call| process > 0 || call != "execve") else { continue };
            let paths = paths(call, what);
            let turn = next(&mut turns, (process, number, paths.clone()));
            let nth = next(&mut counts, (process, number));
            trace.points.push(Point {
                place: Place { process, number, paths, turn },
                call: call.to_owned(),
                nth,
                hidden: !seen.insert((number, nth)),
                text: what.to_owned(),
            });
        }
        trace
    }

    /// Where a process was killed, if it was.
    pub fn struck(&self, process: usize) -> Option<&Point> {
        let last = self.points.iter().rfind(|last| last.place.process == process);
        last.filter(|_| self.killed.contains(&process))
    }
}

fn next<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) -> usize {
    let count = counts.entry(key).or_default();
    *count += 1;
    *count
}

/// The files that a call concerns, as known at its start. Path components with a digit are numbers
/// or random names.
fn paths(call: &str, what: &str) -> Vec<String> {
    let arguments = what.rsplit_once(") = ").map_or(what, |(arguments, _)| arguments);
    let descriptors = arguments.match_indices("</").map(|(at, _)| until(&arguments[at + 1..], '>'));
    let told_at_the_end = ["getcwd", "pread64", "read", "recvfrom"].contains(&call);
    let name = arguments.find("\"/").filter(|_| !told_at_the_end);
    let name = name.map(|at| until(&arguments[at + 1..], '"'));
    let lasting =
        |part: &&str| !part.contains(|c: char| c.is_ascii_digit()) && !part.starts_with("delegator-");
    let path = |path: &str| path.split('/').filter(lasting).collect::<Vec<_>>().join("/");
    descriptors.chain(name).map(path).collect()
}

fn until(text: &str, end: char) -> &str {
    text.split(end).next().unwrap_or_default()
}

/// Process, call number, and description.
fn parse(line: &str) -> Option<(&str, u64, &str)> {
    let (process, rest) = line.split_once(' ')?;
    let (number, what) = rest.trim_start().strip_prefix('[')?.split_once("] ")?;
    Some((process, number.trim().parse().ok()?, what))
}

/// The name of a call. Other lines are about signals, exits, and continuations.
fn call(what: &str) -> Option<&str> {
    let (call, _) = what.split_once('(')?;
    let nameable = call.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (nameable && !call.is_empty()).then_some(call)
}

#[test]
fn a_point_is_the_nth_call_of_a_name_in_a_process() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let lines = [
        "10  [  59] execve(\"/bin/x\") = 0",
        "10  [   1] write(1, \"a\") = 1",
        "10  [  57] fork() = 11",
        "11  [   1] write(1, \"b\" <unfinished ...>",
        "10  [   1] write(1, \"c\") = 1",
        "11  [   1] <... write resumed>) = 1",
        "11  [   1] write(1, \"d\") = 1",
        "10  [  61] --- SIGCHLD {si_pid=(11)} ---",
        "11  [   3] close(3) = 0",
        "11  [  59] execve(\"/bin/y\" <unfinished ...>",
        "11  [  59] +++ killed by SIGKILL +++",
    ];
    fs::write(&log, lines.join("\n")).unwrap();
    let trace = Trace::read(&log);
    let name = |point: &Point| {
        let Point { place, call, nth, hidden, .. } = point;
        format!("{}:{call}#{nth}{}", place.process, if *hidden { " hidden" } else { "" })
    };
    let found: Vec<String> = trace.points.iter().map(name).collect();
    let all = "0:write#1 0:fork#1 1:write#1 hidden 0:write#2 1:write#2 hidden 1:close#1 1:execve#1";
    assert_eq!(found.join(" "), all);
    assert_eq!(trace.struck(0), None);
    assert_eq!(trace.struck(1).map(name), Some("1:execve#1".to_owned()));
}
