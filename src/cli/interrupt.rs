//! Ctrl-C while somebody waits: the waiting ends, the run does not, and the
//! last thing on the screen says how to get back to it.
//!
//! The waiter sleeps in the kernel and holds nothing that must be put away, so
//! the signal itself may end the process; no flag has to be looked at.

use std::sync::OnceLock;

use crate::failure::Exit;
use crate::host::terminal;

static LAST_WORDS: OnceLock<Vec<u8>> = OnceLock::new();

/// From now on, Ctrl-C prints `words` and ends the program.
pub(super) fn ends_the_wait(words: &str) {
    // On a terminal the cursor stands behind the progress line and `^C`.
    let clear = if terminal::stderr_width().is_some() { "\r\u{1b}[K" } else { "" };
    if LAST_WORDS.set(format!("{clear}{words}\n").into_bytes()).is_err() {
        return;
    }
    let handler = on_interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler calls only functions that are safe in a signal
    // handler, and what it reads was set before and never changes.
    unsafe {
        // Whoever started us in the background had it ignored: leave it so.
        if libc::signal(libc::SIGINT, handler) == libc::SIG_IGN {
            libc::signal(libc::SIGINT, libc::SIG_IGN);
        }
    }
}

extern "C" fn on_interrupt(_: libc::c_int) {
    let words = LAST_WORDS.get().map(Vec::as_slice).unwrap_or_default();
    // SAFETY: a write of initialised bytes, then the end of the process.
    unsafe {
        libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len());
        libc::_exit(Exit::Interrupted as libc::c_int);
    }
}
