//! Sketch of an adapter for agents that speak ACP, the protocol between editors and agents.
//!
//! Both sides talk over standard input and output: initialize, open a session, send the prompt,
//! answer requests, close.

use serde_json::{Value, json};

use crate::agents::sketches::{StreamState, plan};
use crate::agents::{
    Agent, AgentEnd, AgentFiles, AgentPlan, ParsedLine, Probe, ProbeAnswer, Reader, Verdict,
};
use crate::model::{Event, FailureCode, Fault, ItemStatus, PlanStep, Request, Stdin};

pub(crate) struct Acp;

// Ids of our requests.
const GREET: u64 = 0;
const OPEN: u64 = 1;
const ASK: u64 = 2;

impl Agent for Acp {
    fn probes(&self, _: &Request) -> Vec<Probe> {
        Vec::new()
    }

    fn command(
        &self,
        request: &Request,
        _: &str,
        _: &AgentFiles,
        _: &[ProbeAnswer],
    ) -> Result<AgentPlan, Fault> {
        let greeting = call(GREET, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
        Ok(plan("agent", &["--acp"], request, Stdin::Open(greeting)))
    }

    fn reader(&self, request: &Request, prompt: &str) -> Box<dyn Reader> {
        let cwd = request.cwd.display().to_string();
        Box::new(AcpReader { seen: StreamState::default(), cwd, prompt: prompt.to_owned() })
    }
}

struct AcpReader {
    seen: StreamState,
    cwd: String,
    prompt: String,
}

impl Reader for AcpReader {
    fn line(&mut self, line: &[u8]) -> ParsedLine {
        let Ok(line) = serde_json::from_slice::<Value>(line) else { return ParsedLine::default() };
        match (line["method"].as_str(), line["id"].as_u64()) {
            (Some("session/update"), _) => self.update(&line["params"]["update"]),
            (Some("session/request_permission"), Some(id)) => permit(id, &line["params"]),
            (Some(method), _) => said(Event::Other { kind: method.to_owned() }),
            (None, Some(id)) => self.answered(id, &line),
            (None, None) => ParsedLine::default(),
        }
    }

    fn verdict(&self, _: &AgentEnd) -> Verdict {
        self.seen.verdict()
    }
}

impl AcpReader {
    fn answered(&mut self, id: u64, line: &Value) -> ParsedLine {
        let result = &line["result"];
        if let Some(message) = line["error"]["message"].as_str() {
            let fault = Fault::new(FailureCode::ToolError, message);
            self.seen.end = Some(Err(fault.clone()));
            return ParsedLine { done: true, ..said(Event::TurnFailed { fault }) };
        }
        match id {
            GREET => {
                let session = json!({ "cwd": self.cwd, "mcpServers": [] });
                ParsedLine { reply: call(OPEN, "session/new", session), ..ParsedLine::default() }
            }
            OPEN => {
                let id = text(result, "sessionId");
                self.seen.thread = Some(id.clone());
                let ask = json!({ "sessionId": id, "prompt": [{ "type": "text", "text": self.prompt }] });
                let events = vec![Event::Thread { id, model: None }, Event::TurnStarted];
                ParsedLine { events, reply: call(ASK, "session/prompt", ask), ..ParsedLine::default() }
            }
            _ => {
                self.seen.end = Some(match text(result, "stopReason").as_str() {
                    "end_turn" => Ok(()),
                    other => Err(Fault::new(FailureCode::ToolError, format!("the turn stopped: `{other}`"))),
                });
                ParsedLine { done: true, ..said(Event::TurnCompleted { usage: None }) }
            }
        }
    }

    fn update(&mut self, update: &Value) -> ParsedLine {
        let item = text(update, "toolCallId");
        said(match text(update, "sessionUpdate").as_str() {
            "agent_message_chunk" => {
                let text = text(&update["content"], "text");
                self.seen.message.push_str(&text);
                Event::Message { text, delta: true }
            }
            "agent_thought_chunk" => Event::Reasoning { text: text(&update["content"], "text") },
            "tool_call" => Event::ToolStarted { item, tool: text(update, "title") },
            "tool_call_update" if text(update, "status") == "completed" => {
                Event::ToolEnded { item, tool: text(update, "title"), status: ItemStatus::Completed }
            }
            "plan" => {
                let entries = update["entries"].as_array().into_iter().flatten();
                let step =
                    |one: &Value| PlanStep { text: text(one, "content"), done: one["status"] == "completed" };
                Event::Plan { steps: entries.map(step).collect() }
            }
            kind => Event::Other { kind: kind.to_owned() },
        })
    }
}

/// Allows once, because the sandbox around the agent limits it; refuses if there is no such option.
fn permit(id: u64, params: &Value) -> ParsedLine {
    let options = params["options"].as_array().into_iter().flatten();
    let allow = options.clone().find(|option| option["kind"] == "allow_once");
    let outcome = match allow {
        Some(option) => json!({ "outcome": "selected", "optionId": option["optionId"] }),
        None => json!({ "outcome": "cancelled" }),
    };
    let reply = bytes(&json!({ "jsonrpc": "2.0", "id": id, "result": { "outcome": outcome } }));
    let question = text(&params["toolCall"], "title");
    ParsedLine { events: vec![Event::Question { text: question }], reply, ..ParsedLine::default() }
}

fn said(event: Event) -> ParsedLine {
    ParsedLine { events: vec![event], ..ParsedLine::default() }
}

fn call(id: u64, method: &str, params: Value) -> Vec<u8> {
    bytes(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn bytes(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::model::Exit;

    #[test]
    fn a_conversation_is_held_to_its_end() {
        let mut reader = Acp.reader(&request(), "fix the test");
        let mut check = |line: Value, reply: &str, done: bool| {
            let reading = reader.line(line.to_string().as_bytes());
            let said = String::from_utf8(reading.reply).unwrap();
            assert!(said.contains(reply) && said.is_empty() == reply.is_empty(), "{said}");
            assert_eq!(reading.done, done);
        };
        let update = |update: Value| json!({ "method": "session/update", "params": { "update": update } });
        check(json!({ "id": GREET, "result": { "protocolVersion": 1 } }), "session/new", false);
        check(json!({ "id": OPEN, "result": { "sessionId": "s-1" } }), "fix the test", false);
        check(
            json!({ "id": 7, "method": "session/request_permission", "params": {
                "toolCall": { "title": "cargo test" },
                "options": [{ "optionId": "no", "kind": "reject_once" }, { "optionId": "yes", "kind": "allow_once" }],
            } }),
            r#""optionId":"yes""#,
            false,
        );
        let chunk =
            |text: &str| json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": text } });
        check(update(chunk("all ")), "", false);
        check(update(chunk("green")), "", false);
        check(json!({ "id": ASK, "result": { "stopReason": "end_turn" } }), "", true);

        let end = AgentEnd {
            exit: Exit::Signal(15),
            stderr_tail: String::new(),
            last_line: String::new(),
            last_error: String::new(),
            last_message: None,
        };
        let verdict = reader.verdict(&end);
        assert_eq!((verdict.result, verdict.summary.as_str()), (Ok(()), "all green"));
        assert_eq!(verdict.thread_id.as_deref(), Some("s-1"));
    }
}
