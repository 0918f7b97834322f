//! Records a run as it happens: raw bytes first, then the events in them, then the progress.

use std::io;
use std::time::Duration;

use crate::agents::{AgentEnd, ParsedLine, Reader, Verdict};
use crate::evidence::{CommandEnd, LiveCount, Printed, judge};
use crate::execution::last_output_line::LastOutputLine;
use crate::execution::run_durations;
use crate::host::{clock, files};
use crate::ledger::LedgerFiles;
use crate::ledger::StreamTranscript;
use crate::ledger::cut_line;
use crate::ledger::{EditsAndRefusals, LedgerWriter};
use crate::ledger::{output_stream, read};
use crate::model::{
    Event, Exit, FailureCode, Fault, ItemStatus, Progress, Request, RunningCommand, Stdout, StopReason,
    StreamTotals, Timestamp,
};
use crate::progress::{EtaTracker, Reducer};
use crate::runs::RunDir;
use crate::supervisor::{Input, LineSplitter, Observed, Observer, Stream, StreamCapture};
use crate::text::plain;

/// The minimum interval between writes of `progress.json`.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// How much of each stream's end is available to judge the run.
const TAIL: usize = 64 << 10;

/// How much of a running command's transcript is read: its end, and what was added since the last look.
const END: u64 = 64 << 10;
const LONGEST_COMMAND: usize = 200;
const MOST_NEW: u64 = 256 << 10;

/// No answer is longer; a longer file was not written by the agent.
const LONGEST_MESSAGE: u64 = 8 << 20;

pub(crate) struct Recorder {
    dir: RunDir,
    kind: Stdout,
    /// The request; for a `command`, its command line.
    task: String,
    stdout: StreamCapture,
    stderr: StreamCapture,
    lines: LineSplitter,
    stderr_lines: LineSplitter,
    reader: Box<dyn Reader>,
    reducer: Reducer,
    outlook: EtaTracker,
    ledger: Ledger,
    root: String,
    started_at: Timestamp,
    /// For a command that runs tests.
    counting: Option<LiveCount>,
    last_output_line: LastOutputLine,
    stderr_tail: Vec<u8>,
    stdout_tail: Vec<u8>,
    stop: Option<StopReason>,
    thread_known: bool,
    stale: bool,
    written: Option<Duration>,
}

/// Files written during the run, beside the raw streams.
enum Ledger {
    Events(Box<LedgerWriter<LedgerFiles>>),
    Command {
        transcript: Box<StreamTranscript>,
        /// The length of the transcript at the last look.
        seen: u64,
    },
}

/// What was recorded, once the run is over.
pub(crate) struct Recorded {
    pub(crate) verdict: Verdict,
    pub(crate) progress: Progress,
    /// Edits and refusals reported by its events.
    pub(crate) told: EditsAndRefusals,
    /// The command that had been running longest.
    pub(crate) running: Option<String>,
    pub(crate) stdout: StreamTotals,
    pub(crate) stderr: StreamTotals,
    pub(crate) warnings: Vec<String>,
    /// A reason to end the run that came with its last output.
    pub(crate) stop: Option<StopReason>,
}

impl Recorder {
    pub(crate) fn create(
        dir: &RunDir,
        request: &Request,
        reader: Box<dyn Reader>,
        kind: Stdout,
    ) -> io::Result<Self> {
        let stdout = match kind {
            Stdout::Events => dir.events(),
            Stdout::Text => dir.stdout(),
        };
        let ledger = match kind {
            Stdout::Events => {
                Ledger::Events(Box::new(LedgerWriter::new(request, LedgerFiles::create(dir, request)?)))
            }
            Stdout::Text => {
                Ledger::Command { transcript: Box::new(StreamTranscript::create(dir, request)?), seen: 0 }
            }
        };
        let mut recorder = Self {
            dir: dir.clone(),
            kind,
            task: request.task.clone(),
            stdout: StreamCapture::create(stdout, request.max_stream_bytes)?,
            stderr: StreamCapture::create(dir.stderr(), request.max_stream_bytes)?,
            lines: LineSplitter::default(),
            stderr_lines: LineSplitter::default(),
            reader,
            reducer: Reducer::new(),
            outlook: EtaTracker::new(run_durations::read(dir, request), clock::now()),
            ledger,
            root: request.cwd.to_string_lossy().into_owned(),
            started_at: clock::now(),
            counting: (kind == Stdout::Text).then(|| LiveCount::of(&request.task)).flatten(),
            last_output_line: LastOutputLine::default(),
            stderr_tail: Vec::new(),
            stdout_tail: Vec::new(),
            stop: None,
            thread_known: false,
            stale: true,
            written: None,
        };
        if kind == Stdout::Text {
            let started = Event::CommandStarted { item: "command".into(), command: request.task.clone() };
            recorder.reducer.apply(&started, recorder.started_at);
        }
        Ok(recorder)
    }

    /// The disk accepts no more. The output cannot be kept, so the run ends.
    fn storage_failed(&mut self, error: &io::Error) {
        let fault = Fault::new(FailureCode::Storage, format!("failed to save the output: {error}"))
            .hint("free some space, then start the task again; `delegator cleanup` removes old runs");
        self.stop.get_or_insert(StopReason::Fault(fault));
    }

    fn read_events(&mut self, bytes: &[u8]) -> Observed {
        let mut observed = Observed::default();
        let Self { reader, reducer, ledger, dir, thread_known, stop, lines, .. } = self;
        lines.feed(bytes, |line| {
            let reading = reader.line(line);
            if reading.events.is_empty() {
                observed.inputs.push(Input::Activity);
            }
            for event in &reading.events {
                let now = clock::now();
                reducer.apply(event, now);
                if let Ledger::Events(writer) = ledger {
                    writer.event(event, reading.printed_by(event), Some(now));
                }
                if let (Event::Thread { id, .. }, false) = (event, *thread_known) {
                    *thread_known = dir.write_thread(id).is_ok();
                }
                observed.inputs.extend(meaning(event));
            }
            observed.reply.extend(reading.reply);
            observed.done |= reading.done;
            if let Some(fault) = reading.abort {
                stop.get_or_insert(StopReason::Fault(fault));
            }
        });
        observed
    }

    /// Called about once a second.
    fn look(&mut self) {
        self.stale |= self.outlook.changes(clock::now());
        if let Ledger::Command { transcript, seen } = &mut self.ledger {
            transcript.show_open();
            let (end, new) = last_printed(&self.dir, seen);
            self.stale |= self.last_output_line.changes(&end);
            self.stale |= self.counting.as_mut().is_some_and(|counting| counting.changes(&end, &new));
        }
        if self.has_a_place() && self.stale {
            self.write_progress();
        }
        self.written = Some(clock::monotonic());
    }

    /// Whether the run directory still exists; without it, the run ends.
    fn has_a_place(&mut self) -> bool {
        let gone = self.dir.request().try_exists().is_ok_and(|exists| !exists);
        if gone {
            let fault = Fault::new(FailureCode::Storage, "the run directory was deleted during the run");
            self.stop.get_or_insert(StopReason::Fault(fault));
        }
        !gone
    }

    fn write_progress(&mut self) {
        // Errors with progress do not affect the run.
        let running = match &self.ledger {
            Ledger::Events(writer) => writer.running().iter().map(shown).collect(),
            Ledger::Command { .. } => Vec::new(),
        };
        let mut progress = Progress { eta: self.outlook.eta(), running, ..self.reducer.snapshot() };
        // The number of passed tests is more useful than the last one's line.
        match self.counting.as_ref().map(LiveCount::suffix).filter(|told| !told.is_empty()) {
            Some(told) => progress.activity += &told,
            None => progress.activity = self.last_output_line.after(&progress.activity),
        }
        let _ = self.dir.write_progress(&progress);
        self.stale = false;
    }

    /// Judges the run and closes its files.
    pub(crate) fn finish(mut self, exit: Exit) -> Recorded {
        // If the run directory is gone, that may be why the agent ended.
        self.has_a_place();
        let mut rest = Vec::new();
        self.lines.finish(|line| rest.extend_from_slice(line));
        let reading = if rest.is_empty() { ParsedLine::default() } else { self.reader.line(&rest) };
        for event in &reading.events {
            let now = clock::now();
            self.reducer.apply(event, now);
            if let Ledger::Events(writer) = &mut self.ledger {
                writer.event(event, reading.printed_by(event), Some(now));
            }
        }
        let mut warnings = Vec::new();
        let (told, running, trouble) = match self.ledger {
            Ledger::Events(writer) => {
                let running = writer.oldest_running().map(str::to_owned);
                let (pages, told) = writer.finish(Some(clock::now()));
                (told, running, pages.finish(&self.dir))
            }
            Ledger::Command { transcript, .. } => {
                let trouble = transcript.finish();
                let entered = enter_command(&self.dir, &self.task, &self.root, self.started_at, exit);
                (EditsAndRefusals::default(), None, trouble.or(entered.err()))
            }
        };
        if let Some(error) = trouble {
            warnings.push(format!("the transcript is incomplete: {error}"));
        }
        self.reducer.finish();
        let last_message =
            files::tail(&self.dir.last_message(), LONGEST_MESSAGE).ok().map(|(bytes, _)| bytes);
        let end = AgentEnd {
            exit,
            stderr_tail: String::from_utf8_lossy(last(&self.stderr_tail)).into_owned(),
            last_line: last_line(&self.stdout_tail).unwrap_or_default(),
            last_error: last_line(&self.stderr_tail).unwrap_or_default(),
            last_message: last_message.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        let verdict = self.reader.verdict(&end);
        if self.lines.skipped() > 0 {
            warnings.push(format!(
                "{} lines were too long to parse; they are in the raw output",
                self.lines.skipped()
            ));
        }
        let kind = self.kind;
        let (stdout, stdout_joined) = self.stdout.finish(|dropped| cut_line(kind, dropped));
        let (stderr, stderr_joined) = self.stderr.finish(|dropped| cut_line(Stdout::Text, dropped));
        for (name, seen) in [("standard output", stdout), ("standard error", stderr)] {
            if seen.dropped_bytes > 0 {
                warnings.push(format!("{} bytes of {name} were not saved", seen.dropped_bytes));
            }
        }
        for error in [stdout_joined.err(), stderr_joined.err()].into_iter().flatten() {
            warnings.push(format!("failed to save the end of the output: {error}"));
        }
        let progress = self.reducer.snapshot();
        let _ = self.dir.write_progress(&progress);
        Recorded { verdict, progress, told, running, stdout, stderr, warnings, stop: self.stop }
    }
}

impl Observer for Recorder {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Observed {
        let (capture, tail) = match stream {
            Stream::Stdout => (&mut self.stdout, &mut self.stdout_tail),
            Stream::Stderr => (&mut self.stderr, &mut self.stderr_tail),
        };
        let kept = capture.write(bytes);
        keep_tail(tail, bytes);
        if let Ledger::Command { transcript, .. } = &mut self.ledger {
            transcript.add(stream, bytes);
        }
        if let Err(error) = kept {
            self.storage_failed(&error);
        }
        match (self.kind, stream) {
            (Stdout::Text, _) => Observed { inputs: vec![Input::Activity], ..Observed::default() },
            (Stdout::Events, Stream::Stderr) => {
                let reader = &mut self.reader;
                self.stderr_lines.feed(bytes, |line| reader.stderr_line(line));
                Observed::default()
            }
            (Stdout::Events, Stream::Stdout) => {
                self.stale = true;
                self.read_events(bytes)
            }
        }
    }

    fn answer(&mut self, text: &str) -> Vec<u8> {
        self.reducer.answered();
        self.stale = true;
        self.written = None;
        self.reader.answer(text)
    }

    fn on_stop(&mut self) -> Vec<u8> {
        self.reader.on_stop()
    }

    fn tick(&mut self) -> Option<StopReason> {
        if self.written.is_none_or(|at| clock::monotonic() >= at + PROGRESS_EVERY) {
            self.look();
        }
        self.stop.clone()
    }
}

/// A running command, cut to what identifies it for a reader.
fn shown(running: &RunningCommand) -> RunningCommand {
    RunningCommand { command: plain::line(&running.command, LONGEST_COMMAND), ..running.clone() }
}

/// The end of a command's output, and its lines since `seen`.
fn last_printed(dir: &RunDir, seen: &mut u64) -> (String, String) {
    let path = dir.transcript();
    let before = std::mem::take(seen);
    let Ok((bytes, total)) = output_stream::tail(&path, END.max(MOST_NEW)) else { return Default::default() };
    *seen = total;
    let new = usize::try_from(total.saturating_sub(before)).unwrap_or(usize::MAX).min(bytes.len());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&bytes[bytes.len().saturating_sub(END as usize)..]), text(&bytes[bytes.len() - new..]))
}

/// Adds the run's single command.
fn enter_command(dir: &RunDir, line: &str, root: &str, started_at: Timestamp, exit: Exit) -> io::Result<()> {
    let (text, span) = read::printed_by_command(dir);
    let is_whole = span.is_none_or(|span| read::is_read_whole(span.end));
    let (exit_code, status) = match exit {
        Exit::Code(code) => (Some(i64::from(code)), ItemStatus::Completed),
        Exit::Signal(_) => (None, ItemStatus::Running),
    };
    let (started_at, ended_at) = (Some(started_at), Some(clock::now()));
    let end = CommandEnd { started_at, ended_at, exit_code, status, ..read::only_command(line, root) };
    read::rewrite(dir, &[judge(&end, Printed { text: &text, is_whole, span })])
}

/// What an event means for the limits of the run.
fn meaning(event: &Event) -> Option<Input> {
    match event {
        Event::CommandStarted { item, .. } | Event::ToolStarted { item, .. } => {
            Some(Input::CommandStarted(item.clone()))
        }
        Event::CommandEnded { item, .. } | Event::ToolEnded { item, .. } => {
            Some(Input::CommandEnded(item.clone()))
        }
        Event::TurnCompleted { .. } | Event::TurnFailed { .. } => Some(Input::TurnEnded),
        other => other.is_activity().then_some(Input::Activity),
    }
}

/// Keeps at least the last `TAIL` bytes. Cuts so rarely that many small writes cost no more than their
/// length.
fn keep_tail(tail: &mut Vec<u8>, bytes: &[u8]) {
    tail.extend_from_slice(&bytes[bytes.len().saturating_sub(TAIL)..]);
    if tail.len() > 4 * TAIL {
        tail.drain(..tail.len() - TAIL);
    }
}

fn last(tail: &[u8]) -> &[u8] {
    &tail[tail.len().saturating_sub(TAIL)..]
}

fn last_line(tail: &[u8]) -> Option<String> {
    plain::last_line(&String::from_utf8_lossy(last(tail)))
}
