//! Starts a detached program without copying our page tables.
//!
//! A fork copies the page tables, and detaching takes two forks. Here the children share our memory
//! while this process is suspended, as in `posix_spawn`, which cannot start a grandchild.

use std::ffi::{CString, OsStr, c_char, c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::host::signal;
use crate::host::spawn::{Attachment, keep_only};

/// Stack of a child, which must not allocate.
const STACK: usize = 32 << 10;

/// A program with everything prepared for the exec.
pub(super) struct Program {
    path: CString,
    args: Vec<CString>,
    environment: Vec<CString>,
    null: File,
    /// The only descriptor that it inherits.
    descriptor: RawFd,
}

impl Program {
    pub(super) fn new(
        path: &str,
        args: &[&OsStr],
        environment: &[(impl AsRef<OsStr>, impl AsRef<OsStr>)],
        descriptor: RawFd,
    ) -> io::Result<Self> {
        let pair = |(name, value): &(_, _)| {
            let (name, value): (&OsStr, &OsStr) = (AsRef::as_ref(name), AsRef::as_ref(value));
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
        };
        Ok(Self {
            path: CString::new(path)?,
            args: args.iter().map(|arg| CString::new(arg.as_bytes())).collect::<Result<_, _>>()?,
            environment: environment.iter().map(pair).collect::<Result<_, _>>()?,
            null: OpenOptions::new().read(true).write(true).open("/dev/null")?,
            descriptor,
        })
    }

    /// Starts it in `/`, in a session of its own, with all signals blocked. Returns its process id
    /// if it is our child.
    pub(super) fn start(&self, ties: Attachment) -> io::Result<Option<i32>> {
        let [args, environment] = [&self.args, &self.environment].map(|all| terminated(all));
        let mut stacks = [(); 2].map(|()| Box::new_uninit_slice(STACK));
        let [outer, inner] = stacks.each_mut().map(|stack| top(stack));
        let start = Start {
            program: self,
            args: args.as_ptr(),
            environment: environment.as_ptr(),
            ties,
            stack: inner,
            error: AtomicI32::new(0),
        };
        // No signal handler of ours may run in a child that shares our memory.
        let held = signal::block_all_signals();
        // SAFETY: the child has its own stack, and everything it reads outlives it because this
        // process is suspended until the child has executed or ended.
        let pid = unsafe { clone_vfork(start_session, outer, &start) };
        let failed = (pid == -1).then(io::Error::last_os_error);
        signal::set_signal_mask(&held);
        if let Some(error) = failed {
            return Err(error);
        }
        let error = start.error.load(Ordering::Relaxed);
        if ties == Attachment::Child && error == 0 {
            return Ok(Some(pid));
        }
        let collected = collect(pid);
        match error {
            // The intermediate process may end in any way; the lock shows whether the program runs.
            0 => Ok(None),
            error => collected.and(Err(io::Error::from_raw_os_error(error))),
        }
    }
}

/// What both children read, and where they report an error.
struct Start<'a> {
    program: &'a Program,
    args: *const *const c_char,
    environment: *const *const c_char,
    ties: Attachment,
    stack: *mut c_void,
    error: AtomicI32,
}

fn terminated(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
}

/// The start of a stack, which grows downwards.
fn top(stack: &mut [MaybeUninit<u8>]) -> *mut c_void {
    let end = stack.as_mut_ptr_range().end;
    end.wrapping_sub(end.addr() % 16).cast()
}

/// # Safety
/// `main` must be async-signal-safe, and nobody else may use `stack`.
unsafe fn clone_vfork(
    main: extern "C" fn(*mut c_void) -> c_int,
    stack: *mut c_void,
    start: &Start<'_>,
) -> c_int {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: as the caller says.
    unsafe { libc::clone(main, stack, flags, std::ptr::from_ref(start).cast_mut().cast()) }
}

/// Runs in the child: starts a session, then executes the program or starts the grandchild that
/// does.
extern "C" fn start_session(start: *mut c_void) -> c_int {
    // SAFETY: our parent is suspended, so `start` is valid.
    let start = unsafe { &*start.cast::<Start<'_>>() };
    // SAFETY: system calls only; the stack is for the grandchild.
    unsafe {
        libc::setsid();
        match start.ties {
            Attachment::Child => exec_program(start),
            Attachment::Detached => match clone_vfork(execute, start.stack, start) {
                -1 => failed(start),
                _ => 0,
            },
        }
    }
}

extern "C" fn execute(start: *mut c_void) -> c_int {
    // SAFETY: our parent is suspended, so `start` is valid.
    unsafe { exec_program(&*start.cast::<Start<'_>>()) }
}

/// Executes the program; returns only on failure.
///
/// # Safety
///
/// For a child that shares its parent's memory.
unsafe fn exec_program(start: &Start<'_>) -> c_int {
    let Start { program, args, environment, .. } = *start;
    // SAFETY: system calls with strings and lists that end with zero.
    unsafe {
        for stream in 0..3 {
            libc::dup2(program.null.as_raw_fd(), stream);
        }
        keep_only(program.descriptor);
        if libc::chdir(c"/".as_ptr()) == 0 {
            libc::execve(program.path.as_ptr(), args, environment);
        }
    }
    failed(start)
}

fn failed(start: &Start<'_>) -> c_int {
    start.error.store(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO), Ordering::Relaxed);
    127
}

/// The exit status of a child that has ended or is about to.
fn collect(pid: c_int) -> io::Result<c_int> {
    let mut status = 0;
    loop {
        // SAFETY: a child of ours, and an integer to fill in.
        if unsafe { libc::waitpid(pid, &mut status, 0) } != -1 {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    fn start(path: &str, args: &[&str], ties: Attachment, descriptor: &File) -> io::Result<Option<i32>> {
        let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
        Program::new(path, &args, &[("WORD", "given")], descriptor.as_raw_fd())?.start(ties)
    }

    /// Reads until everybody else has closed the other end.
    fn read(mut side: impl io::Read) -> String {
        let mut text = String::new();
        side.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn it_stands_alone_with_one_descriptor_and_its_environment() {
        for ties in [Attachment::Detached, Attachment::Child] {
            let (side, other) = io::pipe().unwrap();
            let other = File::from(std::os::fd::OwnedFd::from(other));
            let number = other.as_raw_fd();
            let script = format!(
                "echo $WORD, $PWD, $0, $(env | grep -c HOME), $(readlink /proc/self/fd/0) >&{number};
                 set -- $(cat /proc/$$/stat); echo $4 $6 $1 >&{number}; ls /proc/$$/fd | wc -l >&{number}"
            );
            let pid = start("/bin/sh", &["name", "-c", &script, "zero"], ties, &other).unwrap();
            assert_eq!(pid.is_some(), ties == Attachment::Child);
            drop(other);
            let text = read(side);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines[0], "given, /, zero, 0, /dev/null");
            let numbers: Vec<&str> = lines[1].split(' ').collect();
            // SAFETY: a system call without arguments.
            assert_ne!(numbers[1], unsafe { libc::getsid(0) }.to_string());
            // A process that leads no session can never get a terminal.
            assert_eq!(numbers[1] == numbers[2], ties == Attachment::Child);
            let own = std::process::id().to_string();
            assert_eq!(numbers[0] == own, ties == Attachment::Child, "{text}");
            // The standard streams, the one descriptor, and the pipe of the `$(…)` or `|` that
            // lists them.
            assert!(lines[2].trim().parse::<u32>().unwrap() <= 5, "{text}");
            if let Some(pid) = pid {
                assert_eq!(collect(pid).unwrap(), 0);
            }
        }
    }

    #[test]
    fn one_that_cannot_be_executed_is_an_error_and_leaves_no_child() {
        let file = File::open("/dev/null").unwrap();
        for ties in [Attachment::Detached, Attachment::Child] {
            let error = start("/nowhere/at/all", &["x"], ties, &file).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
            assert_eq!(
                start("/etc/passwd", &["x"], ties, &file).unwrap_err().raw_os_error(),
                Some(libc::EACCES)
            );
        }
        assert_eq!(std::fs::read_to_string("/proc/thread-self/children").unwrap(), "");
    }
}
