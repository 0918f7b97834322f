//! Sketch of an adapter for Gemini's `stream-json`.
//!
//! The answer arrives in pieces only, and the stream contains no exit codes of commands.

use std::collections::HashMap;

use serde_json::Value;

use crate::agents::sketches::{StreamState, plan};
use crate::agents::{
    Agent, AgentEnd, AgentFiles, AgentPlan, DecidedBy, ParsedLine, Probe, ProbeAnswer, Reader, Verdict,
};
use crate::model::{Change, ChangeKind, Event, FailureCode, Fault, ItemStatus, Request, Stdin, Usage};

pub(crate) struct Gemini;

impl Agent for Gemini {
    fn probes(&self, _: &Request) -> Vec<Probe> {
        vec![Probe { args: vec!["--version".to_owned()], decided_by: DecidedBy::Program }]
    }

    fn command(
        &self,
        request: &Request,
        prompt: &str,
        _: &AgentFiles,
        _: &[ProbeAnswer],
    ) -> Result<AgentPlan, Fault> {
        Ok(plan("gemini", &["-o", "stream-json"], request, Stdin::Text(prompt.to_owned())))
    }

    fn reader(&self, _: &Request, _: &str) -> Box<dyn Reader> {
        Box::<GeminiReader>::default()
    }
}

#[derive(Default)]
struct GeminiReader {
    seen: StreamState,
    tools: HashMap<String, (String, Value)>,
}

impl Reader for GeminiReader {
    fn line(&mut self, line: &[u8]) -> ParsedLine {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return ParsedLine::default() };
        let events = match text(&line, "type").as_str() {
            "init" => {
                let (id, model) = (text(&line, "session_id"), Some(text(&line, "model")));
                self.seen.thread = Some(id.clone());
                self.seen.model = model.clone();
                vec![Event::Thread { id, model }, Event::TurnStarted]
            }
            // The prompt, echoed.
            "message" if text(&line, "role") == "user" => Vec::new(),
            "message" => {
                let (text, delta) = (text(&line, "content"), line["delta"].as_bool().unwrap_or(false));
                self.seen.message.push_str(&text);
                vec![Event::Message { text, delta }]
            }
            "tool_use" => {
                // Text before a tool call is not part of the answer.
                self.seen.message.clear();
                vec![self.tool_use(&line)]
            }
            "tool_result" => self.tool_result(&line).into_iter().collect(),
            "result" => vec![self.result(&line)],
            kind => vec![Event::Other { kind: kind.to_owned() }],
        };
        ParsedLine { events, ..ParsedLine::default() }
    }

    fn verdict(&self, _: &AgentEnd) -> Verdict {
        self.seen.verdict()
    }
}

impl GeminiReader {
    fn tool_use(&mut self, line: &Value) -> Event {
        let (item, tool) = (text(line, "tool_id"), text(line, "tool_name"));
        let input = line["parameters"].clone();
        let command = text(&input, "command");
        self.tools.insert(item.clone(), (tool.clone(), input));
        match tool.as_str() {
            "run_shell_command" => Event::CommandStarted { item, command },
            _ => Event::ToolStarted { item, tool },
        }
    }

    fn tool_result(&mut self, line: &Value) -> Option<Event> {
        let item = text(line, "tool_id");
        let (tool, input) = self.tools.remove(&item)?;
        let succeeded = text(line, "status") == "success";
        let status = if succeeded { ItemStatus::Completed } else { ItemStatus::Failed };
        Some(match tool.as_str() {
            "run_shell_command" => {
                let output_bytes = text(line, "output").len() as u64;
                Event::CommandEnded {
                    item,
                    command: text(&input, "command"),
                    exit_code: None,
                    output_bytes,
                    status,
                }
            }
            "write_file" | "replace" => {
                let path = text(&input, "file_path");
                Event::Edited { item, changes: vec![Change { path, kind: ChangeKind::Update }], status }
            }
            _ => Event::ToolEnded { item, tool, status },
        })
    }

    fn result(&mut self, line: &Value) -> Event {
        let count = |name: &str| line["stats"][name].as_u64().unwrap_or(0);
        let usage = Some(Usage {
            input_tokens: count("input_tokens"),
            cached_input_tokens: count("cached"),
            output_tokens: count("output_tokens"),
            reasoning_output_tokens: 0,
        });
        self.seen.usage = usage;
        if text(line, "status") == "success" {
            self.seen.end = Some(Ok(()));
            return Event::TurnCompleted { usage };
        }
        let fault = Fault::new(FailureCode::ToolError, text(&line["error"], "message"));
        self.seen.end = Some(Err(fault.clone()));
        Event::TurnFailed { fault }
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
