//! The subset of HTTP/1.1 that the scripted model needs: one request and one answer per connection.

use std::io::{self, BufRead, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Header names in lower case.
    pub headers: Vec<(String, String)>,
    /// Null if absent or not JSON.
    pub body: Value,
}

impl Request {
    /// The first header with this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Codex's description of the turn: model, effort, sandbox mode, source of the thread.
    pub fn turn(&self) -> Value {
        self.header("x-codex-turn-metadata")
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Request> {
        let first = line(from)?;
        let mut words = first.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut request = Request {
            method: method.to_owned(),
            path: target.split('?').next().unwrap_or_default().to_owned(),
            headers: Vec::new(),
            body: Value::Null,
        };
        loop {
            let header = line(from)?;
            let Some((name, value)) = header.split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        from.read_exact(&mut body)?;
        request.body = serde_json::from_slice(&body).unwrap_or_default();
        Ok(request)
    }
}

/// A line without its end. The end of the stream within the head is an error.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

pub(super) fn write_json(mut to: &TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let length = body.len();
    write!(
        to,
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )?;
    to.flush()
}

/// Writes a stream of events; closing the connection ends it.
pub(super) fn write_events(mut to: &TcpStream, events: &[Value]) -> io::Result<()> {
    let mut text =
        String::from("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
    for event in events {
        // Gemini's events have no names.
        let name = event["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
        text.push_str(&format!("{name}data: {event}\n\n"));
    }
    to.write_all(text.as_bytes())?;
    to.flush()
}
