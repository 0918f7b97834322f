//! Reads what a recording prints: Codex's events, and questions that wait for an answer.

use serde::{Deserialize, Serialize};

use crate::agents::codex::CodexReader;
use crate::agents::{AgentEnd, ParsedLine, Reader, Verdict};
use crate::model::{Event, Request};

/// Sent to a player that waits for an answer and is to stop instead.
pub(super) const STOP: &str = "stop";

/// A line that the player prints before it waits for an answer.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) question: String,
}

/// What the player reads from its standard input, one JSON value per line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Told {
    pub(super) answer: String,
}

pub(super) struct ReplayReader {
    codex: CodexReader,
    asks: bool,
}

impl ReplayReader {
    pub(super) fn new(request: &Request) -> Self {
        Self { codex: CodexReader::new(request), asks: false }
    }
}

impl Reader for ReplayReader {
    fn line(&mut self, line: &[u8]) -> ParsedLine {
        match serde_json::from_slice::<Asked>(line) {
            Ok(Asked { question }) => {
                self.asks = true;
                ParsedLine { events: vec![Event::Question { text: question }], ..ParsedLine::default() }
            }
            Err(_) => {
                let parsed = self.codex.line(line);
                let done = parsed.events.iter().any(|event| matches!(event, Event::TurnCompleted { .. }));
                ParsedLine { done: parsed.done || done, ..parsed }
            }
        }
    }

    fn stderr_line(&mut self, line: &[u8]) {
        self.codex.stderr_line(line);
    }

    fn answer(&mut self, text: &str) -> Vec<u8> {
        if !std::mem::take(&mut self.asks) {
            return Vec::new();
        }
        let told = serde_json::to_string(&Told { answer: text.to_owned() }).unwrap_or_default();
        format!("{told}\n").into_bytes()
    }

    fn on_stop(&mut self) -> Vec<u8> {
        if self.asks { format!("{STOP}\n").into_bytes() } else { Vec::new() }
    }

    fn verdict(&self, end: &AgentEnd) -> Verdict {
        self.codex.verdict(end)
    }
}
