//! What the person's terminal is like, and how it is taken over for a while.

use std::io;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::{OptionalActions, Termios, Winsize, tcgetattr, tcgetwinsize, tcsetattr};

/// The width of the terminal on standard error, or `None` when it is none.
pub(crate) fn stderr_width() -> Option<usize> {
    let stderr = io::stderr();
    if !stderr.is_terminal() {
        return None;
    }
    let size = tcgetwinsize(&stderr).ok();
    // Some terminals do not know, and say 0.
    let columns = size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0);
    Some(columns.unwrap_or(80).max(20))
}

/// Of a window, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    /// Width and height, for programs that draw pictures; 0 where unknown.
    pub(crate) pixels: (u16, u16),
}

impl Size {
    /// For what has no window, or does not know.
    pub(crate) const USUAL: Size = Size { columns: 80, rows: 24, pixels: (0, 0) };

    /// Of the window around this process, on whichever stream it is.
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

/// The terminal on standard input, made to pass on every byte as it comes.
/// Dropped, it is as it was.
#[derive(Debug)]
pub(crate) struct Raw {
    before: Termios,
}

impl Raw {
    /// The settings of the terminal on standard input, if it is one.
    pub(crate) fn settings() -> Option<Termios> {
        tcgetattr(io::stdin()).ok()
    }

    /// Takes over the terminal that has these settings.
    pub(crate) fn enter(before: Termios) -> io::Result<Self> {
        let raw = Self { before };
        raw.again()?;
        Ok(raw)
    }

    /// Takes it over once more, after somebody else had it.
    pub(crate) fn again(&self) -> io::Result<()> {
        let mut settings = self.before.clone();
        settings.make_raw();
        Ok(tcsetattr(io::stdin(), OptionalActions::Now, &settings)?)
    }

    /// Gives it back as it was.
    pub(crate) fn leave(&self) {
        // A terminal that is gone needs no care.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.leave();
    }
}
