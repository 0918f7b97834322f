//! A client that stops listening: nothing counts as read that it did not get, and the server does not stay.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::env::{PATIENCE, TestEnv, wait_for};

/// A server that has been greeted. What it says is read only where a test does.
struct Heard {
    child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
}

impl Heard {
    fn start(env: &TestEnv) -> Heard {
        let mut command = env.command(&["serve"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let mut server = Heard { child, input, output };
        let who = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } });
        server.ask(1, "initialize", who);
        assert_eq!(server.message()["id"], 1);
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    fn message(&mut self) -> Value {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
    }

    /// How it ended, and what it said about that.
    #[track_caller]
    fn end(mut self) -> (ExitStatus, String) {
        let ended = wait_for("the end of the server", PATIENCE, || self.child.try_wait().unwrap());
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (ended, said)
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_that_is_not_heard_any_more_says_so_and_marks_nothing_as_read() {
    let env = TestEnv::new();
    let run = json!({ "task": "fix-test --speed 0.01", "wait_ms": 60_000, "options": { "agent": "replay" } });
    for tool in ["delegate_run", "delegate_wait", "delegate_results"] {
        let mut server = Heard::start(&env);
        let mut arguments = run.clone();
        if tool != "delegate_run" {
            let goes_on = format!("while ! [ -e {} ]; do sleep 0.02; done", env.side().join("go").display());
            arguments = json!({ "task_id": env.submit(&goes_on).task_id });
        }
        let call = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": "w" } });
        let task = if tool == "delegate_results" {
            arguments["task_id"].as_str().unwrap().to_owned()
        } else {
            server.ask(2, "tools/call", call.clone());
            assert_eq!(server.message()["method"], "notifications/progress");
            let running = env.json(&["status", "--json"]);
            running["data"]["tasks"][0]["task_id"].as_str().unwrap().to_owned()
        };
        drop(server.output.take());
        env.run(&["cancel", &task]);
        env.await_final(&task);
        if tool == "delegate_results" {
            server.ask(2, "tools/call", call);
        }
        // It ends while it could still be talked to.
        let (ended, said) = server.end();
        assert!(!ended.success() && said.contains("the server stopped"), "{tool}: {ended}: {said}");
        assert!(said.lines().count() == 1 && !said.contains("::"), "{said}");
        let status = env.json(&["status", &task, "--json"]);
        assert_eq!(status["data"]["recently_completed"][0]["unread"], true, "{tool}: {status}");
    }
}

#[test]
fn a_server_whose_client_said_its_last_word_ends_though_nobody_takes_its_answers() {
    let env = TestEnv::new();
    let mut server = Heard::start(&env);
    // More than a pipe holds.
    for id in 2..22 {
        server.ask(id, "tools/list", json!({}));
    }
    drop(server.input.take());
    let (left, output) = (Instant::now(), server.output.take());
    let (ended, said) = server.end();
    assert!(ended.success() && said.is_empty(), "{ended}: {said}");
    assert!(left.elapsed() < Duration::from_secs(4), "it took {:?}", left.elapsed());
    drop(output);
}
