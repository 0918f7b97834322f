//! A terminal window: a real one, with a program in it, and a test at its
//! keyboard and its screen.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use crate::support::env::{PATIENCE, TestEnv, wait_for};

pub struct Window {
    ours: File,
    /// Kept, so that its settings can be looked at when nobody else has it.
    theirs: File,
    child: Child,
    /// Everything that came to the screen.
    pub seen: Vec<u8>,
}

impl Window {
    /// With `delegator terminal` in it.
    pub fn open(env: &TestEnv, args: &[&str]) -> Window {
        Window::with(env.command(&[&["terminal"], args].concat()), 80, 24)
    }

    /// With any program, and of this size.
    pub fn with(mut command: Command, columns: u16, rows: u16) -> Window {
        let size = libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let (mut ours, mut theirs) = (-1, -1);
        // SAFETY: the places to write to are valid, and the rest may be absent.
        let made =
            unsafe { libc::openpty(&mut ours, &mut theirs, std::ptr::null_mut(), std::ptr::null(), &size) };
        assert_eq!(made, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: both descriptors were just made and belong to nobody else.
        let (ours, theirs) = unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) };
        for fd in [&ours, &theirs] {
            // SAFETY: flags of a descriptor that is open.
            unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        // SAFETY: as above. Nothing waits on what is not there yet.
        unsafe { libc::fcntl(ours.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        let hook = || {
            // SAFETY: system calls between fork and exec; standard input is the terminal.
            match unsafe { libc::setsid() != -1 && libc::ioctl(0, libc::TIOCSCTTY, 0) != -1 } {
                true => Ok(()),
                false => Err(std::io::Error::last_os_error()),
            }
        };
        command
            .stdin(theirs.try_clone().unwrap())
            .stdout(theirs.try_clone().unwrap())
            .stderr(theirs.try_clone().unwrap());
        // SAFETY: the hook allocates nothing.
        let child = unsafe { command.pre_exec(hook) }.spawn().unwrap();
        drop(command);
        Window { ours: File::from(ours), theirs: File::from(theirs), child, seen: Vec::new() }
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Reads what has come to the screen meanwhile.
    pub fn look(&mut self) {
        let mut chunk = [0; 16 << 10];
        loop {
            match self.ours.read(&mut chunk) {
                Ok(0) => return,
                Ok(read) => self.seen.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    /// Waits until the screen was sent `text`, so many times in all.
    #[track_caller]
    pub fn await_times(&mut self, text: &str, times: usize) {
        let (mut found, mut from) = (0, 0);
        let mut count = |seen: &[u8]| {
            found += memchr::memmem::find_iter(&seen[from..], text.as_bytes()).count();
            // What was looked at is not looked at again, but for half a word at its end.
            from = from.max((seen.len() + 1).saturating_sub(text.len()));
            found >= times
        };
        wait_for(&format!("{text:?} on the screen"), PATIENCE, || {
            let ended = self.child.try_wait().unwrap().is_some();
            self.look();
            let enough = count(&self.seen);
            assert!(enough || !ended, "it ended without {text:?}: {}", self.text());
            enough.then_some(())
        });
    }

    #[track_caller]
    pub fn await_text(&mut self, text: &str) {
        self.await_times(text, 1);
    }

    pub fn type_in(&mut self, keys: &str) {
        let mut left = keys.as_bytes();
        while !left.is_empty() {
            match self.ours.write(left) {
                Ok(written) => left = &left[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.look(),
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        let size =
            libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 9 * columns, ws_ypixel: 18 * rows };
        // SAFETY: the structure is valid for the call.
        assert_eq!(unsafe { libc::ioctl(self.ours.as_raw_fd(), libc::TIOCSWINSZ, &size) }, 0);
    }

    /// How the terminal is set: what a program must leave as it found it.
    pub fn settings(&self) -> (u32, u32, u32, u32, Vec<u8>) {
        // SAFETY: a structure of integers that the call fills in.
        unsafe {
            let mut settings: libc::termios = std::mem::zeroed();
            assert_eq!(libc::tcgetattr(self.theirs.as_raw_fd(), &mut settings), 0);
            let libc::termios { c_iflag, c_oflag, c_cflag, c_lflag, c_cc, .. } = settings;
            (c_iflag, c_oflag, c_cflag, c_lflag, c_cc.to_vec())
        }
    }

    /// Waits for the end.
    #[track_caller]
    pub fn end(&mut self) -> ExitStatus {
        wait_for("the end of what is in the window", PATIENCE, || {
            self.look();
            let ended = self.child.try_wait().unwrap();
            if ended.is_some() {
                self.look();
            }
            ended
        })
    }

    /// Waits for the end, which must give this code.
    #[track_caller]
    pub fn expect(&mut self, code: i32) {
        let status = self.end();
        assert_eq!(status.code(), Some(code), "{status}: {}", self.text());
    }

    /// Closes the window on whatever is in it.
    pub fn close(self) -> Child {
        let Window { ours, theirs, child, .. } = self;
        drop((ours, theirs));
        child
    }
}
