//! Signals, to exactly the process that is meant.
//!
//! A number may have passed to somebody else since it was read; a descriptor
//! of a process cannot. So it is opened first, then the start time behind the
//! number is compared with the recorded one, and only then is anything sent.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, Signal as Number, kill_process, kill_process_group};

use crate::host::processes;
use crate::host::processes::Process;
use crate::model::Signal;

/// Signals `process`. One that is gone is no error, and one that has its
/// number now is left alone.
pub(crate) fn send(process: Process, signal: Signal) {
    send_number(process, number(signal), open_valid);
}

/// Stops `process` where it stands, so that it cannot fork while it is ended.
pub(crate) fn freeze(process: Process) {
    send_number(process, Number::STOP, open_valid);
}

/// Lets `process` go on that was stopped.
pub(crate) fn thaw(process: Process) {
    send_number(process, Number::CONT, open_valid);
}

/// Signals a child that was not collected yet: its number is its own until then.
pub(crate) fn send_to_child(pid: i32, descriptor: Option<&OwnedFd>, signal: Signal) {
    match (descriptor, valid(pid)) {
        (Some(descriptor), _) => send_through(descriptor, number(signal)),
        (None, Some(pid)) => drop(kill_process(pid, number(signal))),
        (None, None) => {}
    }
}

/// Signals the group that a child leads which was not collected yet.
pub(crate) fn send_to_group_of_child(pid: i32, signal: Signal) {
    // Group 1 would be everybody.
    if let Some(pid) = valid(pid).filter(|_| pid > 1) {
        let _ = kill_process_group(pid, number(signal));
    }
}

/// Ends what runs in a terminal as closing it would: its session's first
/// process, which is a child that was not collected yet, and whatever is in the
/// foreground. What is stopped must go on to notice.
pub(crate) fn hang_up(pid: i32, terminal: &OwnedFd) {
    for number in [Number::HUP, Number::CONT] {
        if let Some(pid) = valid(pid) {
            let _ = kill_process(pid, number);
        }
        send_to_foreground(terminal, number);
    }
}

/// Lets us hear of the ends of our children, whoever started us: a program that
/// does not want to hear of its own hands that down.
pub(crate) fn hear_of_children() {
    // SAFETY: a signal and what the system does by itself.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Makes a file that may not grow any more an error, like a full disk, and not
/// our end. A handler, not "ignore": what we start must not inherit it.
pub(crate) fn outlive_file_limits() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGXFSZ, handler) };
}

/// Holds back every signal to this thread; returns those that were before.
#[cfg(target_os = "linux")]
pub(super) fn hold_all() -> libc::sigset_t {
    // SAFETY: sets of signals, for which zero is a valid value; the calls fill them in.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

/// Holds back these signals to this thread, and no other.
pub(super) fn hold_only(held: &libc::sigset_t) {
    // SAFETY: a set that was filled in; the one before it is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, held, std::ptr::null_mut()) };
}

/// Holds back no signal any more.
pub(super) fn release_all() {
    // SAFETY: a set of signals, for which zero is a valid value; the call fills it in.
    let mut none: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    unsafe { libc::sigemptyset(&mut none) };
    hold_only(&none);
}

/// Does what the key for it would do in a terminal.
pub(crate) fn interrupt(terminal: &OwnedFd, signal: i32) {
    match signal {
        libc::SIGINT => send_to_foreground(terminal, Number::INT),
        libc::SIGQUIT => send_to_foreground(terminal, Number::QUIT),
        _ => {}
    }
}

/// Stops this process until somebody lets it go on.
pub(crate) fn stop_here() {
    let _ = kill_process(rustix::process::getpid(), Number::STOP);
}

/// Which group is in the foreground the system knows at this moment: its number
/// cannot have passed to another one.
fn send_to_foreground(terminal: &OwnedFd, number: Number) {
    if let Ok(group) = rustix::termios::tcgetpgrp(terminal)
        && group.as_raw_nonzero().get() > 1
    {
        let _ = kill_process_group(group, number);
    }
}

/// A descriptor of the process that has this number now; readable when it ends.
pub(crate) fn open(pid: i32) -> Result<OwnedFd, Errno> {
    valid(pid).ok_or(Errno::SRCH).and_then(open_valid)
}

#[cfg(target_os = "linux")]
fn open_valid(pid: Pid) -> Result<OwnedFd, Errno> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())
}

#[cfg(not(target_os = "linux"))]
fn open_valid(_pid: Pid) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

#[cfg(target_os = "linux")]
fn send_through(descriptor: &OwnedFd, number: Number) {
    let _ = rustix::process::pidfd_send_signal(descriptor, number);
}

#[cfg(not(target_os = "linux"))]
fn send_through(_descriptor: &OwnedFd, _number: Number) {}

/// How a signal can reach the process that was recorded.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    Descriptor,
    /// The system has no descriptors of processes, or none to spare.
    Number,
    /// It is gone, whoever has its number now.
    Nobody,
}

/// Decides from what opening it said, from the start time found *after* that,
/// and from the recorded one.
fn way(opened: Result<(), Errno>, found: Option<u64>, recorded: u64) -> Way {
    match opened {
        _ if found != Some(recorded) => Way::Nobody,
        Ok(()) => Way::Descriptor,
        Err(Errno::SRCH) => Way::Nobody,
        Err(_) => Way::Number,
    }
}

fn send_number(process: Process, number: Number, open: impl Fn(Pid) -> Result<OwnedFd, Errno>) {
    let Some(pid) = valid(process.pid) else { return };
    let opened = open(pid);
    let found = processes::read(process.pid).map(|found| found.started);
    match (way(opened.as_ref().map(drop).map_err(|error| *error), found, process.started), opened) {
        (Way::Descriptor, Ok(descriptor)) => send_through(&descriptor, number),
        (Way::Number, _) => drop(kill_process(pid, number)),
        (Way::Descriptor | Way::Nobody, _) => {}
    }
}

/// 0 and below mean groups.
fn valid(pid: i32) -> Option<Pid> {
    if pid > 0 { Pid::from_raw(pid) } else { None }
}

fn number(signal: Signal) -> Number {
    match signal {
        Signal::Interrupt => Number::INT,
        Signal::Terminate => Number::TERM,
        Signal::Kill => Number::KILL,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A child that ends when its input does, and its record.
    #[expect(clippy::disallowed_methods, reason = "a process to be signalled")]
    fn child() -> (Child, Process) {
        let child = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = processes::read(i32::try_from(child.id()).unwrap()).unwrap();
        (child, process)
    }

    /// How a child ends that is signalled and then allowed to end by itself.
    fn end_of(mut child: Child) -> Option<i32> {
        drop(child.stdin.take());
        child.wait().unwrap().signal()
    }

    fn check(open: impl Fn(Pid) -> Result<OwnedFd, Errno>) {
        let (survivor, process) = child();
        send_number(Process { started: process.started + 1, ..process }, Number::KILL, &open);
        assert_eq!(end_of(survivor), None, "another one with its number is left alone");
        let (victim, process) = child();
        send_number(process, Number::KILL, &open);
        assert_eq!(end_of(victim), Some(libc::SIGKILL));
    }

    #[test]
    fn only_the_process_that_was_recorded_is_signalled() {
        check(open_valid);
    }

    #[test]
    fn nor_is_anybody_else_where_there_are_no_descriptors_of_processes() {
        check(|_| Err(Errno::NOSYS));
    }

    #[test]
    fn a_process_is_told_from_its_successor_by_its_start() {
        assert_eq!(way(Ok(()), Some(7), 7), Way::Descriptor);
        assert_eq!(way(Err(Errno::NOSYS), Some(7), 7), Way::Number);
        assert_eq!(way(Err(Errno::MFILE), Some(7), 7), Way::Number);
        assert_eq!(way(Err(Errno::SRCH), Some(7), 7), Way::Nobody);
        for opened in [Ok(()), Err(Errno::NOSYS)] {
            assert_eq!(way(opened, Some(8), 7), Way::Nobody);
            assert_eq!(way(opened, None, 7), Way::Nobody);
        }
    }

    #[test]
    fn a_frozen_process_is_stopped_and_can_be_ended() {
        let (mut child, process) = child();
        freeze(process);
        send(process, Signal::Kill);
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
    }

    #[test]
    fn a_child_is_signalled_with_or_without_its_descriptor() {
        for open_it in [true, false] {
            let (child, process) = child();
            let descriptor = open_it.then(|| open(process.pid).unwrap());
            send_to_child(process.pid, descriptor.as_ref(), Signal::Kill);
            assert_eq!(end_of(child), Some(libc::SIGKILL));
        }
    }
}
