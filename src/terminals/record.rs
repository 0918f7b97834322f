//! Runs a program in a pseudo terminal, passes everything on unchanged in both directions, and
//! records its output.
//!
//! There is one thread per direction, so a slow screen slows the program down as usual and Ctrl-C
//! still gets through. The main thread waits for signals and for the end.

use std::ffi::OsString;
use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::host::{Env, env};
use crate::host::{Home, paths};
use crate::host::{Ignored, SignalPipe, signal_pipe};
use crate::host::{InputMode, Pty, pty};
use crate::host::{RawMode, Size};
use crate::host::{blocking_io, clock, ids, signal, spawn};
use crate::model::{Exit, TerminalId};
use crate::terminals::TerminalError;
use crate::terminals::find::{is_recorded, root_of};
use crate::terminals::meta::{Meta, VERSION};
use crate::terminals::writer::Recording;

/// Time that a program has to end after a hang-up.
const GRACE: Duration = Duration::from_secs(2);
/// How often the end of input is repeated, so that each program that reads lines sees it, whenever
/// it starts to read.
const END_AGAIN: Duration = Duration::from_millis(250);

/// How long to wait for the remaining output of an ended program, and how much of it the kernel may
/// still hold. Output of other processes that keep the terminal open does not belong to the
/// session.
const SETTLED: Duration = Duration::from_millis(300);
const LEFT: usize = 1 << 20;

/// Bytes that threads write to the signal pipe; signal numbers are smaller.
const DRAINED: u8 = 200;
const CLOSED: u8 = 201;

/// The program to run in a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) path: OsString,
    pub(crate) args: Vec<OsString>,
}

impl Program {
    /// The user's shell.
    pub(crate) fn shell(env: &Env) -> Self {
        let named = env.path("SHELL").filter(|path| path.is_absolute() && paths::is_program(path));
        Self { path: named.unwrap_or_else(|| PathBuf::from("/bin/sh")).into_os_string(), args: Vec::new() }
    }

    /// This command; `None` if it is empty.
    pub(crate) fn command(words: &[OsString]) -> Option<Self> {
        let (path, args) = words.split_first()?;
        Some(Self { path: path.clone(), args: args.to_vec() })
    }

    fn words(&self) -> Vec<String> {
        let all = std::iter::once(&self.path).chain(&self.args);
        all.map(|word| word.to_string_lossy().into_owned()).collect()
    }
}

/// How a session ended.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// The exit status as in a shell.
    pub(crate) status: i32,
    /// What was not recorded, in one line.
    pub(crate) trouble: Option<String>,
}

/// The live recorded terminal that this process runs in.
pub(crate) fn surrounding(env: &Env) -> Option<TerminalId> {
    let id: TerminalId = env.text(env::TERMINAL)?.parse().ok()?;
    let home = Home::open(env).ok()?;
    is_recorded(&home, &id).then_some(id)
}

/// Runs `program` in a recorded terminal until it ends.
pub(crate) fn record(env: &Env, name: Option<String>, program: &Program) -> Result<Recorded, TerminalError> {
    let arrivals = SignalPipe::open().map_err(TerminalError::NoPty)?;
    // Turns the signal for an exceeded file size limit into a write error.
    let ours = [libc::SIGCHLD, libc::SIGWINCH, libc::SIGCONT, libc::SIGXFSZ];
    arrivals.listen(&ours, Ignored::Listens);
    let theirs = [libc::SIGHUP, libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGTSTP];
    arrivals.listen(&theirs, Ignored::Stays);
    let settings = RawMode::settings();
    let size = Size::of_window();
    let pty = Pty::open(size, settings.as_ref()).map_err(TerminalError::NoPty)?;
    let (mut recording, trouble) = match begin(env, name, program, size) {
        Ok(recording) => (Some(recording), None),
        Err(why) => (None, Some(format!("this terminal was not recorded: {why}"))),
    };
    let raw = settings.and_then(|settings| RawMode::enter(settings).ok());
    let id = recording.as_ref().map(|recording| recording.id().clone());
    let variable = (env::TERMINAL, id.as_ref().map_or(env::UNRECORDED, TerminalId::as_str));
    let child = match spawn::spawn_in_terminal(&program.path, &program.args, &pty.theirs, variable) {
        Ok(child) => child,
        Err(source) => {
            recording.into_iter().for_each(Recording::discard);
            return Err(TerminalError::Spawn { program: program.path.clone(), source });
        }
    };
    let pid = i32::try_from(child.id()).unwrap_or(0);
    if let Some(recording) = &mut recording {
        recording.started(pid);
    }
    // From now on the terminal is open only while the program holds it.
    drop(pty.theirs);
    let session = Session {
        child,
        pid,
        ours: Arc::new(pty.ours),
        recording: SharedRecording::new(recording),
        raw,
        arrivals,
        runs: None,
    };
    let (exit, missed) = session.run();
    Ok(Recorded { status: exit.map_or(128 + libc::SIGHUP, Exit::status), trouble: trouble.or(missed) })
}

fn begin(env: &Env, name: Option<String>, program: &Program, size: Size) -> Result<Recording, String> {
    let home = Home::open(env).map_err(|error| error.to_string())?;
    let cwd = std::env::current_dir().unwrap_or_default();
    let meta = Meta {
        version: VERSION,
        terminal_id: ids::terminal_id().map_err(|error| error.to_string())?,
        name,
        command: program.words(),
        project: root_of(&cwd),
        cwd,
        pid: None,
        columns: size.columns,
        rows: size.rows,
        started_at: clock::now(),
        ended_at: None,
        exit: None,
        incomplete: None,
    };
    Recording::begin(&home.terminals(), meta, size).map_err(|error| write_failure(&home.terminals(), &error))
}

fn write_failure(path: &Path, error: &std::io::Error) -> String {
    format!("failed to write to `{}`: {error}", path.display())
}

/// The recording, shared between threads; `None` once it is finished.
#[derive(Debug, Clone)]
struct SharedRecording(Arc<Mutex<Option<Recording>>>);

impl SharedRecording {
    fn new(recording: Option<Recording>) -> Self {
        Self(Arc::new(Mutex::new(recording)))
    }

    fn get(&self) -> MutexGuard<'_, Option<Recording>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Session {
    child: Child,
    pid: i32,
    ours: Arc<OwnedFd>,
    recording: SharedRecording,
    raw: Option<RawMode>,
    arrivals: SignalPipe,
    /// Dropped when the program has ended.
    runs: Option<PipeWriter>,
}

impl Session {
    /// Runs the session to its end. Returns the exit and what was not recorded.
    fn run(mut self) -> (Option<Exit>, Option<String>) {
        let started = self.start_threads();
        if !started {
            signal::hang_up(self.pid, &self.ours);
        }
        let exit = self.handle_signals(started);
        // Restore the terminal first, so that nobody waits for the recording.
        drop(self.raw.take());
        let recording = self.recording.get().take();
        (exit, recording.and_then(|recording| recording.finish(exit, clock::now())))
    }

    fn start_threads(&mut self) -> bool {
        let Ok((gone, runs)) = pipe() else { return false };
        self.runs = Some(runs);
        let (ours, recording) = (Arc::clone(&self.ours), self.recording.clone());
        let screen = move || copy_output(&ours, &gone, &recording);
        let screen = std::thread::Builder::new().name("screen".into()).spawn(screen);
        let ours = Arc::clone(&self.ours);
        let keys = std::thread::Builder::new().name("keys".into()).spawn(move || copy_input(&ours));
        screen.is_ok() && keys.is_ok()
    }

    /// Handles signals until the program has ended and all its output was shown.
    fn handle_signals(&mut self, drains: bool) -> Option<Exit> {
        let mut exit = None;
        let mut drained = !drains;
        let mut deadline = None;
        loop {
            exit = exit.or_else(|| self.ended());
            if exit.is_some() {
                self.runs = None;
                if drained {
                    return exit;
                }
            }
            let left = deadline.map(|deadline: Duration| deadline.saturating_sub(clock::monotonic()));
            if left == Some(Duration::ZERO) {
                return exit;
            }
            for arrived in self.arrivals.wait(left) {
                match i32::from(arrived) {
                    libc::SIGHUP | libc::SIGTERM => deadline = Some(self.close(exit, deadline)),
                    number @ (libc::SIGINT | libc::SIGQUIT) => signal::interrupt(&self.ours, number),
                    libc::SIGWINCH => self.resize(),
                    libc::SIGTSTP => self.pause(),
                    libc::SIGCONT => self.go_on(),
                    _ if arrived == DRAINED => drained = true,
                    _ if arrived == CLOSED => deadline = Some(self.close(exit, deadline)),
                    _ => {}
                }
            }
        }
    }

    fn ended(&mut self) -> Option<Exit> {
        use std::os::unix::process::ExitStatusExt;
        let status = self.child.try_wait().ok().flatten()?;
        Some(spawn::exit_of(status.into_raw()))
    }

    /// Hangs up on the program, like a terminal that is closed. Returns the deadline.
    fn close(&self, exit: Option<Exit>, deadline: Option<Duration>) -> Duration {
        match (exit, deadline) {
            // Only output is outstanding, and nobody reads it any more.
            (Some(_), None) => clock::monotonic(),
            (_, Some(deadline)) => deadline,
            (None, None) => {
                signal::hang_up(self.pid, &self.ours);
                clock::monotonic() + GRACE
            }
        }
    }

    fn resize(&self) {
        let size = Size::of_window();
        if let Some(recording) = self.recording.get().as_mut() {
            recording.resize(size, clock::now());
        }
        pty::resize(&self.ours, size);
    }

    /// Stops this process when told by a signal; the keyboard cannot cause this.
    fn pause(&self) {
        if let Some(raw) = &self.raw {
            raw.leave();
        }
        signal::stop_self();
    }

    fn go_on(&self) {
        if let Some(raw) = &self.raw {
            let _ = raw.again();
        }
        self.resize();
    }
}

/// Records and shows the program's output to its last byte. After the program ends, reading fails;
/// or blocks, if a background process still holds the terminal.
fn copy_output(ours: &OwnedFd, gone: &PipeReader, recording: &SharedRecording) {
    let mut bytes = vec![0; 64 << 10];
    let mut shown = true;
    let (mut left, mut patience) = (None, SETTLED);
    loop {
        match left {
            None if blocking_io::wait_for_input_or_signal(ours, gone) => {
                left = Some(LEFT);
                continue;
            }
            None => {}
            Some(0) => break,
            Some(_) => {
                let asked = clock::monotonic();
                if !blocking_io::is_readable(ours, patience) {
                    break;
                }
                // Output that is already available uses up no patience, however slow the screen is.
                patience = patience.saturating_sub(clock::monotonic() - asked);
            }
        }
        let Ok(read @ 1..) = blocking_io::read(ours, &mut bytes) else { break };
        left = left.map(|left: usize| left.saturating_sub(read));
        if let Some(recording) = recording.get().as_mut() {
            recording.write(&bytes[..read], clock::now());
        }
        if shown && blocking_io::write_all(std::io::stdout(), &bytes[..read]).is_err() {
            shown = false;
            signal_pipe::write_signal_byte(CLOSED);
        }
    }
    signal_pipe::write_signal_byte(DRAINED);
}

/// Passes on what is typed. If standard input is a terminal, its end means that the terminal was
/// closed; otherwise it is the end of the program's input.
fn copy_input(ours: &OwnedFd) {
    let mut bytes = vec![0; 4 << 10];
    let mut last = b'\n';
    while let Ok(read @ 1..) = blocking_io::read(std::io::stdin(), &mut bytes) {
        last = bytes[read - 1];
        if blocking_io::write_all(ours, &bytes[..read]).is_err() {
            return;
        }
    }
    if rustix::termios::isatty(std::io::stdin()) {
        return signal_pipe::write_signal_byte(CLOSED);
    }
    // The first end-of-input byte only ends an unfinished line.
    let mut times = if last == b'\n' { 1 } else { 2 };
    let mut told = None;
    loop {
        let (end, reading) = pty::end_of_input(ours);
        // A shell at its prompt takes the byte as the end, other programs as a key. A program that
        // reads keys gets it once.
        if reading == InputMode::Lines || told != Some(reading) {
            if blocking_io::write_all(ours, &vec![end; times]).is_err() {
                return;
            }
            (times, told) = (1, Some(reading));
        }
        std::thread::sleep(END_AGAIN);
    }
}
