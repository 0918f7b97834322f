//! Kills a process at a system call at which strace cannot tell it from another.
//!
//! A forked child makes a dozen calls before it executes a program, and its parent has already made
//! nearly all of them. Here each process is counted separately.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::mem;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::ptr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use libc::{c_int, c_long, c_uint, c_void};

use super::env::{PATIENCE, Ran};
use super::kill;
use super::strace::Point;

/// Follow all children and threads; none outlives the tracer.
const OPTIONS: c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;
/// The wait status of a stop at a system call.
const AT_CALL: c_int = libc::SIGTRAP | 0x80;

/// Runs `command` and kills the process of `point` there. Returns the program's exit and whether
/// the point was reached.
pub fn crash(command: Command, point: &Point) -> (Ran, bool) {
    let (shown, point) = (format!("{command:?} at {point}"), point.clone());
    let (sender, receiver) = mpsc::channel();
    // In its own thread, which waits only for what it traces.
    thread::spawn(move || sender.send(trace(command, &point)));
    // A hanging program dies with the test.
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{shown}: {error}"))
}

#[expect(clippy::zombie_processes, reason = "whatever is traced is waited for here")]
fn trace(mut command: Command, point: &Point) -> (Ran, bool) {
    // SAFETY: between fork and exec, one system call with integer arguments.
    unsafe { command.pre_exec(|| ptrace(libc::PTRACE_TRACEME, 0, 0).map(drop)) };
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (reading(child.stdout.take()), reading(child.stderr.take()));
    let mut traced = Traced { point, processes: BTreeMap::new(), struck: false };
    let mut end = None;
    while let Some((pid, status)) = wait() {
        if libc::WIFSTOPPED(status) {
            traced.stopped(pid, status);
        } else if u32::try_from(pid) == Ok(child.id()) {
            end = Some(ExitStatus::from_raw(status));
        }
    }
    let code = end.expect("the program has ended").code();
    (Ran { code, stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() }, traced.struck)
}

struct Traced<'a> {
    point: &'a Point,
    /// The number of the process, and how often it has made the call.
    processes: BTreeMap<i32, (usize, usize)>,
    struck: bool,
}

impl Traced<'_> {
    fn stopped(&mut self, pid: i32, status: c_int) {
        let born = self.processes.len();
        let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
        let Some((process, made)) = self.processes.get_mut(&pid) else {
            // The stop at which it became traced.
            self.processes.insert(pid, (born, 0));
            if born == 0 {
                ptrace(libc::PTRACE_SETOPTIONS, pid, OPTIONS).unwrap();
            }
            return resume(pid, 0);
        };
        match (signal, event) {
            (AT_CALL, _) => {
                *made += usize::from(entered(pid) == Some(self.point.place.number));
                if (*process, *made) == (self.point.place.process, self.point.nth) && !self.struck {
                    self.struck = true;
                    kill::send(pid, libc::SIGKILL);
                }
                resume(pid, 0);
            }
            (_, libc::PTRACE_EVENT_EXEC) => drop(ptrace(libc::PTRACE_DETACH, pid, 0)),
            (_, 0) => resume(pid, signal),
            _ => resume(pid, 0),
        }
    }
}

/// The number of the call that a process is about to make; `None` when it returns from one.
fn entered(pid: i32) -> Option<u64> {
    // SAFETY: a structure of integers, which the kernel fills as far as told.
    unsafe {
        let mut call: libc::ptrace_syscall_info = mem::zeroed();
        let size = size_of_val(&call);
        let told = libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, pid, size, ptr::from_mut(&mut call));
        (told > 0 && call.op == libc::PTRACE_SYSCALL_INFO_ENTRY).then_some(call.u.entry.nr)
    }
}

/// Continues a process until its next stop. Ignores one that was killed.
fn resume(pid: i32, signal: c_int) {
    let _ = ptrace(libc::PTRACE_SYSCALL, pid, signal);
}

fn ptrace(request: c_uint, pid: i32, data: c_int) -> io::Result<c_long> {
    // SAFETY: a system call that is given no memory.
    match unsafe { libc::ptrace(request, pid, ptr::null_mut::<c_void>(), c_long::from(data)) } {
        -1 => Err(io::Error::last_os_error()),
        told => Ok(told),
    }
}

/// The next event of the traced processes, if there are any.
fn wait() -> Option<(i32, c_int)> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the kernel to write to.
    let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
    (pid > 0).then_some((pid, status))
}

fn reading(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.unwrap().read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[test]
fn what_is_hidden_from_strace_is_reached() {
    use super::strace::{Trace, logging};
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let shell = |before: &[String]| {
        let mut words = before.iter().map(String::as_str).chain(["/bin/sh", "-c", "(:) & wait; exit 3"]);
        let mut command = Command::new(words.next().unwrap());
        command.args(words);
        command
    };
    assert!(shell(&logging(&log)).status().is_ok_and(|status| status.code() == Some(3)));
    let hidden: Vec<Point> = Trace::read(&log).points.into_iter().filter(|point| point.hidden).collect();
    assert!(hidden.iter().any(|point| point.place.process == 1), "{hidden:?}");
    for point in &hidden {
        let (ran, struck) = crash(shell(&[]), point);
        let expected = if point.place.process == 0 { None } else { Some(3) };
        assert_eq!((ran.code, struck), (expected, true), "{point}");
    }
}
