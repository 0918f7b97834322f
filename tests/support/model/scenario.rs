//! The model's answer to a request: a pure function of its body.

use serde_json::{Deserializer, Value, json};

use super::items::{function_call, message, patch, text_call};

const MARKER: &str = "SCENARIO:";

pub(super) enum Reply {
    /// A response that completes with these output items.
    Items(Vec<Value>),
    /// A response that starts and fails.
    Failed { code: String, message: String },
    /// An HTTP answer without a response.
    Status { code: u16, body: Value },
    /// No answer, not even a header.
    Silence,
}

impl Reply {
    /// An error in the API's format.
    pub(super) fn refuse(code: u16, message: &str) -> Reply {
        Reply::Status { code, body: json!({ "error": { "message": message, "type": "scripted" } }) }
    }
}

/// The answer to a request with this number and body.
pub(super) fn reply(body: &Value, number: usize) -> Reply {
    match Scenario::find(body) {
        Ok(scenario) => scenario.play(number).unwrap_or_else(|reason| Reply::refuse(400, &reason)),
        Err(reason) => Reply::refuse(400, &reason),
    }
}

struct Scenario {
    name: String,
    arguments: Value,
    /// The number of tool outputs after the marker.
    step: usize,
    /// Their contents.
    heard: String,
}

impl Scenario {
    fn find(body: &Value) -> Result<Scenario, String> {
        let input = body["input"].as_array().map(Vec::as_slice).unwrap_or_default();
        let (at, text) = input
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, item)| item["role"] == "user")
            .map(|(at, item)| (at, text_of(item)))
            .find(|(_, text)| text.contains(MARKER))
            .ok_or_else(|| format!("no user message holds `{MARKER}`"))?;
        let (_, script) = text.split_once(MARKER).unwrap_or_default();
        let name: String = script.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let outputs = || input[at..].iter().filter(|item| is_tool_output(item));
        let heard = outputs().map(|item| said(&item["output"])).collect::<Vec<_>>().join("\n");
        Ok(Scenario { arguments: arguments(&script[name.len()..])?, name, step: outputs().count(), heard })
    }

    fn play(&self, number: usize) -> Result<Reply, String> {
        let call = |tool: &str, arguments: &Value| Reply::Items(vec![function_call(tool, arguments, number)]);
        let step = self.step;
        Ok(match self.name.as_str() {
            "plain" => self.answer(number),
            "answer" => Reply::Items(vec![message(&as_text(self.given("value")?), number)]),
            "shell" if step == 0 => {
                self.given("cmd")?;
                let mut arguments = self.arguments.clone();
                arguments.as_object_mut().map(|map| map.remove("answer"));
                call("exec_command", &arguments)
            }
            "patch" if step == 0 => {
                let patch = patch(self.text("path")?, self.text("body")?);
                Reply::Items(vec![text_call("apply_patch", &patch, number)])
            }
            "plan" if step <= self.list("steps")?.len() => {
                call("update_plan", &plan(self.list("steps")?, step))
            }
            "call" if step < self.list("calls")?.len() => {
                let due = &self.list("calls")?[step];
                let tool = due["tool"].as_str().ok_or("a call needs the name of a `tool`")?;
                let mut item = match due["text"].as_str() {
                    Some(text) => text_call(tool, text, number),
                    None => function_call(tool, &filled(&due["args"], &self.heard)?, number),
                };
                if let Some(namespace) = due.get("namespace") {
                    item["namespace"] = namespace.clone();
                }
                Reply::Items(vec![item])
            }
            "shell" | "patch" | "plan" | "call" => self.answer(number),
            "status" => {
                let code = self.given("code")?.as_u64().and_then(|code| u16::try_from(code).ok());
                let code = code.ok_or("`code` is not an HTTP status")?;
                match self.arguments.get("body") {
                    Some(body) => Reply::Status { code, body: body.clone() },
                    None => Reply::refuse(code, &format!("scripted {code}")),
                }
            }
            "failed" => {
                Reply::Failed { code: self.text("code")?.into(), message: self.text("message")?.into() }
            }
            "hang" => Reply::Silence,
            unknown => return Err(format!("no scenario `{unknown}`")),
        })
    }

    /// The final message of a scenario.
    fn answer(&self, number: usize) -> Reply {
        let text = self.arguments.get("answer").map_or_else(|| "All done.".to_owned(), as_text);
        Reply::Items(vec![message(&text, number)])
    }

    fn given(&self, key: &str) -> Result<&Value, String> {
        self.arguments.get(key).ok_or_else(|| format!("scenario `{}` needs `{key}`", self.name))
    }

    fn text(&self, key: &str) -> Result<&str, String> {
        self.given(key)?.as_str().ok_or_else(|| format!("`{key}` is not text"))
    }

    fn list(&self, key: &str) -> Result<&[Value], String> {
        self.given(key)?.as_array().map(Vec::as_slice).ok_or_else(|| format!("`{key}` is not a list"))
    }
}

/// The JSON object after a marker's name on the same line. What follows belongs to the prompt.
fn arguments(rest: &str) -> Result<Value, String> {
    let rest = rest.trim_start_matches([' ', '\t']);
    if !rest.starts_with('{') {
        return Ok(json!({}));
    }
    match Deserializer::from_str(rest).into_iter::<Value>().next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(format!("the scenario's arguments do not parse: {error}")),
        None => Ok(json!({})),
    }
}

/// The arguments of a call, completed from earlier outputs.
fn filled(arguments: &Value, heard: &str) -> Result<Value, String> {
    let Some(given) = arguments.as_object() else { return Ok(arguments.clone()) };
    given.iter().map(|(name, value)| Ok((name.clone(), taken(value, heard)?))).collect()
}

fn taken(value: &Value, heard: &str) -> Result<Value, String> {
    let Some(beginning) = value["seen"].as_str() else { return Ok(value.clone()) };
    let at = heard.find(beginning).ok_or_else(|| format!("no tool output has a `{beginning}…`"))?;
    let word = heard[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c));
    Ok(Value::String(word.collect()))
}

/// The plan after `done` of its steps.
fn plan(steps: &[Value], done: usize) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| {
            let status = match at {
                _ if at < done => "completed",
                _ if at == done => "in_progress",
                _ => "pending",
            };
            json!({ "step": step, "status": status })
        })
        .collect();
    json!({ "plan": steps })
}

fn text_of(item: &Value) -> String {
    said(&item["content"])
}

/// A content is a text or a list of parts with texts.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        content => {
            let parts = content.as_array().map(Vec::as_slice).unwrap_or_default();
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
    }
}

fn is_tool_output(item: &Value) -> bool {
    item["type"].as_str().is_some_and(|kind| kind.ends_with("_output"))
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
