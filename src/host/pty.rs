//! Creates pseudo terminals.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr, tcsetwinsize,
};

use crate::host::terminal::Size;

#[derive(Debug)]
pub(crate) struct Pty {
    /// Our end: reads what the program prints and writes what it reads.
    pub(crate) ours: OwnedFd,
    /// The program's end. The terminal stays open while anybody holds it.
    pub(crate) theirs: OwnedFd,
}

impl Pty {
    /// Opens a terminal of this size, with the settings of `like` if given.
    pub(crate) fn open(size: Size, like: Option<&Termios>) -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        // `openpt` cannot set this flag on every system.
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(&name, flags, Mode::empty())?;
        if let Some(like) = like {
            tcsetattr(&theirs, OptionalActions::Now, like)?;
        }
        tcsetwinsize(&theirs, size.into())?;
        Ok(Self { ours, theirs })
    }
}

/// How a program in a terminal receives the end-of-input byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// The terminal turns it into an end of file.
    Lines,
    /// The program receives it as a key and may do anything with it.
    Keys,
}

/// The byte that ends input in this terminal, and how it is currently received.
pub(crate) fn end_of_input(ours: &OwnedFd) -> (u8, InputMode) {
    const CONTROL_D: u8 = 4;
    tcgetattr(ours).map_or((CONTROL_D, InputMode::Lines), |settings| {
        let by_lines = settings.local_modes.contains(LocalModes::ICANON);
        let reading = if by_lines { InputMode::Lines } else { InputMode::Keys };
        (settings.special_codes[SpecialCodeIndex::VEOF], reading)
    })
}

/// Tells the program in the terminal its new size.
pub(crate) fn resize(ours: &OwnedFd, size: Size) {
    // A closed terminal needs no size.
    let _ = tcsetwinsize(ours, size.into());
}
