//! Handles Ctrl-C during a wait: the wait ends, the run goes on, and the last line says how to wait again.
//!
//! The waiter sleeps in the kernel and has nothing to clean up, so the signal handler itself ends the process.

use std::sync::OnceLock;

use crate::failure::Exit;
use crate::host::terminal;

static LAST_WORDS: OnceLock<Vec<u8>> = OnceLock::new();

/// Makes Ctrl-C print `words` and end the program.
pub(super) fn ends_the_wait(words: &str) {
    // On a terminal the cursor is behind the progress line and `^C`.
    let clear = if terminal::stderr_width().is_some() { "\r\u{1b}[K" } else { "" };
    if LAST_WORDS.set(format!("{clear}{words}\n").into_bytes()).is_err() {
        return;
    }
    let handler = on_interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: the handler calls only async-signal-safe functions and reads only a value that was set before
    // and never changes.
    unsafe {
        // It was ignored when we were started in the background: keep it ignored.
        if libc::signal(libc::SIGINT, handler) == libc::SIG_IGN {
            libc::signal(libc::SIGINT, libc::SIG_IGN);
        }
    }
}

extern "C" fn on_interrupt(_: libc::c_int) {
    let words = LAST_WORDS.get().map(Vec::as_slice).unwrap_or_default();
    // SAFETY: writes initialised bytes, then ends the process.
    unsafe {
        libc::write(libc::STDERR_FILENO, words.as_ptr().cast(), words.len());
        libc::_exit(Exit::Interrupted as libc::c_int);
    }
}
