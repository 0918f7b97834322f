//! Reads the output of a Codex run line by line. Keeps only what the verdict needs, because a run
//! may print gigabytes.

use crate::agents::codex::answer::Shape;
use crate::agents::codex::events;
use crate::agents::codex::stderr::Refusals;
use crate::agents::codex::stream_line::Line;
use crate::agents::codex::verdict;
use crate::agents::{AgentEnd, CommandOutput, ParsedLine, Reader, Verdict};
use crate::model::{Event, FailureCode, Fault, Request, Usage};

const MOST_WARNINGS: usize = 20;

/// Enough of a command's output to see that its sandbox did not start.
const HEAD_BYTES: usize = 200;

/// Printed by the sandbox program if the system does not allow it.
const NO_SANDBOX: &str = "bwrap: Creating new namespace failed";

pub(crate) struct CodexReader {
    /// What was asked for.
    asked: Expected,
    seen: StreamState,
}

/// The parts of the request that the verdict needs.
pub(super) struct Expected {
    pub(super) thread: Option<String>,
    pub(super) usage_before: Option<Usage>,
    pub(super) shape: Shape,
    pub(super) model: Option<String>,
}

/// What the stream has shown so far.
#[derive(Default)]
pub(super) struct StreamState {
    pub(super) thread: Option<String>,
    pub(super) last_message: Option<String>,
    /// The last end of a turn; `None` while a turn runs.
    pub(super) turn: Option<Result<(), Fault>>,
    /// The thread is not the requested one.
    pub(super) stray: Option<Fault>,
    pub(super) total: Option<Usage>,
    pub(super) warnings: Vec<String>,
    /// Refused actions reported on standard error.
    pub(super) refusals: Refusals,
    /// The first retry notice since the agent last made progress.
    pub(super) retrying: Option<String>,
    pub(super) commands_ended: u64,
    pub(super) commands_without_sandbox: u64,
}

impl CodexReader {
    pub(crate) fn new(request: &Request) -> Self {
        let resume = request.resume.as_ref();
        let asked = Expected {
            thread: resume.map(|resume| resume.thread_id.as_str().to_owned()),
            usage_before: resume.and_then(|resume| resume.usage_before),
            shape: if request.output_schema.is_some() { Shape::Callers } else { Shape::Ours },
            model: request.model.clone(),
        };
        Self { asked, seen: StreamState::default() }
    }
}

impl Reader for CodexReader {
    fn line(&mut self, line: &[u8]) -> ParsedLine {
        let Some(mut line) = Line::parse(line) else { return ParsedLine::default() };
        let Some(event) = events::event(&mut line) else { return ParsedLine::default() };
        let text = line.item.map(|item| item.output).unwrap_or_default();
        let sandboxed = !text[..text.floor_char_boundary(HEAD_BYTES)].contains(NO_SANDBOX);
        let abort = self.seen.note(&event, sandboxed, self.asked.thread.as_deref());
        let output = match &event {
            Event::CommandEnded { item, .. } => Some(CommandOutput { item: item.clone(), text }),
            _ => None,
        };
        ParsedLine { events: vec![event], output, abort, ..ParsedLine::default() }
    }

    fn stderr_line(&mut self, line: &[u8]) {
        self.seen.refusals.line(&String::from_utf8_lossy(line));
    }

    fn verdict(&self, end: &AgentEnd) -> Verdict {
        verdict::verdict(&self.asked, &self.seen, end)
    }
}

impl StreamState {
    /// Records what the verdict needs. Returns a fault if the run is not the requested one.
    fn note(&mut self, event: &Event, sandboxed: bool, asked: Option<&str>) -> Option<Fault> {
        if event.is_activity() && !matches!(event, Event::Warning { .. }) {
            self.retrying = None;
        }
        match event {
            Event::Thread { id, .. } => {
                self.thread = Some(id.clone());
                // If Codex does not know the name of a thread, it silently starts a new one.
                self.stray =
                    asked.filter(|asked| !asked.eq_ignore_ascii_case(id)).map(|asked| stray(asked, id));
                return self.stray.clone();
            }
            Event::Message { text, .. } => self.last_message = Some(text.clone()),
            Event::CommandEnded { .. } => {
                self.commands_ended += 1;
                self.commands_without_sandbox += u64::from(!sandboxed);
            }
            Event::TurnStarted => self.turn = None,
            Event::TurnCompleted { usage } => {
                self.turn = Some(Ok(()));
                self.total = *usage;
            }
            Event::TurnFailed { fault } => self.turn = Some(Err(fault.clone())),
            Event::Warning { message } => self.warn(message),
            Event::Retry { message } => {
                self.retrying.get_or_insert_with(|| message.clone());
            }
            Event::Reasoning { .. }
            | Event::CommandStarted { .. }
            | Event::Edited { .. }
            | Event::ToolStarted { .. }
            | Event::ToolEnded { .. }
            | Event::Plan { .. }
            | Event::Question { .. }
            | Event::Other { .. } => {}
        }
        None
    }

    fn warn(&mut self, message: &str) {
        let known = self.warnings.iter().any(|warning| warning == message);
        if !known && self.warnings.len() < MOST_WARNINGS {
            self.warnings.push(message.to_owned());
        }
    }
}

fn stray(asked: &str, started: &str) -> Fault {
    let message = format!("codex started the thread `{started}` instead of the requested `{asked}`");
    Fault::new(FailureCode::ToolError, message)
        .hint("start a new run; the requested thread may no longer exist")
}
