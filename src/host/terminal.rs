//! The user's terminal: its size and raw mode.

use std::io;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr};

/// The width of the terminal on standard error; `None` if it is not a terminal.
pub(crate) fn stderr_width() -> Option<usize> {
    let stderr = io::stderr();
    if !stderr.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(&stderr).ok();
    // Some terminals report 0.
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0);
    Some(columns.unwrap_or(80).max(20))
}

/// A window size in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    /// Width and height in pixels, 0 if unknown.
    pub(crate) pixels: (u16, u16),
}

impl Size {
    /// The size if there is no window or it is unknown.
    pub(crate) const USUAL: Size = Size { columns: 80, rows: 24, pixels: (0, 0) };

    /// The size of the window of this process, taken from any of its streams.
    pub(crate) fn of_window() -> Size {
        let (input, output, errors) = (io::stdin(), io::stdout(), io::stderr());
        let streams = [output.as_fd(), input.as_fd(), errors.as_fd()];
        let sizes = streams.into_iter().filter_map(|stream| tcgetwinsize(stream).ok());
        let mut known = sizes.filter(|size| size.ws_col > 0 && size.ws_row > 0);
        known.next().map_or(Size::USUAL, |size| Size {
            columns: size.ws_col,
            rows: size.ws_row,
            pixels: (size.ws_xpixel, size.ws_ypixel),
        })
    }
}

impl From<Size> for Winsize {
    fn from(size: Size) -> Winsize {
        let (ws_xpixel, ws_ypixel) = size.pixels;
        Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel, ws_ypixel }
    }
}

/// Puts the terminal on standard input in raw mode and restores it when dropped.
#[derive(Debug)]
pub(crate) struct RawMode {
    before: Termios,
}

impl RawMode {
    /// The settings of the terminal on standard input, if it is one.
    pub(crate) fn settings() -> Option<Termios> {
        tcgetattr(io::stdin()).ok()
    }

    /// Enters raw mode on the terminal with these settings.
    pub(crate) fn enter(before: Termios) -> io::Result<Self> {
        let raw = Self { before };
        raw.again()?;
        Ok(raw)
    }

    /// Enters raw mode again after another program changed the settings.
    pub(crate) fn again(&self) -> io::Result<()> {
        let mut settings = self.before.clone();
        settings.make_raw();
        Ok(tcsetattr(io::stdin(), OptionalActions::Now, &settings)?)
    }

    /// Restores the settings.
    pub(crate) fn leave(&self) {
        // A closed terminal needs no restoring.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        self.leave();
    }
}
