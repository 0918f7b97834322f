//! A client that sends what it is told to, and keeps all that comes back.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::advertised::Advertised;
use crate::support::env::{PATIENCE, TestEnv};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// A session that begins with `initialize`.
    Session,
    /// 2026-07-28: every request stands for itself.
    Stateless,
}

pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    /// What came while something else was waited for.
    kept: Vec<Value>,
    /// Every line that came, as it came.
    heard: Arc<Mutex<String>>,
    era: Era,
    last_id: u64,
    /// What every reply is held against.
    advertised: Option<Advertised>,
}

impl Client {
    /// Of a server in the world's working directory.
    pub fn new(env: &TestEnv, era: Era) -> Client {
        Client::in_directory(env, &env.work(), era)
    }

    /// Of a session with these capabilities.
    pub fn announcing(env: &TestEnv, capabilities: Value) -> Client {
        Client::start(env, &env.work(), Era::Session, capabilities)
    }

    pub fn in_directory(env: &TestEnv, directory: &Path, era: Era) -> Client {
        Client::start(env, directory, era, json!({}))
    }

    /// Of a session with a server that was started with these arguments and variables.
    pub fn of(env: &TestEnv, args: &[&str], variables: &[(&str, &str)]) -> Client {
        let mut command = env.command(&[&["serve"], args].concat());
        command.envs(variables.iter().copied());
        Client::begin_with(command, &env.work(), Era::Session, json!({}))
    }

    fn start(env: &TestEnv, directory: &Path, era: Era, capabilities: Value) -> Client {
        Client::begin_with(env.command(&["serve"]), directory, era, capabilities)
    }

    /// Of a server to which nothing was said yet.
    pub fn silent(env: &TestEnv, era: Era) -> Client {
        Client::spawn(env.command(&["serve"]), &env.work(), era)
    }

    fn spawn(mut command: Command, directory: &Path, era: Era) -> Client {
        command.current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, output) = mpsc::channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let heard = Arc::new(Mutex::new(String::new()));
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                all.lock().unwrap().push_str(&line);
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        Client { child, input, output, kept: Vec::new(), heard, era, last_id: 0, advertised: None }
    }

    fn begin_with(command: Command, directory: &Path, era: Era, capabilities: Value) -> Client {
        let mut client = Client::spawn(command, directory, era);
        client.open("2025-11-25", capabilities);
        client
    }

    /// Begins a session, where there are any, and asks for the tools. Returns the revision that was agreed on.
    #[track_caller]
    pub fn open(&mut self, revision: &str, capabilities: Value) -> Option<String> {
        let agreed = (self.era == Era::Session).then(|| {
            let who = json!({
                "protocolVersion": revision, "capabilities": capabilities, "clientInfo": { "name": "raw", "version": "1" },
            });
            let agreed = self.result("initialize", who)["protocolVersion"].as_str().unwrap().to_owned();
            self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
            agreed
        });
        self.advertised = Some(Advertised::of(&self.result("tools/list", json!({}))));
        agreed
    }

    /// Sends a request and returns its id.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
            });
        }
        self.begin_as_it_is(method, params)
    }

    /// Sends a request with nothing added to it.
    pub fn begin_as_it_is(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    /// From here on, nothing is held against what was announced.
    pub fn unjudged(mut self) -> Client {
        self.advertised = None;
        self
    }

    /// All that came since this was asked last, whatever it was.
    pub fn heard(&mut self) -> String {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    /// Answers a request of the server.
    pub fn reply(&mut self, id: &Value, result: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The answer to a request, whatever it is.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Value {
        self.wait_for(&format!("the answer to {id}"), |message| {
            message.get("method").is_none() && message["id"] == id
        })
    }

    #[track_caller]
    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params.clone());
        let answer = self.answer(id);
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// The code and the message of the error that a request gives.
    #[track_caller]
    pub fn error(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.begin(method, params.clone());
        let answer = self.answer(id);
        let code = answer["error"]["code"].as_i64();
        let code = code.unwrap_or_else(|| panic!("{method} {params}: {answer}"));
        (code, answer["error"]["message"].as_str().unwrap().to_owned())
    }

    /// The first message that is `wanted`, now or later; all others are kept.
    #[track_caller]
    pub fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.kept.iter().position(&wanted) {
            return self.kept.remove(at);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message = self.output.recv_timeout(left);
            let message = message.unwrap_or_else(|e| panic!("{what}: {e}; kept {:#?}", self.kept));
            self.check(&message);
            if wanted(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// The addresses of all updates so far, oldest first. Forgets them.
    pub fn updates(&mut self) -> Vec<String> {
        let new: Vec<Value> = self.output.try_iter().collect();
        new.iter().for_each(|message| self.check(message));
        self.kept.extend(new);
        let (updates, rest): (Vec<Value>, Vec<Value>) =
            std::mem::take(&mut self.kept).into_iter().partition(is_update);
        self.kept = rest;
        updates.iter().map(|one| one["params"]["uri"].as_str().unwrap().to_owned()).collect()
    }

    /// Hands in a recording, and returns the id of its task.
    #[track_caller]
    pub fn replay(&mut self, recording: &str) -> String {
        let options = json!({ "agent": "replay", "dedupe": false });
        let arguments = json!({ "task": recording, "options": options });
        let answer = self.result("tools/call", json!({ "name": "delegate_run", "arguments": arguments }));
        let id = answer["structuredContent"]["task_id"].as_str();
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The one text of a resource, and the rest of it.
    #[track_caller]
    pub fn read(&mut self, uri: &str) -> (String, Value) {
        let mut result = self.result("resources/read", json!({ "uri": uri }));
        let contents = result["contents"].as_array_mut().unwrap();
        assert_eq!(contents.len(), 1, "{contents:?}");
        let mut contents = contents.remove(0);
        assert_eq!(contents["uri"], uri);
        let text = contents["text"].take().as_str().unwrap().to_owned();
        (text, contents)
    }

    /// Sends bytes as they are. A server that takes none of them any more is no surprise here.
    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
    }

    /// Calls a tool: its structured content, or its text where it failed.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        told(&self.result("tools/call", json!({ "name": tool, "arguments": arguments })))
    }

    /// Whatever comes must fit what was announced.
    #[track_caller]
    fn check(&self, message: &Value) {
        if let Some(advertised) = &self.advertised {
            advertised.check(message);
        }
    }

    /// The number of the server's process.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    /// How often the server has `file` open.
    pub fn open_files(&self, file: &Path) -> usize {
        let open = fs::read_dir(format!("/proc/{}/fd", self.pid())).unwrap().flatten();
        open.filter(|one| fs::read_link(one.path()).is_ok_and(|target| target == file)).count()
    }

    /// Goes away; the server must follow at once, and find nothing wrong with it.
    #[track_caller]
    pub fn leave(mut self) {
        drop(self.input.take());
        let begun = Instant::now();
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => assert!(begun.elapsed() < Duration::from_secs(3), "the server stayed"),
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
    }
}

/// What a call of a tool gave.
pub fn told(result: &Value) -> Result<Value, String> {
    let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    if result["isError"] == true { Err(text) } else { Ok(result["structuredContent"].clone()) }
}

pub fn is_update(message: &Value) -> bool {
    message["method"] == "notifications/resources/updated"
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Also what nobody waited for.
        while let (false, Ok(message)) = (thread::panicking(), self.output.recv_timeout(PATIENCE)) {
            self.check(&message);
        }
    }
}
