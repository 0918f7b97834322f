//! The one spawn point: how every program of ours is started.
//!
//! Four kinds: an agent ([held](crate::host::spawn_agent) by its supervisor), a supervisor
//! (detached from whoever starts it), whoever is asked something, and what a
//! person runs in a terminal of ours.

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

/// Starts this very program as a supervisor that nobody waits for.
///
/// It has its own session, no terminal, no descriptor of ours but the lock,
/// and no parent but the system: it outlives the caller, whoever that is.
/// Returns once it runs. With `Ties::Child` it stays our child instead, so
/// that we know it from the descendants of our agent.
pub(crate) fn supervisor(
    run_dir: &Path,
    lock: &Lock,
    attempt: u32,
    environment: Vec<(OsString, OsString)>,
    ties: Ties,
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
    ties: Ties,
) -> io::Result<Option<i32>> {
    // The link still works when the file was replaced by a newer version.
    spawn_detached::Program::new("/proc/self/exe", args, environment, descriptor)?.start(ties)
}

#[cfg(not(target_os = "linux"))]
fn started(
    args: &[&OsStr],
    environment: &[(OsString, OsString)],
    descriptor: RawFd,
    ties: Ties,
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
            if ties == Ties::Detached {
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
        Ties::Detached => {
            child.wait()?;
            Ok(None)
        }
        Ties::Child => Ok(i32::try_from(child.id()).ok()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ties {
    Detached,
    Child,
}

/// Lets nothing but `descriptor` pass the coming exec: a pipe of the client
/// that lives on in a supervisor would keep the client waiting for its end.
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

/// Takes over the lock that [`supervisor`] handed down, and closes it again
/// towards the agent.
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

/// Starts a program of the person's own in a terminal: a session of its own,
/// their environment, and one variable set.
pub(crate) fn in_terminal(
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

/// Becomes another program, with one variable set. Returns only if it fails.
pub(crate) fn become_program(path: &Path, args: &[OsString], variable: (&str, &str)) -> io::Error {
    program(path).args(args).env(variable.0, variable.1).exec()
}

/// Why a program that was asked something gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It was not done in time.
    Late,
    /// It could not be started, did not end well, or said far too much.
    Failed,
}

/// Asks a program something: its standard output, when it ends well in time.
pub(crate) fn ask(
    path: &Path,
    args: &[String],
    cwd: &Path,
    environment: &[(String, String)],
    limit: Duration,
) -> Result<String, Unanswered> {
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
    let mut child = command.spawn().map_err(|_| Unanswered::Failed)?;
    let mut stdout = child.stdout.take().ok_or(Unanswered::Failed)?;
    let deadline = crate::host::clock::monotonic() + limit;
    let answer = read_until(&mut stdout, deadline);
    // One that has said all it has to say may still not end.
    while answer.is_some() && crate::host::clock::monotonic() < deadline {
        if let Some(status) = child.try_wait().map_err(|_| Unanswered::Failed)? {
            return answer.filter(|_| status.success()).ok_or(Unanswered::Failed);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let late = crate::host::clock::monotonic() >= deadline;
    signal::send_to_group_of_child(i32::try_from(child.id()).unwrap_or(0), Signal::Kill);
    let _ = child.wait();
    Err(if late { Unanswered::Late } else { Unanswered::Failed })
}

/// Starts a program that is talked to through pipes, in a group of its own. It
/// dies with us.
pub(crate) fn piped(
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

/// What every supervisor calls itself. Nobody else can change that.
pub(crate) const NAME: &CStr = c"delegator";

/// Makes lists of processes call this one by its program, not by the link that
/// it was started through.
pub(crate) fn take_name() {
    #[cfg(target_os = "linux")]
    // SAFETY: a string that ends with zero, which the kernel copies.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
    }
}

/// Lets this process live through the signals that end a session or a program
/// that somebody takes for a client. A handler, not "ignore": what we start
/// must not inherit it. Until here, all of them were held back.
pub(crate) fn outlive_polite_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(signal, handler) };
    }
    signal::release_all();
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

/// Makes orphans below this process come to it instead of to the system.
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

/// What [`reap`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaped {
    /// This child ended, with its raw wait status.
    Ended { pid: i32, status: i32 },
    /// Children there are, none of them ended.
    StillRunning,
    /// No child is left.
    NoChildren,
}

/// Collects one ended child without waiting.
pub(crate) fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the kernel to write to.
    match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
        0 => Reaped::StillRunning,
        -1 => Reaped::NoChildren,
        pid => Reaped::Ended { pid, status },
    }
}

/// Reads a raw wait status.
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

    /// Asks a shell script; one that will be late is asked for a fifth of a
    /// second. The processes that it writes to `pids` must be gone afterwards.
    fn check(script: &str, expected: Result<&str, Unanswered>) {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let args = ["-c".to_owned(), format!("echo $$ >>{}; {script}", pids.display())];
        let until = clock::monotonic() + LONG;
        let limit = if expected == Err(Unanswered::Late) { Duration::from_millis(200) } else { LONG };
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
        check("echo one; exit 1", Err(Unanswered::Failed));
    }

    #[test]
    fn a_program_that_does_not_answer_in_time_is_ended_with_what_it_started() {
        check("sleep 100000", Err(Unanswered::Late));
        check("sleep 100000 & echo $! >>pids; sleep 100000", Err(Unanswered::Late));
        check("trap '' TERM INT HUP; sleep 100000; sleep 100000", Err(Unanswered::Late));
    }

    #[test]
    fn a_program_that_answers_and_does_not_end_is_ended() {
        check("echo one; exec >&-; exec sleep 100000", Err(Unanswered::Late));
    }

    #[test]
    fn whoever_holds_the_pipe_after_the_answer_is_ended() {
        check("echo one; sleep 100000 & echo $! >>pids", Err(Unanswered::Late));
    }

    #[test]
    fn an_endless_answer_is_none() {
        check("exec yes", Err(Unanswered::Failed));
    }
}
