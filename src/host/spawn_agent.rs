//! Starts an agent: with piped streams, in the control group of its run, killed if we die.

use std::fs::File;
use std::io;
use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};

use crate::host::opened_dirs::OpenedDirs;
use crate::host::spawn::{number, program};
use crate::model::{CommandSpec, Signal};

/// A started program and our ends of its streams. The caller must reap it.
#[derive(Debug)]
pub(crate) struct StartedAgent {
    pub(crate) pid: i32,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// What to start, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentLaunch<'a> {
    pub(crate) spec: &'a CommandSpec,
    pub(crate) environment: &'a [(String, String)],
    pub(crate) ground: &'a OpenedDirs,
}

/// Starts an agent with piped streams in a process group of its own and in `cgroup`.
///
/// Must be called from the main thread: the kernel sends the parent-death signal when the *thread*
/// that forked ends.
pub(crate) fn agent(launch: AgentLaunch<'_>, cgroup: Option<&Path>) -> io::Result<StartedAgent> {
    let AgentLaunch { spec, environment, ground } = launch;
    let command = || {
        let mut command = program(&spec.program);
        command
            .args(&spec.args)
            .env_clear()
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .process_group(0);
        command
    };
    spawn_held(command, spec.on_orphaned, cgroup, Some(ground))
}

/// Starts a program that dies with us, in a control group if one is given.
fn spawn_held(
    command: impl Fn() -> Command,
    orphaned: Signal,
    cgroup: Option<&Path>,
    ground: Option<&OpenedDirs>,
) -> io::Result<StartedAgent> {
    let enter = |command: &mut Command| ground.into_iter().for_each(|ground| ground.enter(command));
    #[cfg(target_os = "linux")]
    if let Some(group) = cgroup {
        let mut command = command();
        die_with_parent(&mut command, orphaned, None);
        enter(&mut command);
        if let Some(started) = spawn_in_cgroup(group, command)? {
            return Ok(started);
        }
    }
    let entry = |group: &Path| File::options().write(true).open(group.join("cgroup.procs"));
    let entry = cgroup.map(entry).transpose()?;
    let mut command = command();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    die_with_parent(&mut command, orphaned, entry.as_ref().map(AsRawFd::as_raw_fd));
    // Last, so that nothing happens between the check and the exec.
    enter(&mut command);
    let mut child = command.spawn()?;
    let pid = i32::try_from(child.id()).unwrap_or(0);
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(StartedAgent { pid, stdin, stdout, stderr }),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Starts a program directly in the control group. Moving it there later would block the kernel for
/// ten milliseconds or more.
///
/// `None` if the system cannot or will not do that; moving it then yields the reason. For
/// single-threaded processes only: the child still allocates.
///
/// Linux 6.14 to at least 6.18 kill such a child before its first instruction if the group was ever
/// emptied with `cgroup.kill` and ours was not: it compares how often each was. So the child says
/// that it lives, and one that does not is moved there instead.
#[cfg(target_os = "linux")]
fn spawn_in_cgroup(group: &Path, mut command: Command) -> io::Result<Option<StartedAgent>> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    /// The kernel's value; the C library's constant is too narrow.
    const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;
    const ALIVE: u8 = 1;
    let group = File::options().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(group)?;
    let ((stdin, ours_in), (ours_out, stdout), (ours_err, stderr)) = (io::pipe()?, io::pipe()?, io::pipe()?);
    let (mut failure, mut tell) = io::pipe()?;
    command.stdin(stdin).stdout(stdout).stderr(stderr);
    // SAFETY: all of its fields are numbers, for which zero means "none".
    let mut how: libc::clone_args = unsafe { std::mem::zeroed() };
    how.flags = CLONE_INTO_CGROUP;
    how.exit_signal = libc::SIGCHLD as u64;
    how.cgroup = group.as_raw_fd() as u64;
    // SAFETY: an ordinary fork without shared memory. No other thread can hold a lock that the
    // child would wait for.
    let pid = unsafe { libc::syscall(libc::SYS_clone3, &raw mut how, size_of_val(&how)) };
    match i32::try_from(pid).unwrap_or(-1) {
        -1 => Ok(None),
        0 => {
            let _ = tell.write_all(&[ALIVE]);
            let error = command.exec().raw_os_error().unwrap_or(libc::EINVAL);
            let _ = tell.write_all(&error.to_ne_bytes());
            // SAFETY: ends the child at once; nothing of the parent's is undone.
            unsafe { libc::_exit(127) }
        }
        pid => {
            drop((command, tell));
            if failure.read_exact(&mut [0]).is_err() {
                collect(pid);
                return Ok(None);
            }
            let mut error = [0; 4];
            if failure.read_exact(&mut error).is_err() {
                let [stdin, stdout, stderr] =
                    [OwnedFd::from(ours_in), OwnedFd::from(ours_out), OwnedFd::from(ours_err)];
                return Ok(Some(StartedAgent {
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

/// Waits for a child that is about to end.
fn collect(pid: i32) -> Option<i32> {
    let mut status = 0;
    // SAFETY: `status` is a valid place for the kernel to write to.
    let collected = unsafe { libc::waitpid(pid, &mut status, 0) };
    (collected == pid).then_some(status)
}

/// Whether our processes can be placed in the control group.
pub(crate) fn can_enter(group: &Path) -> bool {
    let command = || {
        let mut command = program("/bin/sh");
        command.args(["-c", ":"]).env_clear();
        command
    };
    let started = spawn_held(command, Signal::Kill, Some(group), None);
    started.is_ok_and(|started| collect(started.pid) == Some(0))
}

/// Makes the child join `cgroup` and receive `signal` when we die.
pub(super) fn die_with_parent(command: &mut Command, signal: Signal, cgroup: Option<RawFd>) {
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
            // If the parent died before the call, no signal will come.
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
