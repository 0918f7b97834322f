//! What the person's terminal is like.

use std::io::{self, IsTerminal};

/// The width of the terminal on standard error, or `None` when it is none.
pub(crate) fn stderr_width() -> Option<usize> {
    let stderr = io::stderr();
    if !stderr.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(&stderr).ok();
    // Some terminals do not know, and say 0.
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0);
    Some(columns.unwrap_or(80).max(20))
}
