//! Delivers signals to this process as bytes in a pipe, so that a waiter can poll for them. Threads
//! may write bytes of their own.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

/// The write end. Never closed: a signal may arrive at any time.
static ENTRANCE: AtomicI32 = AtomicI32::new(-1);

/// The read end. There is only one at a time.
#[derive(Debug)]
pub(crate) struct SignalPipe(OwnedFd);

/// What to do about a signal that was ignored when this process started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// Keep ignoring it, as the parent process wants.
    Stays,
    Listens,
}

impl SignalPipe {
    pub(crate) fn open() -> io::Result<Self> {
        let (exit, entrance) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        ENTRANCE.store(entrance.into_raw_fd(), Ordering::Relaxed);
        Ok(Self(exit))
    }

    /// Delivers these signals to this pipe. Programs that we start do not inherit that.
    pub(crate) fn listen(&self, signals: &[libc::c_int], ignored: Ignored) {
        for &signal in signals {
            // SAFETY: the handler makes only async-signal-safe calls, and the structures are valid.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let mut before: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t;
                action.sa_flags = libc::SA_RESTART;
                libc::sigaction(signal, &action, &mut before);
                if ignored == Ignored::Stays && before.sa_sigaction == libc::SIG_IGN {
                    libc::sigaction(signal, &before, std::ptr::null_mut());
                }
            }
        }
    }

    /// The bytes that have arrived; empty if there were none within `limit`.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> Vec<u8> {
        let limit = limit.map(|limit| Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        });
        // A signal may interrupt the poll; its byte is in the pipe then.
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], limit.as_ref());
        let mut bytes = [0; 256];
        let read = rustix::io::read(&self.0, &mut bytes).unwrap_or(0);
        bytes[..read].to_vec()
    }
}

/// Writes a byte to the pipe. Callable from any thread.
pub(crate) fn write_signal_byte(byte: u8) {
    // SAFETY: a write of one initialised byte.
    unsafe { libc::write(ENTRANCE.load(Ordering::Relaxed), (&raw const byte).cast(), 1) };
}

extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: errno belongs to this thread. It is restored because the interrupted code may be
    // about to read it.
    unsafe {
        let errno = errno_place();
        let before = *errno;
        write_signal_byte(signal as u8);
        *errno = before;
    }
}

#[cfg(target_os = "linux")]
unsafe fn errno_place() -> *mut libc::c_int {
    // SAFETY: it has no conditions.
    unsafe { libc::__errno_location() }
}

#[cfg(not(target_os = "linux"))]
unsafe fn errno_place() -> *mut libc::c_int {
    // SAFETY: it has no conditions.
    unsafe { libc::__error() }
}
