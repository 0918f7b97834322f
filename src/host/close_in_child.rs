//! Leaves the closing of files to a child, where the process that has them
//! open is about to end and somebody waits for its end.

use std::os::fd::{AsRawFd, IntoRawFd};

use rustix::pipe::{PipeFlags, pipe_with};

/// Starts a child that keeps open what this process has open now, but for the
/// standard streams, and closes it once this process has ended.
///
/// The kernel takes some 15 ms for the last close of an inotify descriptor, and
/// a process has not ended before. Without the child, that is all that happens.
pub(crate) fn close_files_in_a_child() {
    let Ok((exit, entrance)) = pipe_with(PipeFlags::CLOEXEC) else { return };
    // It is open for as long as this process lives.
    let entrance = entrance.into_raw_fd();
    // SAFETY: the child does nothing that a signal handler may not do, and ends
    // without running anything of ours.
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
