//! A server in a world of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::{fs, thread};

use serde_json::json;

use crate::peer::Peer;
use crate::support::advertised::Advertised;
use crate::support::env::{PATIENCE, TestEnv, wait_for};
use crate::support::kill;

pub struct Server {
    child: Child,
    stdout: ChildStdout,
    stderr: BufReader<ChildStderr>,
    pub address: SocketAddr,
    pub token: String,
    /// What it lists, once it was asked: every reply is held against it.
    pub advertised: Arc<OnceLock<Advertised>>,
}

/// How a server ended, and all it had printed.
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Server {
    pub fn start(env: &TestEnv) -> Server {
        Server::start_at(env, "127.0.0.1:0")
    }

    pub fn start_at(env: &TestEnv, address: &str) -> Server {
        let mut command = env.command(&["serve", "--http", address]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (line, stderr) = first_line(child.stderr.take().unwrap());
        let (url, file) = line
            .strip_prefix("delegator: serving http://")
            .and_then(|rest| rest.split_once("/mcp; the token is in "))
            .unwrap_or_else(|| panic!("the server said {line:?}"));
        let token = fs::read_to_string(file).unwrap().trim().to_owned();
        let address = url.parse().unwrap();
        let server = Server { child, stdout, stderr, address, token, advertised: Arc::default() };
        let listed = Peer::modern(&server).ask("tools/list", json!({}));
        server.advertised.get_or_init(|| Advertised::of(&listed["result"]));
        server
    }

    pub fn pid(&self) -> i32 {
        self.child.id().try_into().unwrap()
    }

    /// Sends a signal and waits for the end.
    pub fn end(mut self, signal: i32) -> Ended {
        kill::send(self.pid(), signal);
        let status = wait_for("the end of the server", PATIENCE, || self.child.try_wait().unwrap());
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.stdout.read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        Ended { code: status.code(), stdout, stderr }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_line(stderr: ChildStderr) -> (String, BufReader<ChildStderr>) {
    let (said, heard) = mpsc::channel();
    thread::spawn(move || {
        let mut stderr = BufReader::new(stderr);
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        said.send((line.trim_end().to_owned(), stderr))
    });
    heard.recv_timeout(PATIENCE).expect("the server says where it is")
}
