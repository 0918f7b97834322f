//! Reading and writing whatever stands behind a descriptor. Some other program
//! may have set it not to wait; then we wait for it.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
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
