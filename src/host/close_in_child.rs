//! Closes slow descriptors in a child process, so that nobody waits for this process to end.

use std::os::fd::{AsRawFd, IntoRawFd};

use rustix::pipe::{PipeFlags, pipe_with};

/// Forks a child that keeps this process' descriptors open (except the standard streams) until this
/// process has ended.
///
/// The kernel takes some 15 ms for the last close of an inotify descriptor, and a process does not
/// end before that. If the fork fails, only that delay remains.
pub(crate) fn close_files_in_a_child() {
    let Ok((exit, entrance)) = pipe_with(PipeFlags::CLOEXEC) else { return };
    // Stays open for as long as this process lives.
    let entrance = entrance.into_raw_fd();
    // SAFETY: the child makes only async-signal-safe calls and ends without running destructors.
    unsafe {
        if libc::fork() == 0 {
            for file in [0, 1, 2, entrance] {
                libc::close(file);
            }
            let mut nothing = 0_u8;
            libc::read(exit.as_raw_fd(), (&raw mut nothing).cast(), 1);
            libc::_exit(0);
        }
    }
}
