//! Reading and writing whatever stands behind a descriptor. Some other program
//! may have set it not to wait; then we wait for it.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Reads what there is, and waits while there is nothing.
pub(crate) fn read(from: impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(&from, &mut *buffer) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&from, PollFlags::IN)], None)),
            other => return Ok(other?),
        }
    }
}

/// Waits until something can be read from `from`, or from `signal`. Returns
/// whether it was `signal`, also where it was both.
pub(crate) fn is_told(from: impl AsFd, signal: impl AsFd) -> bool {
    loop {
        let mut both = [PollFd::new(&from, PollFlags::IN), PollFd::new(&signal, PollFlags::IN)];
        match poll(&mut both, None) {
            Err(Errno::INTR) => {}
            _ => return !both[1].revents().is_empty(),
        }
    }
}

/// Whether something can be read, or the end seen, within so long.
pub(crate) fn is_readable(from: impl AsFd, limit: Duration) -> bool {
    let limit = Timespec { tv_sec: limit.as_secs().cast_signed(), tv_nsec: limit.subsec_nanos().into() };
    loop {
        match poll(&mut [PollFd::new(&from, PollFlags::IN)], Some(&limit)) {
            Err(Errno::INTR) => {}
            found => return found.is_ok_and(|found| found > 0),
        }
    }
}

/// Writes all of it, however long the reader takes.
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
