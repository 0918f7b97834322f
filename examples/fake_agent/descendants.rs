//! Starts processes that try in every way to survive the agent.
//!
//! Each writes its process id to the given file before the step ends, so that a test can find it.
//! None lives for more than two minutes.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{append, until};

/// Maximum lifetime of a left-over process.
const LIFETIME_S: u32 = 120;
/// Depth of the chain.
const DEPTH: usize = 10;

/// Starts `count` processes of a kind and returns when all are running.
pub(crate) fn leave(kind: &str, count: usize, file: Option<&Path>) {
    let before = lines(file);
    let expected = match kind {
        "chain" => DEPTH,
        "forks" => count,
        _ => 1,
    };
    start(kind, expected, file);
    if file.is_some() {
        until(|| lines(file) >= before + expected);
    }
}

fn start(kind: &str, count: usize, file: Option<&Path>) {
    let stay = || stay(file);
    match kind {
        "plain" => fork(|| (silence(), stay()).1),
        // Like a shell's `command &`.
        "background" => fork(|| (silence(), ignore(libc::SIGINT), ignore(libc::SIGQUIT), stay()).3),
        "setsid" => fork(|| (silence(), new_session(), stay()).2),
        "doublefork" => fork(|| (silence(), fork(stay)).1),
        "nohup" => fork(|| (silence(), ignore(libc::SIGHUP), stay()).2),
        "ignorer" => fork(|| {
            silence();
            [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT].into_iter().for_each(ignore);
            stay();
        }),
        "holder" => fork(stay),
        "stopped" => fork(|| (silence(), record(file), stop()).2),
        "forks" => fork(|| (silence(), tree(count, file)).1),
        "group" => fork(|| (silence(), own_group(), stay()).2),
        "daemon" => fork(|| {
            new_session();
            fork(|| {
                record(file);
                close_everything();
                hang();
            });
        }),
        "chain" => fork(|| (silence(), chain(count, file)).1),
        "reforker" => fork(|| (silence(), new_session(), refork_without_environment(file)).2),
        "cleared" => fork(|| (silence(), record(file), forget_environment()).2),
        _ => panic!("unknown kind `{kind}`"),
    }
}

/// A tree of `count` processes, each of which starts up to two others.
fn tree(count: usize, file: Option<&Path>) {
    let left = count - 1;
    for part in [left / 2, left - left / 2].into_iter().filter(|part| *part > 0) {
        fork(|| tree(part, file));
    }
    stay(file);
}

fn chain(depth: usize, file: Option<&Path>) {
    if depth > 1 {
        fork(|| chain(depth - 1, file));
    }
    stay(file);
}

/// Runs `child` in a new process, which ends when it returns.
fn fork(child: impl FnOnce()) {
    // SAFETY: this program has one thread, so the copy may do anything.
    match unsafe { libc::fork() } {
        -1 => panic!("fork: {}", std::io::Error::last_os_error()),
        0 => {
            child();
            // SAFETY: ends the copy without running what belongs to the original.
            unsafe { libc::_exit(0) }
        }
        _ => {}
    }
}

fn stay(file: Option<&Path>) {
    record(file);
    hang();
}

fn record(file: Option<&Path>) {
    if let Some(file) = file {
        append(file, format!("{}\n", std::process::id()).as_bytes());
    }
}

fn lines(file: Option<&Path>) -> usize {
    file.and_then(|file| fs::read_to_string(file).ok()).map_or(0, |text| text.matches('\n').count())
}

/// Waits for a fatal signal or the end of its lifetime.
pub(crate) fn hang() {
    // SAFETY: system calls with integer arguments; the alarm's default is to end us.
    unsafe {
        libc::alarm(LIFETIME_S);
        loop {
            libc::pause();
        }
    }
}

pub(crate) fn ignore(signal: i32) {
    // SAFETY: a system call with integer arguments.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

fn stop() {
    // SAFETY: system calls with integer arguments.
    unsafe {
        libc::alarm(LIFETIME_S);
        libc::raise(libc::SIGSTOP);
    }
    hang();
}

fn new_session() {
    // SAFETY: a system call without arguments.
    unsafe { libc::setsid() };
}

fn own_group() {
    // SAFETY: a system call with integer arguments.
    unsafe { libc::setpgid(0, 0) };
}

/// Closes the agent's streams, which only the `holder` keeps.
fn silence() {
    // SAFETY: a constant path and system calls with integer arguments.
    unsafe {
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for stream in 0..3 {
            libc::dup2(null, stream);
        }
        libc::close(null);
    }
}

fn close_everything() {
    // SAFETY: nothing of this process uses a descriptor any more.
    unsafe {
        libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, 0_u32);
        libc::chdir(c"/".as_ptr());
    }
}

/// Executes this program again with an empty environment, see [`refork`].
fn refork_without_environment(file: Option<&Path>) {
    let file =
        file.and_then(|file| CString::new(file.as_os_str().as_encoded_bytes()).ok()).unwrap_or_default();
    let args = [c"fake_agent".as_ptr(), c"refork".as_ptr(), file.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: both lists end in a null pointer and outlive the call.
    unsafe { libc::execve(c"/proc/self/exe".as_ptr(), args.as_ptr(), environment.as_ptr()) };
}

/// Forks and exits every half millisecond. All processes hold a lock on `file`, by which a test
/// detects survivors.
pub(crate) fn refork(file: &Path) {
    let lock = fs::File::options().append(true).create(true).open(file).unwrap();
    // SAFETY: a system call on an open descriptor.
    assert_eq!(unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX) }, 0);
    record(Some(file));
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(LIFETIME_S.into()) {
        // SAFETY: this program has one thread; the original ends at once.
        match unsafe { libc::fork() } {
            0 => std::thread::sleep(Duration::from_micros(500)),
            -1 => {}
            // SAFETY: ends the original, whose work the copy goes on with.
            _ => unsafe { libc::_exit(0) },
        }
    }
}

/// Executes a program with an empty environment.
fn forget_environment() {
    let seconds = CString::new(LIFETIME_S.to_string()).unwrap_or_default();
    let args = [c"sleep".as_ptr(), seconds.as_ptr(), std::ptr::null()];
    let environment = [std::ptr::null()];
    // SAFETY: both lists end in a null pointer and outlive the call.
    unsafe { libc::execve(c"/bin/sleep".as_ptr(), args.as_ptr(), environment.as_ptr()) };
}
