//! Runs one program with given input and collects its output, within limits of time and bytes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::host::{clock, signal, spawn};
use crate::model::Signal;

/// How much of stderr is kept, and how much of its last line is reported.
const COMPLAINT: usize = 64 << 10;
const LONGEST: usize = 2000;
/// Silence after which `on_silence` is called first.
const FIRST: Duration = Duration::from_millis(60);
/// Pipe size that lets the program work ahead of us.
const PIPE: usize = 1 << 20;

/// A running program. Dropping this kills its process group.
#[derive(Debug)]
pub(crate) struct BoundedRun {
    child: Child,
    stdin: Option<ChildStdin>,
    unsent: Vec<u8>,
    sent: usize,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    said: Vec<u8>,
    complaint: Vec<u8>,
    until: Duration,
    most: usize,
    over: bool,
}

/// A program that has printed nothing for a while.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SilentProgram {
    pub(crate) pid: i32,
    /// How long it has been silent.
    pub(crate) since: Duration,
}

/// Called for a silent program: returns how long to wait before the next call, or why to give up.
pub(crate) type OnSilence<'c> = &'c mut dyn FnMut(SilentProgram) -> Result<Duration, String>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum BoundedRunError {
    #[error("it could not be started: {0}")]
    Start(io::Error),
    #[error("its output could not be read: {0}")]
    Broken(io::Error),
    #[error("it took too long")]
    Slow,
    #[error("it printed too much")]
    TooMuch,
    #[error("it failed: {}", last_line(complaint).unwrap_or_else(|| status.to_string()))]
    Failed { status: ExitStatus, complaint: String },
    #[error("it was stopped: {0}")]
    GivenUp(String),
}

impl BoundedRun {
    /// Starts `program`, which must end by `until` and may print `most` bytes.
    pub(crate) fn begin(
        program: &Path,
        args: &[OsString],
        cwd: &Path,
        environment: &[(&str, &OsStr)],
        input: Vec<u8>,
        until: Duration,
        most: usize,
    ) -> Result<Self, BoundedRunError> {
        let mut child =
            spawn::spawn_piped(program, args, cwd, environment).map_err(BoundedRunError::Start)?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        #[cfg(target_os = "linux")]
        let _ = stdout.as_ref().map(|pipe| rustix::pipe::fcntl_setpipe_size(pipe, PIPE));
        let mut talk = Self {
            child,
            stdin,
            unsent: input,
            sent: 0,
            stdout,
            stderr,
            said: Vec::new(),
            complaint: Vec::new(),
            until,
            most,
            over: false,
        };
        talk.do_not_block().map_err(BoundedRunError::Broken)?;
        talk.send().map_err(BoundedRunError::Broken)?;
        Ok(talk)
    }

    fn do_not_block(&self) -> io::Result<()> {
        let pipes: [Option<BorrowedFd<'_>>; 3] = [
            self.stdin.as_ref().map(AsFd::as_fd),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        for pipe in pipes.into_iter().flatten() {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(())
    }

    /// Waits for the program to end well. Returns its output and the beginning of its stderr.
    pub(crate) fn finish_with(mut self, care: OnSilence<'_>) -> Result<(Vec<u8>, String), BoundedRunError> {
        let complaint = self.hear(care)?;
        Ok((std::mem::take(&mut self.said), complaint))
    }

    /// Waits for the program to end. Returns its output and whether it ended well.
    pub(crate) fn finish_anyhow(mut self, care: OnSilence<'_>) -> (Vec<u8>, Result<(), BoundedRunError>) {
        let ended = self.hear(care).map(drop);
        (std::mem::take(&mut self.said), ended)
    }

    fn hear(&mut self, care: OnSilence<'_>) -> Result<String, BoundedRunError> {
        let mut patience = FIRST;
        let mut heard = clock::monotonic();
        while self.stdout.is_some() || self.stderr.is_some() {
            if self.wait_for_something(patience)? {
                heard = clock::monotonic();
            } else {
                let pid = i32::try_from(self.child.id()).unwrap_or(0);
                let silent = SilentProgram { pid, since: clock::monotonic().saturating_sub(heard) };
                patience = care(silent).map_err(BoundedRunError::GivenUp)?;
            }
            self.send().map_err(BoundedRunError::Broken)?;
            if drained(&mut self.stdout, &mut self.said, self.most.saturating_add(1))? {
                self.stdout = None;
            }
            // Read more than is kept, so that the program never blocks on us; but not everything at
            // once, so that one that never stops is still ended.
            if drained(&mut self.stderr, &mut self.complaint, 1 << 20)? {
                self.stderr = None;
            }
            self.complaint.truncate(COMPLAINT);
            if self.said.len() > self.most {
                return Err(BoundedRunError::TooMuch);
            }
        }
        let status = loop {
            if let Some(status) = self.child.try_wait().map_err(BoundedRunError::Broken)? {
                break status;
            }
            if clock::monotonic() >= self.until {
                return Err(BoundedRunError::Slow);
            }
            std::thread::sleep(Duration::from_micros(200));
        };
        self.over = true;
        let text = String::from_utf8_lossy(&self.complaint).into_owned();
        if status.success() { Ok(text) } else { Err(BoundedRunError::Failed { status, complaint: text }) }
    }

    /// Whether a pipe is ready before `patience` is over.
    fn wait_for_something(&self, patience: Duration) -> Result<bool, BoundedRunError> {
        let left = self.until.checked_sub(clock::monotonic()).ok_or(BoundedRunError::Slow)?;
        let (left, last) = (left.min(patience), left <= patience);
        let limit = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut fds = Vec::with_capacity(3);
        fds.extend(self.stdout.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.stderr.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        match poll(&mut fds, Some(&limit)) {
            Ok(0) if last => Err(BoundedRunError::Slow),
            Ok(0) => Ok(false),
            // Interrupted: the loop looks again.
            Ok(_) | Err(_) => Ok(true),
        }
    }

    fn send(&mut self) -> io::Result<()> {
        while let Some(pipe) = &mut self.stdin {
            if self.sent == self.unsent.len() {
                self.stdin = None;
                break;
            }
            match pipe.write(&self.unsent[self.sent..]) {
                Ok(n) => self.sent += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // A program that closes its input says why when it ends.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.stdin = None,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Drop for BoundedRun {
    fn drop(&mut self) {
        if !self.over {
            signal::send_to_group_of_child(i32::try_from(self.child.id()).unwrap_or(0), Signal::Kill);
            let _ = self.child.wait();
        }
    }
}

fn last_line(complaint: &str) -> Option<String> {
    let last = complaint.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.map(|line| line.chars().take(LONGEST).collect())
}

/// Reads what is there, up to `most` bytes in all. Returns whether the pipe is at its end.
fn drained(pipe: &mut Option<impl Read>, into: &mut Vec<u8>, most: usize) -> Result<bool, BoundedRunError> {
    let Some(pipe) = pipe else { return Ok(true) };
    let mut chunk = [0; 64 << 10];
    while into.len() < most {
        match pipe.read(&mut chunk) {
            Ok(0) => return Ok(true),
            Ok(n) => into.extend_from_slice(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(BoundedRunError::Broken(error)),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, input: &[u8], most: usize, expected: Result<&[u8], &str>) {
        let args = ["-c".into(), script.into()];
        let limit = if expected == Err("it took too long") { 200 } else { 20_000 };
        let until = clock::monotonic() + Duration::from_millis(limit);
        let begun =
            BoundedRun::begin(Path::new("/bin/sh"), &args, Path::new("/"), &[], input.to_vec(), until, most);
        let said = begun.and_then(|talk| talk.finish_with(&mut |_| Ok(Duration::MAX)));
        let said = said.map(|(said, _)| said).map_err(|error| error.to_string());
        assert_eq!(said.as_deref().map_err(String::as_str), expected, "{script}");
    }

    #[test]
    fn what_it_says_is_heard_whatever_it_is_told() {
        check("cat", b"one\0two\xff", 100, Ok(b"one\0two\xff"));
        let long = vec![b'x'; 3 << 20];
        check("cat", &long, 4 << 20, Ok(&long));
        check("echo no; exit 0", &long, 100, Ok(b"no\n"));
    }

    #[test]
    fn one_that_fails_is_quoted_by_its_last_line() {
        check("echo first >&2; echo fatal: no >&2; exit 3", b"", 100, Err("it failed: fatal: no"));
    }

    #[test]
    fn neither_time_nor_bytes_are_unlimited() {
        check("sleep 100000 & wait", b"", 100, Err("it took too long"));
        check("yes", b"", 100, Err("it printed too much"));
        check("yes >&2 & exec sleep 100000", b"", 100, Err("it took too long"));
    }
}
