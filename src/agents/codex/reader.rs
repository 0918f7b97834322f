//! Follows one Codex run, line by line.
//!
//! Remembers what the verdict needs and nothing that grows with the output: a
//! run may print gigabytes.

use crate::agents::codex::answer::Shape;
use crate::agents::codex::events;
use crate::agents::codex::stderr::Refusals;
use crate::agents::codex::stream_line::Line;
use crate::agents::codex::verdict;
use crate::agents::{CommandOutput, End, Reader, Reading, Verdict};
use crate::model::{Event, FailureCode, Fault, Request, Usage};

const MOST_WARNINGS: usize = 20;

/// Enough of a command's output to see that its sandbox never started.
const HEAD_BYTES: usize = 200;

/// How the sandbox's program says that the system does not let it work.
const NO_SANDBOX: &str = "bwrap: Creating new namespace failed";

pub(crate) struct CodexReader {
    /// What was asked for.
    asked: Asked,
    seen: Seen,
}

/// The part of the request that its end is judged by.
pub(super) struct Asked {
    pub(super) thread: Option<String>,
    pub(super) usage_before: Option<Usage>,
    pub(super) shape: Shape,
    pub(super) model: Option<String>,
}

/// What the stream has shown so far.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) thread: Option<String>,
    pub(super) last_message: Option<String>,
    /// The last end of a turn; a turn that went on has none.
    pub(super) turn: Option<Result<(), Fault>>,
    /// The thread is not the one that was asked for.
    pub(super) stray: Option<Fault>,
    pub(super) total: Option<Usage>,
    pub(super) warnings: Vec<String>,
    /// What standard error told of refused actions.
    pub(super) refusals: Refusals,
    /// The first notice of trying again since the agent last got on.
    pub(super) retrying: Option<String>,
    pub(super) commands_ended: u64,
    pub(super) commands_without_sandbox: u64,
}

impl CodexReader {
    pub(crate) fn new(request: &Request) -> Self {
        let resume = request.resume.as_ref();
        let asked = Asked {
            thread: resume.map(|resume| resume.thread_id.as_str().to_owned()),
            usage_before: resume.and_then(|resume| resume.usage_before),
            shape: if request.output_schema.is_some() { Shape::Callers } else { Shape::Ours },
            model: request.model.clone(),
        };
        Self { asked, seen: Seen::default() }
    }
}

impl Reader for CodexReader {
    fn line(&mut self, line: &[u8]) -> Reading {
        let Some(mut line) = Line::parse(line) else { return Reading::default() };
        let Some(event) = events::event(&mut line) else { return Reading::default() };
        let text = line.item.map(|item| item.output).unwrap_or_default();
        let sandboxed = !text[..text.floor_char_boundary(HEAD_BYTES)].contains(NO_SANDBOX);
        let abort = self.seen.note(&event, sandboxed, self.asked.thread.as_deref());
        let output = match &event {
            Event::CommandEnded { item, .. } => Some(CommandOutput { item: item.clone(), text }),
            _ => None,
        };
        Reading { events: vec![event], output, abort, ..Reading::default() }
    }

    fn stderr_line(&mut self, line: &[u8]) {
        self.seen.refusals.line(&String::from_utf8_lossy(line));
    }

    fn verdict(&self, end: &End) -> Verdict {
        verdict::verdict(&self.asked, &self.seen, end)
    }
}

impl Seen {
    /// Remembers what counts at the end. A fault means that the run is another
    /// than the one asked for.
    fn note(&mut self, event: &Event, sandboxed: bool, asked: Option<&str>) -> Option<Fault> {
        if event.is_activity() && !matches!(event, Event::Warning { .. }) {
            self.retrying = None;
        }
        match event {
            Event::Thread { id, .. } => {
                self.thread = Some(id.clone());
                // Given a name it does not know, Codex starts a new thread and says nothing.
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
    let message =
        format!("codex started another thread than the one asked for: `{started}` instead of `{asked}`");
    Fault::new(FailureCode::ToolError, message).hint("start a new run; the thread asked for may be gone")
}
