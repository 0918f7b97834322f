//! A terminal of our own making: what is behind one end takes the other for a
//! real one.

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
    /// Ours: what the program prints is read here, what it reads is written here.
    pub(crate) ours: OwnedFd,
    /// The program's. Whoever holds it keeps the terminal open.
    pub(crate) theirs: OwnedFd,
}

impl Pty {
    /// Makes one of this size, with the settings of `like` where there are some.
    pub(crate) fn open(size: Size, like: Option<&Termios>) -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        // The call above cannot say so on every system.
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

/// How whoever reads from a terminal takes the byte that ends input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Line by line: the terminal itself makes an end of it.
    Lines,
    /// Key by key: it is one of them, and the program may do anything.
    Keys,
}

/// The byte that ends input in this terminal, and how it is taken now.
pub(crate) fn end_of_input(ours: &OwnedFd) -> (u8, Reading) {
    const CONTROL_D: u8 = 4;
    tcgetattr(ours).map_or((CONTROL_D, Reading::Lines), |settings| {
        let by_lines = settings.local_modes.contains(LocalModes::ICANON);
        let reading = if by_lines { Reading::Lines } else { Reading::Keys };
        (settings.special_codes[SpecialCodeIndex::VEOF], reading)
    })
}

/// Tells whatever runs in the terminal that it has another size now.
pub(crate) fn resize(ours: &OwnedFd, size: Size) {
    // A terminal that is gone has no size.
    let _ = tcsetwinsize(ours, size.into());
}
