//! Drives one child process: its pipes, its limits, its end.
//!
//! One thread, one loop, no buffer that grows: bytes are handed on as they
//! come, and every decision is the lifecycle's.

use std::collections::HashSet;
use std::io;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::host::{Launch, Started, spawn_agent};
use crate::host::{Reaped, spawn};
use crate::host::{clock, signal, trim_memory};
use crate::model::{CommandSpec, Exit, KillLevel, Limits, Reach, Signal, Stdin, StopReason};
use crate::supervisor::lifecycle::{Action, Input, Lifecycle};
use crate::supervisor::process_tree::{Scope, Swept, Tree, Whose};
use crate::supervisor::stream_capture::Stream;

/// How often the observer is called when nothing happens.
const TICK: Duration = Duration::from_secs(1);
/// A run that takes longer than this takes long: until its end we need little.
const SETTLED: Duration = Duration::from_millis(250);
const CHUNK: usize = 256 << 10;

/// Sees the run as it happens.
pub(crate) trait Observer {
    /// Called with bytes as they come, in order, before anything else is done
    /// with them.
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Observed;

    /// Called about once a second, and whenever something was observed.
    fn tick(&mut self) -> Option<StopReason>;
}

/// What some output meant.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    pub(crate) inputs: Vec<Input>,
    /// For the child's standard input.
    pub(crate) reply: Vec<u8>,
    /// Nothing more will be said to it.
    pub(crate) done: bool,
}

/// Takes orders from outside while the run goes on.
pub(crate) trait Control {
    /// Becomes readable when there may be an order.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    fn receive(&mut self) -> Option<Order>;
}

#[derive(Debug)]
pub(crate) enum Order {
    Stop(StopReason),
    /// Start what waits in the queue: somebody below us must not.
    Pump,
}

/// The runs inside this one. They have supervisors of their own, which end
/// them and say how they ended; we only see to it that they do.
pub(crate) trait Inner {
    /// Starts what waits in the queue, as children of ours.
    fn pump(&mut self) -> Vec<Launched>;

    /// Asks all of them to end.
    fn ask(&mut self);

    /// Waits until they have ended, for as long as is sensible. How many had
    /// to be ended, or `None` where there never was one.
    fn end(&mut self) -> Option<u32>;
}

/// A supervisor that we started for the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Launched {
    pub(crate) pid: i32,
    pub(crate) whose: Whose,
}

/// How it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) reason: Option<StopReason>,
    /// Processes beside the agent that had to be ended.
    pub(crate) processes_ended: u32,
    /// Those that could not be.
    pub(crate) processes_left: u32,
    /// Runs inside this one that had to be ended.
    pub(crate) runs_ended: u32,
}

/// Runs what `launch` says to its end. On `Err` the agent did not run.
pub(crate) fn run(
    launch: Launch<'_>,
    limits: Limits,
    tree: &mut Tree,
    control: &mut dyn Control,
    observer: &mut dyn Observer,
    inner: &mut dyn Inner,
) -> io::Result<Ended> {
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
                Order::Stop(reason) => child.step(Input::Stop(reason)),
                Order::Pump => child.pump(),
            }
        }
        let reason = observer.tick();
        child.step(reason.map_or(Input::Tick, Input::Stop));
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
    tree: &'a mut Tree,
    inner: &'a mut dyn Inner,
    finished: bool,
    /// When to give back what is not needed while the run goes on.
    settles: Option<Duration>,
    killed: HashSet<(i32, u64)>,
    buffer: Vec<u8>,
}

impl<'a> Driver<'a> {
    fn start(
        launch: Launch<'a>,
        limits: Limits,
        tree: &'a mut Tree,
        inner: &'a mut dyn Inner,
    ) -> io::Result<Self> {
        let Started { pid, stdin, stdout, stderr } = spawn_agent::agent(launch, tree.cgroup_path())?;
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
            // Where there is no such thing, the tick sees its end.
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
        // An interrupted or failed wait is a wait that ended early.
        let _ = poll(&mut fds, Some(&limit));
    }

    fn settle(&mut self) {
        if self.settles.take_if(|at| clock::monotonic() >= *at).is_some() {
            trim_memory::release_program();
        }
    }

    /// An agent that does not read, or closed its end, is an ordinary case.
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

    /// Reads one chunk. A stream that flows does not starve the other or the
    /// clock: the loop comes round after each.
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

    /// Collects the agent, and orphans that came to us.
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
        for Launched { pid, whose } in self.inner.pump() {
            self.tree.knows(pid, whose);
        }
    }

    fn step(&mut self, input: Input) {
        match self.lifecycle.step(input, clock::monotonic()) {
            None => {}
            Some(Action::Stop) => {
                self.signal(self.spec.stop.reach, self.spec.stop.signal);
                self.inner.ask();
            }
            Some(Action::Kill) => {
                self.killed.extend(self.tree.kill(Scope::Own));
                self.signal(Reach::Process, Signal::Kill);
            }
            Some(Action::Finish) => self.finished = true,
        }
    }

    /// Signals the agent, which is ours by its number until it is collected.
    fn signal(&self, reach: Reach, signal: Signal) {
        match reach {
            _ if self.exit.is_some() => {}
            Reach::Process => signal::send_to_child(self.pid, self.pidfd.as_ref(), signal),
            Reach::Group => signal::send_to_group_of_child(self.pid, signal),
        }
    }

    /// Ends what is left, then reads what is left in the pipes: nobody can
    /// write to them any more.
    fn end(mut self, observer: &mut dyn Observer) -> Ended {
        let mut swept = self.tree.sweep(Scope::Own);
        // Nobody of ours is left who could start another run inside.
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
        Ended {
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

/// Fewer, larger reads for an agent that prints a lot. Where the user's share
/// of pipe memory is used up, the usual size does.
#[cfg(target_os = "linux")]
fn widen(pipe: &ChildStdout) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, CHUNK);
}

#[cfg(not(target_os = "linux"))]
fn widen(_pipe: &ChildStdout) {}
