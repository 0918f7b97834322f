//! Keeps the record of a run while it happens: raw bytes first, then what
//! they mean, then where the run is.

use std::io;
use std::time::Duration;

use crate::agents::{End, Reader, Reading, Verdict};
use crate::evidence::Gathered;
use crate::host::{clock, files};
use crate::model::{
    Event, Exit, FailureCode, Fault, Inline, Progress, Request, Stdout, StopReason, Streams, Timestamp,
};
use crate::progress::{Outlook, Reducer, plain};
use crate::runs::RunDir;
use crate::supervisor::{Capture, Input, Lines, Observed, Observer, Stream};
use crate::tasks::counting::Counting;
use crate::tasks::history;
use crate::tasks::printed::Printed;
use crate::tasks::saying::Saying;
use crate::terminals::Times;

/// How often `progress.json` is written at most.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// What a verdict may look at of each stream's end.
const TAIL: usize = 64 << 10;

/// Commands whose output becomes an artifact; that of the others is in the
/// stream all the same.
const MOST_OUTPUTS: usize = 200;

/// Of a run with more events than this, nobody asks again when each came.
const MOST_MOMENTS: usize = 100_000;

/// No answer is longer; a file that is was written by somebody else.
const LONGEST_MESSAGE: u64 = 8 << 20;

pub(super) struct Recorder {
    dir: RunDir,
    kind: Stdout,
    /// What was asked for: of a command, its command line.
    task: String,
    stdout: Capture,
    stderr: Capture,
    lines: Lines,
    stderr_lines: Lines,
    reader: Box<dyn Reader>,
    /// What is longer becomes an artifact of its own.
    inline: Inline,
    outputs_left: usize,
    reducer: Reducer,
    outlook: Outlook,
    gathered: Gathered,
    moments: Moments,
    /// Of a run that is one command.
    printed: Option<Printed>,
    /// When the standard output came.
    times: Times,
    /// Of one that runs tests.
    counting: Option<Counting>,
    saying: Saying,
    stderr_tail: Vec<u8>,
    stdout_tail: Vec<u8>,
    stop: Option<StopReason>,
    thread_known: bool,
    stale: bool,
    written: Option<Duration>,
}

/// When each event came, as long as that is kept.
#[derive(Debug, Default)]
pub(super) struct Moments(Vec<Timestamp>);

impl Moments {
    fn note(&mut self, at: Timestamp) {
        if self.0.len() < MOST_MOMENTS {
            self.0.push(at);
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Timestamp> {
        self.0.iter().copied()
    }
}

/// The record when the run is over.
pub(super) struct Recorded {
    pub(super) verdict: Verdict,
    pub(super) progress: Progress,
    /// What its events and outputs told.
    pub(super) gathered: Gathered,
    pub(super) moments: Moments,
    pub(super) stdout: Streams,
    pub(super) stderr: Streams,
    pub(super) warnings: Vec<String>,
    /// A reason to end the run that came with its last output.
    pub(super) stop: Option<StopReason>,
}

impl Recorder {
    pub(super) fn create(
        dir: &RunDir,
        request: &Request,
        reader: Box<dyn Reader>,
        kind: Stdout,
    ) -> io::Result<Self> {
        let stdout = match kind {
            Stdout::Events => dir.events(),
            Stdout::Text => dir.stdout(),
        };
        let mut recorder = Self {
            dir: dir.clone(),
            kind,
            task: request.task.clone(),
            stdout: Capture::create(stdout, request.max_stream_bytes)?,
            stderr: Capture::create(dir.stderr(), request.max_stream_bytes)?,
            lines: Lines::default(),
            stderr_lines: Lines::default(),
            reader,
            inline: request.inline,
            outputs_left: MOST_OUTPUTS,
            reducer: Reducer::new(),
            outlook: Outlook::new(history::read(dir, request), clock::now()),
            gathered: Gathered::new(&request.cwd, request.project()),
            moments: Moments::default(),
            printed: (kind == Stdout::Text).then(Printed::new),
            times: Times::new(dir.times(kind)),
            counting: (kind == Stdout::Text).then(|| Counting::of(&request.task)).flatten(),
            saying: Saying::default(),
            stderr_tail: Vec::new(),
            stdout_tail: Vec::new(),
            stop: None,
            thread_known: false,
            stale: true,
            written: None,
        };
        if kind == Stdout::Text {
            let started = Event::CommandStarted { item: "command".into(), command: request.task.clone() };
            let now = clock::now();
            recorder.reducer.apply(&started, now);
            recorder.gathered.note_only_started(&request.task, now);
        }
        Ok(recorder)
    }

    /// The disk takes no more: the run cannot be accounted for, so it ends.
    fn storage_failed(&mut self, error: &io::Error) {
        let fault = Fault::new(FailureCode::Storage, format!("the output could not be kept: {error}"))
            .hint("free some space, then start the task again; `delegator cleanup` removes old runs");
        self.stop.get_or_insert(StopReason::Fault(fault));
    }

    fn read_events(&mut self, bytes: &[u8]) -> Observed {
        let mut observed = Observed::default();
        let (reader, reducer, gathered) = (&mut self.reader, &mut self.reducer, &mut self.gathered);
        let (dir, thread_known, stop) = (&self.dir, &mut self.thread_known, &mut self.stop);
        let (inline, outputs_left, moments) = (self.inline, &mut self.outputs_left, &mut self.moments);
        self.lines.feed(bytes, |line| {
            let reading = reader.line(line);
            if reading.events.is_empty() {
                observed.inputs.push(Input::Activity);
            }
            let printed = reading.output.as_ref().map(|output| output.text.as_str());
            for event in reading.events {
                let now = clock::now();
                reducer.apply(&event, now);
                gathered.note(&event, printed, now);
                moments.note(now);
                if let (Event::Thread { id, .. }, false) = (&event, *thread_known) {
                    *thread_known = dir.write_thread(id).is_ok();
                }
                observed.inputs.extend(meaning(event));
            }
            if let Some(output) =
                reading.output.filter(|output| *outputs_left > 0 && inline.is_passed_by(&output.text))
            {
                // It is in the stream as well: trouble with it is no trouble of the run.
                *outputs_left -= usize::from(dir.write_output(&output.item, &output.text).is_ok());
            }
            observed.reply.extend(reading.reply);
            observed.done |= reading.done;
            if let Some(fault) = reading.abort {
                stop.get_or_insert(StopReason::Fault(fault));
            }
        });
        observed
    }

    /// About once a second.
    fn look(&mut self) {
        self.stale |= self.outlook.changes(clock::now());
        if let Some(printed) = &mut self.printed {
            let new = printed.since_last();
            let printed = printed.so_far();
            self.stale |= self.saying.changes(&printed);
            self.stale |= self.counting.as_mut().is_some_and(|counting| counting.changes(&printed, &new));
        }
        if self.has_a_place() && self.stale {
            self.write_progress();
        }
        self.written = Some(clock::monotonic());
    }

    /// Whether there still is a place for the record; without one, the run ends.
    fn has_a_place(&mut self) -> bool {
        let gone = self.dir.request().try_exists().is_ok_and(|exists| !exists);
        if gone {
            let fault =
                Fault::new(FailureCode::Storage, "the run directory was deleted while the run went on");
            self.stop.get_or_insert(StopReason::Fault(fault));
        }
        !gone
    }

    fn write_progress(&mut self) {
        // Progress is a convenience: trouble with it is no trouble of the run.
        let mut progress = Progress { eta: self.outlook.eta(), ..self.reducer.snapshot() };
        // How many tests have passed says more than the last of them.
        match self.counting.as_ref().map(Counting::told).filter(|told| !told.is_empty()) {
            Some(told) => progress.activity += &told,
            None => progress.activity = self.saying.after(&progress.activity),
        }
        let _ = self.dir.write_progress(&progress);
        self.stale = false;
    }

    /// Judges the run and closes its files.
    pub(super) fn finish(mut self, exit: Exit) -> Recorded {
        // Whoever saw it before us may have ended the agent for it.
        self.has_a_place();
        let mut rest = Vec::new();
        self.lines.finish(|line| rest.extend_from_slice(line));
        let reading = if rest.is_empty() { Reading::default() } else { self.reader.line(&rest) };
        let printed = reading.output.as_ref().map(|output| output.text.as_str());
        for event in &reading.events {
            let now = clock::now();
            self.reducer.apply(event, now);
            self.gathered.note(event, printed, now);
            self.moments.note(now);
        }
        if let Some((text, whole)) = self.printed.take().map(Printed::finish) {
            let exit_code = match exit {
                Exit::Code(code) => Some(i64::from(code)),
                Exit::Signal(_) => None,
            };
            self.gathered.note_only_command(&self.task, exit_code, &text, whole, clock::now());
        }
        self.reducer.finish();
        let last_message =
            files::tail(&self.dir.last_message(), LONGEST_MESSAGE).ok().map(|(bytes, _)| bytes);
        let end = End {
            exit,
            stderr_tail: String::from_utf8_lossy(last(&self.stderr_tail)).into_owned(),
            last_line: last_line(&self.stdout_tail).unwrap_or_default(),
            last_error: last_line(&self.stderr_tail).unwrap_or_default(),
            last_message: last_message.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        };
        let verdict = self.reader.verdict(&end);
        let mut warnings = Vec::new();
        if self.lines.skipped() > 0 {
            warnings.push(format!(
                "{} lines were too long to be read; they are in the raw output",
                self.lines.skipped()
            ));
        }
        let kind = self.kind;
        let (stdout, stdout_joined) = self.stdout.finish(|dropped| cut_line(kind, dropped));
        let (stderr, stderr_joined) = self.stderr.finish(|dropped| cut_line(Stdout::Text, dropped));
        for (name, seen) in [("standard output", stdout), ("standard error", stderr)] {
            if seen.dropped_bytes > 0 {
                warnings.push(format!("{} bytes of {name} were not kept", seen.dropped_bytes));
            }
        }
        for error in [stdout_joined.err(), stderr_joined.err()].into_iter().flatten() {
            warnings.push(format!("the end of the output could not be kept: {error}"));
        }
        let progress = self.reducer.snapshot();
        let _ = self.dir.write_progress(&progress);
        let (gathered, moments, stop) = (self.gathered, self.moments, self.stop);
        Recorded { verdict, progress, gathered, moments, stdout, stderr, warnings, stop }
    }
}

impl Observer for Recorder {
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Observed {
        let (capture, tail) = match stream {
            Stream::Stdout => (&mut self.stdout, &mut self.stdout_tail),
            Stream::Stderr => (&mut self.stderr, &mut self.stderr_tail),
        };
        if stream == Stream::Stdout {
            self.times.passed(bytes, clock::now());
        }
        let kept = capture.write(bytes);
        if stream == Stream::Stdout && !capture.is_whole() {
            self.times.give_up();
        }
        keep_tail(tail, bytes);
        if let Some(printed) = &mut self.printed {
            printed.add(stream, bytes);
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

    fn tick(&mut self) -> Option<StopReason> {
        if self.written.is_none_or(|at| clock::monotonic() >= at + PROGRESS_EVERY) {
            self.look();
        }
        self.stop.clone()
    }
}

/// What an event means for the limits of the run.
fn meaning(event: Event) -> Option<Input> {
    match event {
        Event::CommandStarted { item, .. } | Event::ToolStarted { item, .. } => {
            Some(Input::CommandStarted(item))
        }
        Event::CommandEnded { item, .. } | Event::ToolEnded { item, .. } => Some(Input::CommandEnded(item)),
        Event::TurnCompleted { .. } | Event::TurnFailed { .. } => Some(Input::TurnEnded),
        other => other.is_activity().then_some(Input::Activity),
    }
}

/// Keeps at least the last `TAIL` bytes, and cuts so seldom that many small
/// writes cost no more than their length.
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

/// Stands in the file where the middle was left out; valid in either format.
pub(super) fn cut_line(kind: Stdout, dropped: u64) -> String {
    match kind {
        Stdout::Events => format!("\n{{\"type\":\"delegator.cut\",\"dropped_bytes\":{dropped}}}\n"),
        Stdout::Text => format!("\n[delegator: {dropped} bytes were left out here]\n"),
    }
}
