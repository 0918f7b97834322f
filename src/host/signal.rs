//! Sends signals to exactly the intended process.
//!
//! A process id may be reused after it was read, but a pidfd cannot. So the pidfd is opened first,
//! then the start time of the id is compared with the recorded one, and only then is the signal
//! sent.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, Signal as Number, kill_process, kill_process_group};

use crate::host::processes::{self, Process};
use crate::model::Signal;

/// Signals `process`. Does nothing if it is gone, even if its id was reused.
pub(crate) fn send(process: Process, signal: Signal) {
    send_number(process, number(signal), open_valid);
}

/// Stops `process`, so that it cannot fork while it is ended.
pub(crate) fn freeze(process: Process) {
    send_number(process, Number::STOP, open_valid);
}

/// Lets a stopped `process` continue.
pub(crate) fn thaw(process: Process) {
    send_number(process, Number::CONT, open_valid);
}

/// Signals a child that was not reaped yet; until then its id cannot be reused.
pub(crate) fn send_to_child(pid: i32, descriptor: Option<&OwnedFd>, signal: Signal) {
    match (descriptor, valid(pid)) {
        (Some(descriptor), _) => send_through(descriptor, number(signal)),
        (None, Some(pid)) => drop(kill_process(pid, number(signal))),
        (None, None) => {}
    }
}

/// Signals the process group of a child that was not reaped yet.
pub(crate) fn send_to_group_of_child(pid: i32, signal: Signal) {
    // Group 1 would be everybody.
    if let Some(pid) = valid(pid).filter(|_| pid > 1) {
        let _ = kill_process_group(pid, number(signal));
    }
}

/// Ends what runs in a terminal as closing it would: the session leader, a child that was not
/// reaped yet, and the foreground group. Stopped processes must continue to notice.
pub(crate) fn hang_up(pid: i32, terminal: &OwnedFd) {
    for number in [Number::HUP, Number::CONT] {
        if let Some(pid) = valid(pid) {
            let _ = kill_process(pid, number);
        }
        send_to_foreground(terminal, number);
    }
}

/// Restores the default action for SIGCHLD: a parent that ignores it passes that on, and `waitpid`
/// would then find nothing.
pub(crate) fn reset_sigchld() {
    // SAFETY: a signal and what the system does by itself.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Turns the signal for an exceeded file size limit into a write error, like a full disk. Uses an
/// empty handler because programs that we start would inherit "ignore".
pub(crate) fn ignore_file_size_signal() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGXFSZ, handler) };
}

/// Blocks every signal in this thread. Returns the previous mask.
#[cfg(target_os = "linux")]
pub(super) fn block_all_signals() -> libc::sigset_t {
    // SAFETY: sets of signals, for which zero is a valid value; the calls fill them in.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

/// Sets the signal mask of this thread.
pub(super) fn set_signal_mask(held: &libc::sigset_t) {
    // SAFETY: a set that was filled in; the one before it is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, held, std::ptr::null_mut()) };
}

/// Unblocks all signals.
pub(super) fn unblock_all_signals() {
    // SAFETY: a set of signals, for which zero is a valid value; the call fills it in.
    let mut none: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    unsafe { libc::sigemptyset(&mut none) };
    set_signal_mask(&none);
}

/// Does what the signal's key would do in a terminal.
pub(crate) fn interrupt(terminal: &OwnedFd, signal: i32) {
    match signal {
        libc::SIGINT => send_to_foreground(terminal, Number::INT),
        libc::SIGQUIT => send_to_foreground(terminal, Number::QUIT),
        _ => {}
    }
}

/// Stops this process until somebody continues it.
pub(crate) fn stop_self() {
    let _ = kill_process(rustix::process::getpid(), Number::STOP);
}

/// The kernel looks up the foreground group at the time of the call, so its id cannot be stale.
fn send_to_foreground(terminal: &OwnedFd, number: Number) {
    if let Ok(group) = rustix::termios::tcgetpgrp(terminal)
        && group.as_raw_nonzero().get() > 1
    {
        let _ = kill_process_group(group, number);
    }
}

/// A pidfd of the process that has this id now; readable when the process ends.
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

/// How a signal can reach a recorded process.
#[derive(Debug, PartialEq, Eq)]
enum SignalRoute {
    Descriptor,
    /// The system has no pidfds, or none to spare.
    Number,
    /// It is gone, even if its id was reused.
    Nobody,
}

/// Decides from the result of opening the pidfd, the start time found *after* that, and the
/// recorded one.
fn way(opened: Result<(), Errno>, found: Option<u64>, recorded: u64) -> SignalRoute {
    match opened {
        _ if found != Some(recorded) => SignalRoute::Nobody,
        Ok(()) => SignalRoute::Descriptor,
        Err(Errno::SRCH) => SignalRoute::Nobody,
        Err(_) => SignalRoute::Number,
    }
}

fn send_number(process: Process, number: Number, open: impl Fn(Pid) -> Result<OwnedFd, Errno>) {
    let Some(pid) = valid(process.pid) else { return };
    let opened = open(pid);
    let found = processes::read(process.pid).map(|found| found.started);
    match (way(opened.as_ref().map(drop).map_err(|error| *error), found, process.started), opened) {
        (SignalRoute::Descriptor, Ok(descriptor)) => send_through(&descriptor, number),
        (SignalRoute::Number, _) => drop(kill_process(pid, number)),
        (SignalRoute::Descriptor | SignalRoute::Nobody, _) => {}
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

    /// A child that ends when its input does, and its process record.
    #[expect(clippy::disallowed_methods, reason = "a process to be signalled")]
    fn child() -> (Child, Process) {
        let child = Command::new("/bin/cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = processes::read(i32::try_from(child.id()).unwrap()).unwrap();
        (child, process)
    }

    /// How a signalled child ends once its input is closed.
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
        assert_eq!(way(Ok(()), Some(7), 7), SignalRoute::Descriptor);
        assert_eq!(way(Err(Errno::NOSYS), Some(7), 7), SignalRoute::Number);
        assert_eq!(way(Err(Errno::MFILE), Some(7), 7), SignalRoute::Number);
        assert_eq!(way(Err(Errno::SRCH), Some(7), 7), SignalRoute::Nobody);
        for opened in [Ok(()), Err(Errno::NOSYS)] {
            assert_eq!(way(opened, Some(8), 7), SignalRoute::Nobody);
            assert_eq!(way(opened, None, 7), SignalRoute::Nobody);
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
