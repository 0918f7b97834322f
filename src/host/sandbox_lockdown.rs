//! The last step before a command runs in a sandbox: denies sockets and checks that the sandbox
//! holds.
//!
//! Sandboxes isolate the file system and the network well but leave Unix sockets open: a datagram
//! reaches any daemon that listens on a path. No socket can therefore be created. Socket pairs
//! between a command's own processes stay, except datagram pairs, which can be pointed elsewhere.
//! processes stay, without the kind that can be pointed elsewhere.

use std::fs;
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket, socketpair};

/// A directory in memory that is writable in every sandbox.
pub(crate) const SCRATCH: &str = "/dev/shm";

/// Denies new sockets to this process and all that it executes and starts.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn deny_sockets() -> io::Result<()> {
    let filter = filter();
    let length = u16::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    // SAFETY: system calls that read a program which outlives them.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub(crate) fn deny_sockets() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// The seccomp filter. Offsets refer to `seccomp_data`; a jump counts the instructions that it
/// skips.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn filter() -> [libc::sock_filter; 14] {
    use libc::{BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    const SECOND: u32 = 24;
    /// System call numbers of the x32 interface start here.
    const FOREIGN: u32 = 0x4000_0000;
    #[expect(clippy::cast_possible_truncation, reason = "operation codes fit")]
    let step =
        |code: u32, k: u32, yes: u8, no: u8| libc::sock_filter { code: code as u16, jt: yes, jf: no, k };
    let load = |offset| step(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
    let equals = |value, yes, no| step(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
    let answer = |value| step(BPF_RET | BPF_K, value, 0, 0);
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "small and positive")]
    let call = |number: libc::c_long| number as u32;
    [
        load(ARCH),
        equals(ARCHITECTURE, 0, 11),
        load(NUMBER),
        step(BPF_JMP | BPF_JGE | BPF_K, FOREIGN, 8, 0),
        equals(call(libc::SYS_socket), 7, 0),
        equals(call(libc::SYS_io_uring_setup), 6, 0),
        equals(call(libc::SYS_socketpair), 0, 4),
        load(SECOND),
        step(BPF_ALU | BPF_AND | BPF_K, 0xf, 0, 0),
        equals(libc::SOCK_STREAM.unsigned_abs(), 1, 0),
        equals(libc::SOCK_SEQPACKET.unsigned_abs(), 0, 1),
        answer(libc::SECCOMP_RET_ALLOW),
        answer(libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()),
        answer(libc::SECCOMP_RET_KILL_PROCESS),
    ]
}

/// Describes every escape that is open. Tries to write to each of `outside`, with a file called
/// `name`, and leaves nothing behind.
pub(crate) fn find_escapes(outside: &[PathBuf], name: &str) -> Vec<String> {
    let written = outside.iter().filter(|path| can_write(path, name));
    let written = written.map(|path| format!("`{}` can be written to", path.display()));
    written.chain(sockets().map(|kind| format!("{kind} opens"))).collect()
}

fn can_write(path: &Path, name: &str) -> bool {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => {
            let file = path.join(name);
            let made = OpenOptions::new().write(true).create_new(true).open(&file).is_ok();
            if made {
                let _ = fs::remove_file(&file);
            }
            made
        }
        Ok(_) => OpenOptions::new().append(true).open(path).is_ok(),
        // What does not exist must not be created.
        Err(_) => {
            let made = fs::create_dir(path).is_ok();
            if made {
                let _ = fs::remove_dir(path);
            }
            made
        }
    }
}

fn sockets() -> impl Iterator<Item = &'static str> {
    let kinds = [
        ("a TCP socket", AddressFamily::INET, SocketType::STREAM),
        ("a UDP socket", AddressFamily::INET, SocketType::DGRAM),
        ("a TCP socket (IPv6)", AddressFamily::INET6, SocketType::STREAM),
        ("a UDP socket (IPv6)", AddressFamily::INET6, SocketType::DGRAM),
        ("a Unix socket", AddressFamily::UNIX, SocketType::STREAM),
        ("a Unix datagram socket", AddressFamily::UNIX, SocketType::DGRAM),
    ];
    let single = kinds.into_iter().filter(|(_, family, kind)| socket(*family, *kind, None).is_ok());
    let pair = socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).is_ok();
    single.map(|(name, _, _)| name).chain(pair.then_some("a pair of Unix datagram sockets"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would answer, for the few operations that are used.
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn answer(architecture: u32, number: libc::c_long, second: i32) -> u32 {
        let filter = filter();
        let (mut at, mut value) = (0, 0);
        loop {
            let step = filter[at];
            at += 1;
            let jump = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
            match u32::from(step.code) {
                0x20 => {
                    value = match step.k {
                        0 => u32::try_from(number).unwrap(),
                        4 => architecture,
                        24 => second.unsigned_abs(),
                        other => panic!("offset {other}"),
                    }
                }
                0x54 => value &= step.k,
                0x15 => at += jump(value == step.k),
                0x35 => at += jump(value >= step.k),
                0x06 => return step.k,
                other => panic!("operation {other:x}"),
            }
        }
    }

    #[test]
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn sockets_are_denied_and_plain_pairs_are_not() {
        let denied = libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs();
        let allowed = libc::SECCOMP_RET_ALLOW;
        let check = |number, second, expected| {
            assert_eq!(answer(ARCHITECTURE, number, second), expected, "{number} {second}");
        };
        check(libc::SYS_socket, libc::SOCK_STREAM, denied);
        check(libc::SYS_socket, libc::SOCK_DGRAM, denied);
        check(libc::SYS_io_uring_setup, 0, denied);
        check(libc::SYS_socketpair, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, allowed);
        check(libc::SYS_socketpair, libc::SOCK_SEQPACKET, allowed);
        check(libc::SYS_socketpair, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, denied);
        check(libc::SYS_socketpair, libc::SOCK_RAW, denied);
        check(libc::SYS_read, 0, allowed);
        check(libc::SYS_execve, 0, allowed);
        check(0x4000_0000 + libc::SYS_socket, 0, denied);
        assert_eq!(answer(0x4000_0003, libc::SYS_read, 0), libc::SECCOMP_RET_KILL_PROCESS);
    }

    #[test]
    fn without_a_sandbox_every_way_is_open_and_nothing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "as it was").unwrap();
        let missing = dir.path().join("missing");
        let found = find_escapes(&[dir.path().to_owned(), file.clone(), missing], "try");
        assert_eq!(found.iter().filter(|way| way.ends_with("can be written to")).count(), 3);
        assert!(found.contains(&"a TCP socket opens".to_owned()), "{found:?}");
        assert!(found.contains(&"a pair of Unix datagram sockets opens".to_owned()), "{found:?}");
        assert_eq!(fs::read_to_string(file).unwrap(), "as it was");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_place_below_one_that_is_missing_cannot_be_made() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!can_write(&dir.path().join("missing/below"), "try"));
    }
}
