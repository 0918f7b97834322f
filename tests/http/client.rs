//! The least that speaks HTTP/1.1: one request on one connection, and the
//! answer as it comes. It sends whatever it is told to. Every reply of a tool
//! is held against what the server advertised.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::server::Server;
use crate::support::advertised::Advertised;
use crate::support::env::PATIENCE;

/// What every request of a client has.
#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    headers: Vec<(String, String)>,
    advertised: Arc<OnceLock<Advertised>>,
}

/// An answer whose head is there.
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    from: Box<dyn BufRead>,
    /// What was read of it and not yet asked for.
    pending: Vec<u8>,
    /// What the last event of a stream is called.
    last_event: String,
    advertised: Arc<OnceLock<Advertised>>,
}

impl Client {
    /// A client that does everything right.
    pub fn of(server: &Server) -> Client {
        let advertised = Arc::clone(&server.advertised);
        let client = Client { address: server.address, headers: Vec::new(), advertised };
        client
            .with("Host", &server.address.to_string())
            .with("Authorization", &format!("Bearer {}", server.token))
            .with("Accept", "application/json, text/event-stream")
            .with("Content-Type", "application/json")
    }

    pub fn without(&self, name: &str) -> Client {
        let mut client = self.clone();
        client.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        client
    }

    /// With this value of the header instead of any other.
    pub fn with(&self, name: &str, value: &str) -> Client {
        let mut client = self.without(name);
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub fn post(&self, body: &str) -> Answer {
        self.send("POST", "/mcp", body)
    }

    pub fn send(&self, method: &str, target: &str, body: &str) -> Answer {
        let length = body.len().to_string();
        let head = self.with("Content-Length", &length).with("Connection", "close").head(method, target);
        let mut stream = self.connect();
        stream.write_all((head + body).as_bytes()).unwrap();
        self.answer(stream)
    }

    /// The answer that comes on a connection.
    #[track_caller]
    pub fn answer(&self, stream: TcpStream) -> Answer {
        Answer::read(BufReader::new(stream), &self.advertised)
    }

    pub fn head(&self, method: &str, target: &str) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("{method} {target} HTTP/1.1\r\n{}\r\n", headers.collect::<String>())
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }
}

impl Answer {
    #[track_caller]
    pub fn read(mut from: impl BufRead + 'static, advertised: &Arc<OnceLock<Advertised>>) -> Answer {
        let first = line(&mut from).expect("an answer");
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.unwrap_or_else(|| panic!("no status in {first:?}"));
        let mut headers = Vec::new();
        while let Some(header) = line(&mut from).filter(|line| !line.is_empty()) {
            let (name, value) = header.split_once(':').expect("a header");
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let advertised = Arc::clone(advertised);
        Answer {
            status,
            headers,
            from: Box::new(from),
            pending: Vec::new(),
            last_event: String::new(),
            advertised,
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What somebody who has seen all so far asks to go on after.
    pub fn last_event(&self) -> &str {
        &self.last_event
    }

    /// The next message of a stream, or the only one of a plain answer.
    #[track_caller]
    pub fn message(&mut self) -> Option<Value> {
        let message = self.next()?;
        if let Some(advertised) = self.advertised.get() {
            advertised.check(&message);
        }
        Some(message)
    }

    fn next(&mut self) -> Option<Value> {
        if self.header("content-type") == Some("application/json") {
            return serde_json::from_str(&self.rest()).ok();
        }
        loop {
            let line = self.line()?;
            if let Some(id) = line.strip_prefix("id:") {
                id.trim().clone_into(&mut self.last_event);
            }
            let data = line.strip_prefix("data:").map(str::trim).unwrap_or_default();
            if !data.is_empty() {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// All that is left.
    pub fn text(mut self) -> String {
        self.rest()
    }

    fn rest(&mut self) -> String {
        while self.more() {}
        String::from_utf8(std::mem::take(&mut self.pending)).unwrap()
    }

    fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.pending.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return Some(String::from_utf8(line).unwrap().trim_end().to_owned());
            }
            if !self.more() {
                return None;
            }
        }
    }

    /// Reads a piece of the body; whether there was one.
    fn more(&mut self) -> bool {
        let chunked = self.header("transfer-encoding") == Some("chunked");
        if !chunked {
            return self.from.read_to_end(&mut self.pending).unwrap() > 0;
        }
        let size = line(&mut self.from).and_then(|size| usize::from_str_radix(&size, 16).ok());
        let mut piece = vec![0; size.unwrap_or_default() + 2];
        // A connection that broke off has no more.
        let (Some(size), Ok(())) = (size, self.from.read_exact(&mut piece)) else { return false };
        self.pending.extend_from_slice(&piece[..size]);
        size > 0
    }
}

/// One line without its end; `None` at the end of the stream.
fn line(from: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    let read = from.read_line(&mut line).unwrap();
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
