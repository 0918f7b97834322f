//! A client that says exactly what it is told to say.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::advertised::Advertised;

/// No answer takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// What it answers when it is asked for its roots; `None` has none to be asked for.
    roots: Option<Vec<String>>,
    last: u64,
    instructions: String,
    /// What every reply is held against.
    advertised: Option<Advertised>,
}

/// What came of a call.
#[derive(Debug)]
pub struct Reply {
    pub text: String,
    pub structured: Value,
    pub is_error: bool,
}

impl Client {
    /// Starts the server and greets it.
    pub fn connect(mut command: Command, roots: Option<&[&str]>) -> Client {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a server");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = child.stdin.take();
        let roots = roots.map(|roots| roots.iter().map(|&root| root.to_owned()).collect());
        let mut client =
            Client { child, input, messages, roots, last: 0, instructions: String::new(), advertised: None };
        let capabilities = if client.roots.is_some() { json!({ "roots": {} }) } else { json!({}) };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": { "name": "attacker", "version": "1" },
        });
        client.instructions =
            client.request("initialize", hello)["instructions"].as_str().expect("words").to_owned();
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client.advertised = Some(Advertised::of(&client.request("tools/list", json!({}))));
        client
    }

    /// What the server said of itself at the beginning.
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    pub fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", json!({}))["tools"].as_array().expect("tools").clone()
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Reply {
        self.call_with(tool, arguments, json!({}))
    }

    /// A call with `meta` beside it.
    pub fn call_with(&mut self, tool: &str, arguments: Value, meta: Value) -> Reply {
        let result =
            self.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": meta }));
        Reply {
            text: result["content"][0]["text"].as_str().expect("a text").to_owned(),
            structured: result["structuredContent"].clone(),
            is_error: result["isError"] == true,
        }
    }

    #[track_caller]
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params }));
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("an answer");
            self.advertised.iter().for_each(|advertised| advertised.check(&message));
            if message["method"] == "roots/list" {
                let roots: Vec<Value> =
                    self.roots.iter().flatten().map(|root| json!({ "uri": root })).collect();
                let id = message["id"].clone();
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": roots } }));
            } else if message["id"] == self.last {
                return match message.get("result") {
                    Some(result) => result.clone(),
                    None => panic!("{method} {params}: {message}"),
                };
            }
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open connection");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("a server that listens");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

impl Reply {
    /// It was refused with this code, and these words in its message and its hint.
    #[track_caller]
    pub fn refused(&self, code: &str, message: &str, hint: &str) {
        assert!(self.is_error, "not refused: {}", self.text);
        let mut lines = self.text.lines().skip(1);
        let told = lines.next().and_then(|line| line.strip_prefix("error: ")).expect("an error");
        let advice = lines.next().and_then(|line| line.strip_prefix("hint: ")).expect("a hint");
        assert!(told.ends_with(&format!("({code})")), "{}", self.text);
        assert!(told.contains(message) && advice.contains(hint), "{}", self.text);
        let odd = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{200b}'..='\u{202e}');
        assert!(!self.text.contains(odd), "{:?}", self.text);
    }

    /// It was taken in; its id.
    #[track_caller]
    pub fn task(&self) -> String {
        assert!(!self.is_error, "refused: {}", self.text);
        self.structured["task_id"].as_str().expect("a task").to_owned()
    }
}
