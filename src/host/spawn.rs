//! Starts every program that this one starts.
//!
//! There are four kinds: agents (see [`spawn_agent`](crate::host::spawn_agent)), detached
//! supervisors, programs whose output we want, and programs that a user runs in a recorded
//! terminal.

use std::ffi::{CStr, OsStr, OsString};
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::host::lock::Lock;
use crate::host::signal;
use crate::host::spawn_agent::die_with_parent;
#[cfg(target_os = "linux")]
use crate::host::spawn_detached;
use crate::model::Signal;

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(super) fn program(path: impl AsRef<OsStr>) -> Command {
    Command::new(path)
}

/// Starts this program as a supervisor.
///
/// It has its own session, no terminal, and no descriptor of ours except the lock. With
/// `Attachment::Detached` it is nobody's child and outlives the caller. With `Attachment::Child` it
/// stays our child, so that we can tell it from the agent's descendants.
pub(crate) fn spawn_supervisor(
    run_dir: &Path,
    lock: &Lock,
    attempt: u32,
    environment: Vec<(OsString, OsString)>,
    ties: Attachment,
) -> io::Result<Option<i32>> {
    let descriptor = lock.file().as_raw_fd();
    let (lock, attempt) = (descriptor.to_string(), attempt.to_string());
    let args = ["delegator", "supervise", "--lock-fd", &lock, "--attempt", &attempt].map(OsStr::new);
    let args: Vec<&OsStr> = args.into_iter().chain([run_dir.as_os_str()]).collect();
    started(&args, &environment, descriptor, ties)
}

#[cfg(target_os = "linux")]
fn started(
    args: &[&OsStr],
    environment: &[(OsString, OsString)],
    descriptor: RawFd,
    ties: Attachment,
) -> io::Result<Option<i32>> {
    // The link works even if the file was replaced by a newer version.
    spawn_detached::Program::new("/proc/self/exe", args, environment, descriptor)?.start(ties)
}

#[cfg(not(target_os = "linux"))]
fn started(
    args: &[&OsStr],
    environment: &[(OsString, OsString)],
    descriptor: RawFd,
    ties: Attachment,
) -> io::Result<Option<i32>> {
    let mut command = program(std::env::current_exe()?);
    command
        .arg0(args[0])
        .args(&args[1..])
        .current_dir("/")
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let hook = move || {
        // SAFETY: async-signal-safe calls with integer arguments; the process
        // in between ends at once without running anything of ours.
        unsafe {
            libc::setsid();
            if ties == Attachment::Detached {
                match libc::fork() {
                    -1 => return Err(io::Error::last_os_error()),
                    0 => {}
                    _ => libc::_exit(0),
                }
            }
            keep_only(descriptor);
        }
        Ok(())
    };
    // SAFETY: as above; the hook allocates nothing.
    unsafe { command.pre_exec(hook) };
    let mut child = command.spawn()?;
    match ties {
        Attachment::Detached => {
            child.wait()?;
            Ok(None)
        }
        Attachment::Child => Ok(i32::try_from(child.id()).ok()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attachment {
    Detached,
    Child,
}

/// Marks every descriptor except `descriptor` close-on-exec. If a supervisor kept a client's pipe
/// open, the client would wait for its end.
///
/// # Safety
/// For use between fork and exec only.
pub(super) unsafe fn keep_only(descriptor: RawFd) {
    // SAFETY: system calls with integer arguments; failure leaves the
    // close-on-exec flags that every descriptor of ours has anyway.
    unsafe {
        #[cfg(target_os = "linux")]
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
        libc::fcntl(descriptor, libc::F_SETFD, 0);
    }
}

/// Takes over the lock that [`spawn_supervisor`] passed down and makes it close-on-exec.
pub(crate) fn inherited_lock(descriptor: RawFd) -> io::Result<Lock> {
    use std::os::fd::FromRawFd;
    // SAFETY: system calls on a descriptor number; a wrong one fails here.
    if unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) } == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the number was given to this process for this purpose alone,
    // and nothing else here owns it.
    Ok(Lock::inherited(unsafe { File::from_raw_fd(descriptor) }))
}

/// Starts a user's program in a terminal: in a session of its own, with the user's environment and
/// one more variable.
pub(crate) fn spawn_in_terminal(
    path: &OsStr,
    args: &[OsString],
    terminal: &OwnedFd,
    variable: (&str, &str),
) -> io::Result<Child> {
    let mut command = program(path);
    command
        .args(args)
        .env(variable.0, variable.1)
        .stdin(terminal.try_clone()?)
        .stdout(terminal.try_clone()?)
        .stderr(terminal.try_clone()?);
    let hook = || {
        // SAFETY: plain system calls; standard input is the terminal by now.
        // Its session is new, so that the terminal can become its own.
        let owned = unsafe { libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY as _, 0) != -1 };
        if owned { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the hook calls nothing but async-signal-safe functions and
    // allocates nothing.
    unsafe { command.pre_exec(hook) };
    command.spawn()
}

/// Replaces this process by another program with one more variable. Returns only on failure.
pub(crate) fn exec_program(path: &Path, args: &[OsString], variable: (&str, &str)) -> io::Error {
    program(path).args(args).env(variable.0, variable.1).exec()
}

/// Why [`ask`] returned no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskError {
    /// It was not done in time.
    Late,
    /// It could not be started, failed, or printed too much.
    Failed,
}

/// Runs a program and returns its standard output if it succeeds within `limit`.
pub(crate) fn ask(
    path: &Path,
    args: &[String],
    cwd: &Path,
    environment: &[(String, String)],
    limit: Duration,
) -> Result<String, AskError> {
    let mut command = program(path);
    command
        .args(args)
        .current_dir(cwd)
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    die_with_parent(&mut command, Signal::Kill, None);
    let mut child = command.spawn().map_err(|_| AskError::Failed)?;
    let mut stdout = child.stdout.take().ok_or(AskError::Failed)?;
    let deadline = crate::host::clock::monotonic() + limit;
    let answer = read_until(&mut stdout, deadline);
    // A program may close its output and not end.
    while answer.is_some() && crate::host::clock::monotonic() < deadline {
        if let Some(status) = child.try_wait().map_err(|_| AskError::Failed)? {
            return answer.filter(|_| status.success()).ok_or(AskError::Failed);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let late = crate::host::clock::monotonic() >= deadline;
    signal::send_to_group_of_child(i32::try_from(child.id()).unwrap_or(0), Signal::Kill);
    let _ = child.wait();
    Err(if late { AskError::Late } else { AskError::Failed })
}

/// Starts a program with piped streams in a process group of its own. It dies with us.
pub(crate) fn spawn_piped(
    path: &Path,
    args: &[OsString],
    cwd: &Path,
    environment: &[(&str, &OsStr)],
) -> io::Result<Child> {
    let mut command = program(path);
    command
        .args(args)
        .current_dir(cwd)
        .env_clear()
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    die_with_parent(&mut command, Signal::Kill, None);
    command.spawn()
}

/// The process name of every supervisor, by which its descendants recognise it.
pub(crate) const PROCESS_NAME: &CStr = c"delegator";

/// Sets the process name. Without it, process lists would show the link that the program was
/// started through.
pub(crate) fn set_process_name() {
    #[cfg(target_os = "linux")]
    // SAFETY: a string that ends with zero, which the kernel copies.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, PROCESS_NAME.as_ptr());
    }
}

/// Keeps this process alive on SIGHUP, SIGINT and SIGTERM and unblocks all signals. Uses an empty
/// handler because programs that we start would inherit "ignore".
pub(crate) fn ignore_termination_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(signal, handler) };
    }
    signal::unblock_all_signals();
}

/// Reads to the end, or gives up at `deadline`.
fn read_until(stdout: &mut ChildStdout, deadline: Duration) -> Option<String> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        let left = deadline.checked_sub(crate::host::clock::monotonic())?;
        let wait = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        if poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&wait)).ok()? == 0 {
            return None;
        }
        match stdout.read(&mut chunk).ok()? {
            0 => return Some(String::from_utf8_lossy(&bytes).into_owned()),
            n if bytes.len() + n > 1 << 20 => return None,
            n => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

/// Makes orphaned descendants children of this process instead of init's.
pub(crate) fn adopt_orphans() -> bool {
    #[cfg(target_os = "linux")]
    // SAFETY: a system call with integer arguments.
    let adopted = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } == 0;
    #[cfg(not(target_os = "linux"))]
    let adopted = false;
    adopted
}

pub(super) fn number(signal: Signal) -> libc::c_int {
    match signal {
        Signal::Interrupt => libc::SIGINT,
        Signal::Terminate => libc::SIGTERM,
        Signal::Kill => libc::SIGKILL,
    }
}

/// Result of [`reap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaped {
    /// This child ended, with its raw wait status.
    Ended { pid: i32, status: i32 },
    /// There are children, but none has ended.
    StillRunning,
    /// No child is left.
    NoChildren,
}

/// Reaps one ended child without blocking.
pub(crate) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the kernel to write to.
    match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
        0 => Reaped::StillRunning,
        -1 => Reaped::NoChildren,
        pid => Reaped::Ended { pid, status },
    }
}

/// Decodes a raw wait status.
pub(crate) fn exit_of(status: i32) -> crate::model::Exit {
    use std::os::unix::process::ExitStatusExt;
    let status = std::process::ExitStatus::from_raw(status);
    match (status.code(), status.signal()) {
        (Some(code), _) => crate::model::Exit::Code(code),
        (None, signal) => crate::model::Exit::Signal(signal.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{clock, processes};

    const LONG: Duration = Duration::from_secs(20);

    /// Runs a shell script with a limit of a fifth of a second if it is expected to be late. The
    /// processes whose ids it writes to `pids` must be gone afterwards.
    fn check(script: &str, expected: Result<&str, AskError>) {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let args = ["-c".to_owned(), format!("echo $$ >>{}; {script}", pids.display())];
        let until = clock::monotonic() + LONG;
        let limit = if expected == Err(AskError::Late) { Duration::from_millis(200) } else { LONG };
        let answer = ask(Path::new("/bin/sh"), &args, dir.path(), &[], limit);
        assert_eq!(answer.as_deref().map_err(|why| *why), expected, "{script}");
        assert!(clock::monotonic() < until, "{script}");
        for pid in std::fs::read_to_string(pids).unwrap_or_default().lines() {
            let pid: i32 = pid.parse().unwrap();
            while processes::read(pid).is_some_and(|process| !process.zombie) {
                assert!(clock::monotonic() < until, "{script}: {pid} is left");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn an_answer_is_what_was_printed_by_a_program_that_ended_well() {
        check("echo one; echo two >&2", Ok("one\n"));
        check("echo one; exit 1", Err(AskError::Failed));
    }

    #[test]
    fn a_program_that_does_not_answer_in_time_is_ended_with_what_it_started() {
        check("sleep 100000", Err(AskError::Late));
        check("sleep 100000 & echo $! >>pids; sleep 100000", Err(AskError::Late));
        check("trap '' TERM INT HUP; sleep 100000; sleep 100000", Err(AskError::Late));
    }

    #[test]
    fn a_program_that_answers_and_does_not_end_is_ended() {
        check("echo one; exec >&-; exec sleep 100000", Err(AskError::Late));
    }

    #[test]
    fn whoever_holds_the_pipe_after_the_answer_is_ended() {
        check("echo one; sleep 100000 & echo $! >>pids", Err(AskError::Late));
    }

    #[test]
    fn an_endless_answer_is_none() {
        check("exec yes", Err(AskError::Failed));
    }
}
