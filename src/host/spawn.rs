//! The one spawn point: how every program of ours is started.
//!
//! Four kinds: an agent (own process group, dies with its supervisor), a
//! supervisor (detached from whoever starts it), whoever is asked something,
//! and what a person runs in a terminal of ours.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::host::lock::Lock;
use crate::host::signal;
use crate::model::{CommandSpec, Signal};

#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn program(path: impl AsRef<OsStr>) -> Command {
    Command::new(path)
}

/// A program that was started, and the other ends of its streams. Whoever
/// started it collects it with [`reap`].
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) pid: i32,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// Starts an agent with piped streams, in a process group of its own, and in
/// the control group whose directory is given.
///
/// Must be called from the main thread: the kernel sends the parent-death
/// signal when the *thread* that forked ends.
pub(crate) fn agent(
    spec: &CommandSpec,
    environment: &[(String, String)],
    cgroup: Option<&Path>,
) -> io::Result<Started> {
    let command = || {
        let mut command = program(&spec.program);
        command
            .args(&spec.args)
            .current_dir(&spec.cwd)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .process_group(0);
        command
    };
    held(command, spec.on_orphaned, cgroup)
}

/// Starts a program that dies with us, in a control group if one is given.
fn held(command: impl Fn() -> Command, orphaned: Signal, cgroup: Option<&Path>) -> io::Result<Started> {
    #[cfg(target_os = "linux")]
    if let Some(group) = cgroup {
        let mut command = command();
        die_with_parent(&mut command, orphaned, None);
        if let Some(started) = born_in(group, command)? {
            return Ok(started);
        }
    }
    let entry = |group: &Path| File::options().write(true).open(group.join("cgroup.procs"));
    let entry = cgroup.map(entry).transpose()?;
    let mut command = command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    die_with_parent(&mut command, orphaned, entry.as_ref().map(AsRawFd::as_raw_fd));
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).unwrap_or(0);
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Started { pid, stdin, stdout, stderr }),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Starts a program that is in the control group from its first moment. To move
/// it there afterwards holds up the kernel for ten milliseconds and more.
///
/// `None` where the system cannot do that, or would not; moving it there tells
/// why. For a process with one thread: the child still allocates.
#[cfg(target_os = "linux")]
fn born_in(group: &Path, mut command: Command) -> io::Result<Option<Started>> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    /// As the kernel has it; the C library's constant is too narrow for it.
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    let group = File::options().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(group)?;
    let ((stdin, ours_in), (ours_out, stdout), (ours_err, stderr)) = (io::pipe()?, io::pipe()?, io::pipe()?);
    let (mut failure, mut tell) = io::pipe()?;
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    // SAFETY: all of its fields are numbers, for which zero means "none".
    let mut how: libc::clone_args = unsafe { std::mem::zeroed() };
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = libc::SIGCHLD as u64;
    how.cgroup = group.as_raw_fd() as u64;
    // SAFETY: a fork as any other, without shared memory. There is no other
    // thread that could hold a lock which the child would wait for.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut how, size_of_val(&how)) };
    match i32::try_from(pid).unwrap_or(-1) {
        -1 => Ok(None),
        0 => {
            let error = command.exec().raw_os_error().unwrap_or(libc::EINVAL);
            let _ = tell.write_all(&error.to_ne_bytes());
            // SAFETY: ends the child at once; nothing of the parent's is undone.
            unsafe { libc::_exit(127) }
        }
        pid => {
            drop((command, tell));
            let mut error = [0; 4];
            if failure.read_exact(&mut error).is_err() {
                let [stdin, stdout, stderr] =
                    [OwnedFd::from(ours_in), OwnedFd::from(ours_out), OwnedFd::from(ours_err)];
                return Ok(Some(Started {
                    pid,
                    stdin: stdin.into(),
                    stdout: stdout.into(),
                    stderr: stderr.into(),
                }));
            }
            collect(pid);
            Err(io::Error::from_raw_os_error(i32::from_ne_bytes(error)))
        }
    }
}

/// Waits for the end of a child that is about to end.
fn collect(pid: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the kernel to write to.
    let collected = unsafe { libc::waitpid(pid, &mut status, 0) };
    (collected == pid).then_some(status)
}

/// Makes the child join `cgroup` and receive `signal` when we die.
fn die_with_parent(command: &mut Command, signal: Signal, cgroup: Option<RawFd>) {
    let parent = std::process::id();
    let hook = move || {
        if let Some(procs) = cgroup {
            // SAFETY: a write to a descriptor that the parent holds open; `0`
            // moves the writing process itself.
            if unsafe { libc::write(procs, b"0".as_ptr().cast(), 1) } != 1 {
                return Err(io::Error::last_os_error());
            }
        }
        #[cfg(target_os = "linux")]
        {
            // SAFETY: plain system calls with integer arguments.
            let (set, above) =
                unsafe { (libc::prctl(libc::PR_SET_PDEATHSIG, number(signal)), libc::getppid()) };
            if set != 0 {
                return Err(io::Error::last_os_error());
            }
            // The parent may have died before the call: then no signal comes.
            if u32::try_from(above).ok() != Some(parent) {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (signal, parent);
        Ok(())
    };
    // SAFETY: the hook calls nothing but async-signal-safe functions and
    // allocates nothing.
    unsafe { command.pre_exec(hook) };
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
    // The link still works when the file was replaced by a newer version.
    let mut command = program("/proc/self/exe");
    #[cfg(not(target_os = "linux"))]
    let mut command = program(std::env::current_exe()?);
    command
        .arg0("delegator")
        .args(["supervise", "--lock-fd", &descriptor.to_string(), "--attempt", &attempt.to_string()])
        .arg(run_dir)
        .current_dir("/")
        .env_clear()
        .envs(environment)
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
unsafe fn keep_only(descriptor: RawFd) {
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

/// Asks a program something: its standard output, when it ends well in time.
pub(crate) fn ask(
    path: &Path,
    args: &[String],
    cwd: &Path,
    environment: &[(String, String)],
    limit: Duration,
) -> Option<String> {
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
    let mut child = command.spawn().ok()?;
    let mut stdout = child.stdout.take()?;
    let deadline = crate::host::clock::monotonic() + limit;
    let answer = read_until(&mut stdout, deadline);
    // One that has said all it has to say may still not end.
    while answer.is_some() && crate::host::clock::monotonic() < deadline {
        if let Some(status) = child.try_wait().ok()? {
            return answer.filter(|_| status.success());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    signal::send_to_group_of_child(i32::try_from(child.id()).unwrap_or(0), Signal::Kill);
    let _ = child.wait();
    None
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

/// Whether a process of ours can be in the control group.
pub(crate) fn can_enter(group: &Path) -> bool {
    let command = || {
        let mut command = program("/bin/sh");
        command.args(["-c", ":"]).env_clear();
        command
    };
    let started = held(command, Signal::Kill, Some(group));
    started.is_ok_and(|started| collect(started.pid) == Some(0))
}

/// Makes lists of processes call this one by its program, not by the link that
/// it was started through.
pub(crate) fn take_name() {
    #[cfg(target_os = "linux")]
    // SAFETY: a string that ends with zero, which the kernel copies.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, c"delegator".as_ptr());
    }
}

/// Lets this process live through the signals that end a session or a program
/// that somebody takes for a client. A handler, not "ignore": what we start
/// must not inherit it.
pub(crate) fn outlive_polite_signals() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler does nothing.
        unsafe { libc::signal(signal, handler) };
    }
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

fn number(signal: Signal) -> libc::c_int {
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
    use crate::host::{clock, proc};

    const LONG: Duration = Duration::from_secs(20);

    /// Asks a shell script; one that gives no answer is asked for a fifth of a
    /// second. The processes that it writes to `pids` must be gone afterwards.
    fn check(script: &str, expected: Option<&str>) {
        let dir = tempfile::tempdir().unwrap();
        let pids = dir.path().join("pids");
        let args = ["-c".to_owned(), format!("echo $$ >>{}; {script}", pids.display())];
        let until = clock::monotonic() + LONG;
        let limit = expected.map_or(Duration::from_millis(200), |_| LONG);
        let answer = ask(Path::new("/bin/sh"), &args, dir.path(), &[], limit);
        assert_eq!(answer.as_deref(), expected, "{script}");
        assert!(clock::monotonic() < until, "{script}");
        for pid in std::fs::read_to_string(pids).unwrap_or_default().lines() {
            let pid: i32 = pid.parse().unwrap();
            while proc::read(pid).is_some_and(|process| !process.zombie) {
                assert!(clock::monotonic() < until, "{script}: {pid} is left");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn an_answer_is_what_was_printed_by_a_program_that_ended_well() {
        check("echo one; echo two >&2", Some("one\n"));
        check("echo one; exit 1", None);
    }

    #[test]
    fn a_program_that_does_not_answer_in_time_is_ended_with_what_it_started() {
        check("sleep 100000", None);
        check("sleep 100000 & echo $! >>pids; sleep 100000", None);
        check("trap '' TERM INT HUP; sleep 100000; sleep 100000", None);
    }

    #[test]
    fn a_program_that_answers_and_does_not_end_is_ended() {
        check("echo one; exec >&-; exec sleep 100000", None);
    }

    #[test]
    fn whoever_holds_the_pipe_after_the_answer_is_ended() {
        check("echo one; sleep 100000 & echo $! >>pids", None);
    }

    #[test]
    fn an_endless_answer_is_none() {
        check("exec yes", None);
    }
}
