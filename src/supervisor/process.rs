//! Drives one child process: its pipes, its limits and its end.
//!
//! One thread runs one loop. Bytes are passed on as they arrive, and the lifecycle makes every
//! decision.

use std::collections::HashSet;
use std::io;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::host::{AgentLaunch, StartedAgent, spawn_agent};
use crate::host::{Reaped, spawn};
use crate::host::{clock, signal, trim_memory};
use crate::model::{CommandSpec, Exit, KillLevel, Limits, Signal, SignalTarget, Stdin, StopReason};
use crate::supervisor::lifecycle::{Action, Input, Lifecycle};
use crate::supervisor::process_tree::{ProcessTree, RunRelation, Scope, Swept};
use crate::supervisor::stream_capture::Stream;

/// How often the observer is called if nothing happens.
const TICK: Duration = Duration::from_secs(1);
/// A run that lasts longer than this is likely to last much longer, so memory is released.
const SETTLED: Duration = Duration::from_millis(250);
const CHUNK: usize = 256 << 10;

/// Observes the run as it happens.
pub(crate) trait Observer {
    /// Called with all bytes in order, before anything else is done with them.
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Observed;

    /// Bytes for the child's standard input that answer its question.
    fn answer(&mut self, _text: &str) -> Vec<u8> {
        Vec::new()
    }

    /// Bytes that ask the child to stop over its own protocol; empty if it must be signalled.
    fn on_stop(&mut self) -> Vec<u8> {
        Vec::new()
    }

    /// Called about once a second and whenever something was observed.
    fn tick(&mut self) -> Option<StopReason>;
}

/// What some output means for the run.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) inputs: Vec<Input>,
    /// For the child's standard input.
    pub(crate) reply: Vec<u8>,
    /// Close the child's standard input.
    pub(crate) done: bool,
}

/// Receives orders from outside during the run.
pub(crate) trait Control {
    /// Becomes readable when there may be an order.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    fn receive(&mut self) -> Option<ControlOrder>;
}

#[derive(Debug)]
pub(crate) enum ControlOrder {
    Stop(StopReason),
    /// Start queued tasks, because a process below us must not.
    Pump,
    /// The answer to the child's question.
    Answer(String),
}

/// The runs inside this one. Their own supervisors end them and record how; we only wait for that.
pub(crate) trait SubrunControl {
    /// Starts queued tasks as our children.
    fn pump(&mut self) -> Vec<LaunchedSupervisor>;

    /// Asks all inner runs to stop.
    fn ask(&mut self);

    /// Waits until they have ended, for a reasonable time. Returns how many had to be ended, or
    /// `None` if there never were any.
    fn end(&mut self) -> Option<u32>;
}

/// A supervisor that we started for the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchedSupervisor {
    pub(crate) pid: i32,
    pub(crate) relation: RunRelation,
}

/// How the child ended.
#[derive(Debug)]
pub(crate) struct ChildEnded {
    pub(crate) exit: Exit,
    pub(crate) reason: Option<StopReason>,
    /// Processes other than the agent that had to be killed.
    pub(crate) processes_ended: u32,
    /// Processes that could not be killed.
    pub(crate) processes_left: u32,
    /// Runs inside this one that had to be ended.
    pub(crate) runs_ended: u32,
}

/// Runs the agent to its end. On `Err` the agent did not run.
pub(crate) fn run(
    launch: AgentLaunch<'_>,
    limits: Limits,
    tree: &mut ProcessTree,
    control: &mut dyn Control,
    observer: &mut dyn Observer,
    inner: &mut dyn SubrunControl,
) -> io::Result<ChildEnded> {
    let mut child = Driver::start(launch, limits, tree, inner)?;
    while !child.finished {
        child.write_stdin();
        child.wait_for_something(control);
        child.settle();
        child.read(Stream::Stdout, observer);
        child.read(Stream::Stderr, observer);
        child.reap();
        while let Some(order) = control.receive() {
            match order {
                ControlOrder::Stop(reason) => child.step(Input::Stop(reason)),
                ControlOrder::Pump => child.pump(),
                ControlOrder::Answer(text) => {
                    child.unsent.extend(observer.answer(&text));
                    child.step(Input::Activity);
                }
            }
        }
        let reason = observer.tick();
        child.step(reason.map_or(Input::Tick, Input::Stop));
        child.ask_to_stop(observer);
    }
    Ok(child.end(observer))
}

struct Driver<'a> {
    pid: i32,
    exit: Option<Exit>,
    pidfd: Option<OwnedFd>,
    stdin: Option<ChildStdin>,
    unsent: Vec<u8>,
    keep_stdin: bool,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    spec: &'a CommandSpec,
    lifecycle: Lifecycle,
    tree: &'a mut ProcessTree,
    inner: &'a mut dyn SubrunControl,
    finished: bool,
    /// When to release memory that is not needed while the run goes on.
    settles: Option<Duration>,
    /// The child must be asked to stop.
    stop_due: bool,
    killed: HashSet<(i32, u64)>,
    buffer: Vec<u8>,
}

impl<'a> Driver<'a> {
    fn start(
        launch: AgentLaunch<'a>,
        limits: Limits,
        tree: &'a mut ProcessTree,
        inner: &'a mut dyn SubrunControl,
    ) -> io::Result<Self> {
        let StartedAgent { pid, stdin, stdout, stderr } = spawn_agent::agent(launch, tree.cgroup_path())?;
        let spec = launch.spec;
        for pipe in [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()] {
            do_not_block(pipe)?;
        }
        widen(&stdout);
        let (unsent, keep_stdin) = match &spec.stdin {
            Stdin::Text(text) => (text.clone().into_bytes(), false),
            Stdin::Open(first) => (first.clone(), true),
        };
        Ok(Self {
            pid,
            exit: None,
            // Without a pidfd, the tick notices the end.
            pidfd: signal::open(pid).ok(),
            stdin: Some(stdin),
            unsent,
            keep_stdin,
            stdout: Some(stdout),
            stderr: Some(stderr),
            spec,
            lifecycle: Lifecycle::new(limits, spec.stop.grace, clock::monotonic()),
            tree,
            inner,
            finished: false,
            settles: Some(clock::monotonic() + SETTLED),
            stop_due: false,
            killed: HashSet::new(),
            buffer: vec![0; CHUNK],
        })
    }

    fn wait_for_something(&self, control: &dyn Control) {
        let mut fds = Vec::with_capacity(5);
        fds.extend(self.stdout.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.stderr.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        if self.exit.is_none() {
            fds.extend(self.pidfd.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        }
        if !self.unsent.is_empty() {
            fds.extend(self.stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
        }
        let listener = control.descriptor();
        fds.extend(listener.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        let now = clock::monotonic();
        let deadlines = self.lifecycle.next_deadline().into_iter().chain(self.settles);
        let until = deadlines.map(|at| at.saturating_sub(now)).fold(TICK, Duration::min);
        let limit = Timespec { tv_sec: until.as_secs() as i64, tv_nsec: until.subsec_nanos().into() };
        // Treat an interrupted or failed poll as one that ended early.
        let _ = poll(&mut fds, Some(&limit));
    }

    fn settle(&mut self) {
        if self.settles.take_if(|at| clock::monotonic() >= *at).is_some() {
            trim_memory::release_program();
        }
    }

    /// An agent that does not read, or closes its stdin, is an ordinary case.
    fn write_stdin(&mut self) {
        let Some(pipe) = &mut self.stdin else { return };
        while !self.unsent.is_empty() {
            match pipe.write(&self.unsent) {
                Ok(n) => drop(self.unsent.drain(..n)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    self.unsent = Vec::new();
                    self.stdin = None;
                    return;
                }
            }
        }
        if !self.keep_stdin {
            self.unsent = Vec::new();
            self.stdin = None;
        }
    }

    /// Reads one chunk. The loop comes round after each, so one busy stream starves neither the
    /// other nor the clock.
    fn read(&mut self, stream: Stream, observer: &mut dyn Observer) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = match stream {
            Stream::Stdout => self.stdout.as_mut().map(|pipe| pipe.read(&mut buffer)),
            Stream::Stderr => self.stderr.as_mut().map(|pipe| pipe.read(&mut buffer)),
        };
        let more = match read {
            None => false,
            Some(Ok(n)) if n > 0 => {
                let observed = observer.output(stream, &buffer[..n]);
                self.unsent.extend_from_slice(if self.stdin.is_some() { &observed.reply } else { &[] });
                self.keep_stdin &= !observed.done;
                observed.inputs.into_iter().for_each(|input| self.step(input));
                true
            }
            Some(Err(error))
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) =>
            {
                false
            }
            Some(Ok(_) | Err(_)) => {
                self.close(stream);
                false
            }
        };
        self.buffer = buffer;
        more
    }

    fn close(&mut self, stream: Stream) {
        match stream {
            Stream::Stdout => self.stdout = None,
            Stream::Stderr => self.stderr = None,
        }
        if self.stdout.is_none() && self.stderr.is_none() {
            self.step(Input::Closed);
        }
    }

    /// Reaps the agent and adopted orphans.
    fn reap(&mut self) {
        while let Reaped::Ended { pid, status } = spawn::reap() {
            self.saw_end_of(pid, status);
        }
    }

    fn saw_end_of(&mut self, pid: i32, status: i32) {
        if pid == self.pid && self.exit.is_none() {
            self.exit = Some(spawn::exit_of(status));
            self.step(Input::Exited);
        }
    }

    fn pump(&mut self) {
        for LaunchedSupervisor { pid, relation } in self.inner.pump() {
            self.tree.register_supervisor(pid, relation);
        }
    }

    fn step(&mut self, input: Input) {
        match self.lifecycle.step(input, clock::monotonic()) {
            None => {}
            Some(Action::Stop) => self.stop_due = true,
            Some(Action::Kill) => {
                self.killed.extend(self.tree.kill(Scope::Own));
                self.signal(SignalTarget::Process, Signal::Kill);
            }
            Some(Action::Finish) => self.finished = true,
        }
    }

    /// Asks the child to stop: over its own protocol if it has one and still listens, otherwise by
    /// a signal. Either way it is killed after the grace period.
    fn ask_to_stop(&mut self, observer: &mut dyn Observer) {
        if !std::mem::take(&mut self.stop_due) {
            return;
        }
        let farewell = if self.stdin.is_some() { observer.on_stop() } else { Vec::new() };
        if farewell.is_empty() {
            self.signal(self.spec.stop.reach, self.spec.stop.signal);
        } else {
            self.unsent.extend(farewell);
            self.write_stdin();
        }
        self.inner.ask();
    }

    /// Signals the agent; its process id is valid until it is reaped.
    fn signal(&self, reach: SignalTarget, signal: Signal) {
        match reach {
            _ if self.exit.is_some() => {}
            SignalTarget::Process => signal::send_to_child(self.pid, self.pidfd.as_ref(), signal),
            SignalTarget::Group => signal::send_to_group_of_child(self.pid, signal),
        }
    }

    /// Kills what is left, then reads what is left in the pipes: nobody can write to them any more.
    fn end(mut self, observer: &mut dyn Observer) -> ChildEnded {
        let mut swept = self.tree.sweep(Scope::Own);
        // No process of ours is left that could start another inner run.
        let inside = self.inner.end();
        if inside.is_some() || self.tree.level() == KillLevel::Marker {
            let Swept { ended, left } = self.tree.sweep(Scope::Everything);
            swept = Swept { ended: swept.ended.saturating_add(ended), left };
        }
        self.killed.retain(|(pid, _)| *pid != self.pid);
        let before = u32::try_from(self.killed.len()).unwrap_or(u32::MAX);
        for stream in [Stream::Stdout, Stream::Stderr] {
            while self.read(stream, observer) {}
        }
        let exit = self.exit.unwrap_or(Exit::Signal(0));
        ChildEnded {
            exit,
            reason: self.lifecycle.into_reason(),
            processes_ended: swept.ended.saturating_add(before),
            processes_left: swept.left,
            runs_ended: inside.unwrap_or(0),
        }
    }
}

fn do_not_block(pipe: BorrowedFd<'_>) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(pipe)?;
    rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
    Ok(())
}

/// Allows fewer, larger reads for an agent that prints a lot. Fails harmlessly if the user's share
/// of pipe memory is used up.
#[cfg(target_os = "linux")]
fn widen(pipe: &ChildStdout) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, CHUNK);
}

#[cfg(not(target_os = "linux"))]
fn widen(_pipe: &ChildStdout) {}
