//! The system calls behind the measurements: spawning, reaping, clocks, memory.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

/// Time since boot, comparable between processes.
pub fn now() -> Duration {
    // SAFETY: a structure of integers, which the call fills in.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time);
        time
    };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Makes detached supervisors our children, so that their end and cost can be measured.
pub fn adopt_orphans() {
    // SAFETY: a system call with integer arguments.
    assert_eq!(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }, 0);
}

/// A plain `posix_spawn`. Standard output goes to `stdout` if given, otherwise nowhere.
pub fn spawn(argv: &[&str], environment: &[(String, String)], stdout: Option<&OwnedFd>) -> i32 {
    let words: Vec<CString> = argv.iter().map(|word| CString::new(*word).unwrap()).collect();
    let pairs: Vec<CString> =
        environment.iter().map(|(name, value)| CString::new(format!("{name}={value}")).unwrap()).collect();
    let pointers = |strings: &[CString]| -> Vec<*mut libc::c_char> {
        strings.iter().map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
    };
    let (words, pairs) = ((pointers(&words), words), (pointers(&pairs), pairs));
    let null = fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    let out: RawFd = stdout.map_or(null.as_raw_fd(), AsRawFd::as_raw_fd);
    let mut pid = 0;
    // SAFETY: all pointers are to values that live until the call returns; the structures are initialised by their
    // own functions before use.
    let failed = unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        libc::posix_spawn_file_actions_adddup2(&mut actions, null.as_raw_fd(), 0);
        libc::posix_spawn_file_actions_adddup2(&mut actions, out, 1);
        libc::posix_spawn_file_actions_adddup2(&mut actions, null.as_raw_fd(), 2);
        // Rust ignores SIGPIPE for itself; the child must not.
        let mut attributes: libc::posix_spawnattr_t = std::mem::zeroed();
        libc::posix_spawnattr_init(&mut attributes);
        let mut signals: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut signals);
        libc::sigaddset(&mut signals, libc::SIGPIPE);
        libc::posix_spawnattr_setsigdefault(&mut attributes, &signals);
        libc::posix_spawnattr_setflags(&mut attributes, libc::POSIX_SPAWN_SETSIGDEF as _);
        let path = words.0[0];
        libc::posix_spawnp(&mut pid, path, &actions, &attributes, words.0.as_ptr(), pairs.0.as_ptr())
    };
    assert_eq!(failed, 0, "failed to start `{}`", argv[0]);
    pid
}

/// A process' exit and resource usage, including its children.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub cpu: Duration,
}

/// Waits for one child, or for any with -1; `None` if there is none.
pub fn collect(pid: i32) -> Option<Ended> {
    let mut status = 0;
    // SAFETY: both places are valid for the kernel to write to.
    let (pid, used) = unsafe {
        let mut used: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid, &mut status, 0, &mut used), used)
    };
    let part = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
    (pid > 0).then(|| Ended { code, cpu: part(used.ru_utime) + part(used.ru_stime) })
}

/// Waits until no supervisor is left.
pub fn collect_all() {
    while collect(-1).is_some() {}
}

/// Waits until no child except `kept` is left.
pub fn collect_all_but(kept: i32) {
    loop {
        // SAFETY: the structure is a plain one, which the call fills in; nothing is collected.
        let found = unsafe {
            let mut found: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_ALL, 0, &mut found, libc::WEXITED | libc::WNOWAIT | libc::WNOHANG);
            found.si_pid()
        };
        let children =
            fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).unwrap();
        let others = children.split_whitespace().any(|pid| pid != kept.to_string());
        match found {
            0 if !others => return,
            0 => std::thread::sleep(Duration::from_micros(200)),
            pid => drop(collect(pid)),
        }
    }
}

/// A number of kibibytes from a file in `/proc`, in MiB.
pub fn mebibytes(pid: i32, file: &str, field: &str) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}

/// Syncs earlier writes, so that they are not charged to later ones.
pub fn settle() {
    // SAFETY: takes nothing and returns nothing.
    unsafe { libc::sync() };
}
