//! Sketch of an adapter for Claude Code's `stream-json`.
//!
//! Success means `is_error: false` in the last `result`, whatever its subtype. A process may report
//! several results.

use std::collections::HashMap;

use serde_json::Value;

use crate::agents::sketches::{StreamState, plan};
use crate::agents::{
    Agent, AgentEnd, AgentFiles, AgentPlan, DecidedBy, ParsedLine, Probe, ProbeAnswer, Reader, Verdict,
};
use crate::model::{Change, ChangeKind, Event, FailureCode, Fault, ItemStatus, Request, Stdin, Usage};

pub(crate) struct Claude;

impl Agent for Claude {
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
        let args = ["-p", "--verbose", "--output-format", "stream-json"];
        Ok(plan("claude", &args, request, Stdin::Text(prompt.to_owned())))
    }

    fn reader(&self, _: &Request, _: &str) -> Box<dyn Reader> {
        Box::<ClaudeReader>::default()
    }
}

#[derive(Default)]
struct ClaudeReader {
    seen: StreamState,
    /// Running tools: results contain only their ids.
    tools: HashMap<String, (String, Value)>,
}

impl Reader for ClaudeReader {
    fn line(&mut self, line: &[u8]) -> ParsedLine {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return ParsedLine::default() };
        let kind = text(&line, "type");
        let blocks = line.pointer("/message/content").and_then(Value::as_array).cloned().unwrap_or_default();
        let events = match (kind.as_str(), text(&line, "subtype").as_str()) {
            ("system", "init") => {
                self.seen.thread = Some(text(&line, "session_id"));
                self.seen.model = Some(text(&line, "model"));
                let (id, model) = (text(&line, "session_id"), self.seen.model.clone());
                vec![Event::Thread { id, model }, Event::TurnStarted]
            }
            ("system", "api_retry") => vec![Event::Retry { message: text(&line, "error") }],
            ("system", "permission_denied") => {
                let message = text(&line, "message");
                self.seen.warnings.push(message.clone());
                vec![Event::Warning { message }]
            }
            // Messages of a sub-agent are not the agent's own.
            ("assistant" | "user", _) if !line["parent_tool_use_id"].is_null() => {
                vec![Event::Other { kind: format!("{kind}/helper") }]
            }
            ("assistant" | "user", _) => blocks.iter().filter_map(|block| self.block(block)).collect(),
            ("result", _) => vec![self.result(&line)],
            (_, subtype) => vec![Event::Other { kind: format!("{kind}/{subtype}") }],
        };
        ParsedLine { events, ..ParsedLine::default() }
    }

    fn verdict(&self, _: &AgentEnd) -> Verdict {
        self.seen.verdict()
    }
}

impl ClaudeReader {
    fn block(&mut self, block: &Value) -> Option<Event> {
        match text(block, "type").as_str() {
            "text" => Some(Event::Message { text: text(block, "text"), delta: false }),
            "thinking" => Some(Event::Reasoning { text: text(block, "thinking") }),
            "tool_use" => {
                let (item, tool) = (text(block, "id"), text(block, "name"));
                self.tools.insert(item.clone(), (tool.clone(), block["input"].clone()));
                Some(match tool.as_str() {
                    "Bash" => Event::CommandStarted { item, command: text(&block["input"], "command") },
                    _ => Event::ToolStarted { item, tool },
                })
            }
            "tool_result" => {
                let item = text(block, "tool_use_id");
                let (tool, input) = self.tools.remove(&item)?;
                let failed = block["is_error"].as_bool().unwrap_or(false);
                let status = if failed { ItemStatus::Failed } else { ItemStatus::Completed };
                let output_bytes = text(block, "content").len() as u64;
                Some(match tool.as_str() {
                    "Bash" => {
                        let command = text(&input, "command");
                        Event::CommandEnded { item, command, exit_code: None, output_bytes, status }
                    }
                    "Write" | "Edit" => {
                        let path = text(&input, "file_path");
                        Event::Edited {
                            item,
                            changes: vec![Change { path, kind: ChangeKind::Update }],
                            status,
                        }
                    }
                    _ => Event::ToolEnded { item, tool, status },
                })
            }
            _ => None,
        }
    }

    fn result(&mut self, line: &Value) -> Event {
        let usage = usage(&line["usage"]);
        self.seen.usage = usage;
        self.seen.message = text(line, "result");
        if line["is_error"].as_bool() == Some(false) {
            self.seen.end = Some(Ok(()));
            return Event::TurnCompleted { usage };
        }
        let first = line.pointer("/errors/0").and_then(Value::as_str).unwrap_or(&self.seen.message);
        let code = match (text(line, "terminal_reason").as_str(), line["api_error_status"].as_u64()) {
            ("budget_exhausted", _) => FailureCode::Budget,
            (_, Some(429 | 529)) => FailureCode::RateLimited,
            (_, Some(401)) => FailureCode::Auth,
            _ if first.starts_with("Not logged in") => FailureCode::Auth,
            _ => FailureCode::ToolError,
        };
        let fault = Fault::new(code, first);
        self.seen.end = Some(Err(fault.clone()));
        Event::TurnFailed { fault }
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |name: &str| value[name].as_u64();
    let cached = count("cache_read_input_tokens").unwrap_or(0);
    let fresh = count("input_tokens")? + count("cache_creation_input_tokens").unwrap_or(0);
    Some(Usage {
        input_tokens: fresh + cached,
        cached_input_tokens: cached,
        output_tokens: count("output_tokens")?,
        reasoning_output_tokens: value.pointer("/output_tokens_details/thinking_tokens")?.as_u64()?,
    })
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}
