//! Blocking reads and writes on descriptors that another program may have set to non-blocking mode.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Reads what is available and blocks while there is nothing.
pub(crate) fn read(from: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(&from, &mut *buffer) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&from, PollFlags::IN)], None)),
            other => return Ok(other?),
        }
    }
}

/// Waits until `from` or `signal` is readable. Returns whether `signal` is, even if both are.
pub(crate) fn wait_for_input_or_signal(from: impl AsFd, signal: impl AsFd) -> bool {
    loop {
        let mut both = [PollFd::new(&from, PollFlags::IN), PollFd::new(&signal, PollFlags::IN)];
        match poll(&mut both, None) {
            Err(Errno::INTR) => {}
            _ => return !both[1].revents().is_empty(),
        }
    }
}

/// Whether `from` has data or is at its end within `limit`.
pub(crate) fn is_readable(from: impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
    loop {
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&limit)) {
            Err(Errno::INTR) => {}
            found => return found.is_ok_and(|found| found > 0),
        }
    }
}

/// Writes all of `bytes`, however slow the reader is.
pub(crate) fn write_all(to: impl AsFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&to, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&to, PollFlags::OUT)], None)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
