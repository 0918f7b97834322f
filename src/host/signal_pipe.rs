//! Signals that come to this process, one after the other, as bytes in a pipe:
//! whoever waits for them waits as for anything else.
//!
//! Threads may put bytes of their own into it.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

/// Where the handler writes to. Never closed: a signal may come at any time.
static ENTRANCE: AtomicI32 = AtomicI32::new(-1);

/// The other end. There is one at a time.
#[derive(Debug)]
pub(crate) struct Arrivals(OwnedFd);

/// What a listener does about a signal that was ignored before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// Whoever started us wants it so.
    Stays,
    Listens,
}

impl Arrivals {
    pub(crate) fn open() -> io::Result<Self> {
        let (exit, entrance) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        ENTRANCE.store(entrance.into_raw_fd(), Ordering::Relaxed);
        Ok(Self(exit))
    }

    /// From now on, these signals arrive here. Programs that we start do not
    /// inherit it.
    pub(crate) fn listen(&self, signals: &[libc::c_int], ignored: Ignored) {
        for &signal in signals {
            // SAFETY: the handler calls only functions that are safe in one, and
            // the structures are valid for the calls.
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

    /// What has arrived; empty when nothing did within `limit`.
    pub(crate) fn wait(&self, limit: Option<Duration>) -> Vec<u8> {
        let limit = limit.map(|limit| Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: limit.subsec_nanos().into(),
        });
        // A signal may end the sleep; then its byte is there.
        let _ = poll(&mut [PollFd::new(&self.0, PollFlags::IN)], limit.as_ref());
        let mut bytes = [0; 256];
        let read = rustix::io::read(&self.0, &mut bytes).unwrap_or(0);
        bytes[..read].to_vec()
    }
}

/// Lets a byte arrive, from whatever thread.
pub(crate) fn announce(byte: u8) {
    // SAFETY: a write of one initialised byte.
    unsafe { libc::write(ENTRANCE.load(Ordering::Relaxed), (&raw const byte).cast(), 1) };
}

extern "C" fn on_signal(signal: libc::c_int) {
    // SAFETY: the place of the error belongs to this thread, and whoever was
    // interrupted may be about to read it.
    unsafe {
        let errno = errno_place();
        let before = *errno;
        announce(signal as u8);
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
