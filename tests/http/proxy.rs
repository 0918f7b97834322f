//! A proxy on loopback for a client that can send no token, and knows no tool
//! of ours: it adds the one, has the other's requests changed, and gives the
//! server its own port in `Host`. All else passes as it is.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use crate::client::Answer;
use crate::server::Server;

pub struct Proxy {
    listener: TcpListener,
    pub address: SocketAddr,
    stopped: AtomicBool,
}

/// Stops the proxy when the test is done with it.
pub struct Stop<'a>(&'a Proxy);

/// A request as it came.
struct Request {
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Proxy {
    /// Has an address; passes nothing on yet.
    pub fn open() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        Proxy { listener, address, stopped: AtomicBool::new(false) }
    }

    pub fn stop(&self) -> Stop<'_> {
        Stop(self)
    }

    /// Passes on whatever comes, each message changed by `change`.
    pub fn run(&self, server: &Server, change: &(dyn Fn(&mut Value) + Sync)) {
        thread::scope(|scope| {
            for client in self.listener.incoming().flatten() {
                if self.stopped.load(Ordering::SeqCst) {
                    return;
                }
                // A connection that breaks is the client's affair.
                scope.spawn(|| self.pass(client, server, change));
            }
        });
    }

    /// One request and its answer; the connection ends with it.
    fn pass(&self, client: TcpStream, server: &Server, change: &dyn Fn(&mut Value)) -> io::Result<()> {
        let mut request = Request::read(&mut BufReader::new(client.try_clone()?))?;
        request.change(change);
        request.set("authorization", format!("Bearer {}", server.token));
        request.set("connection", "close".into());
        if let Some(host) = request.header("host") {
            let (own, other) = (format!(":{}", self.address.port()), format!(":{}", server.address.port()));
            let host = host.replace(&own, &other);
            request.set("host", host);
        }
        let mut to = TcpStream::connect(server.address)?;
        to.write_all(&request.bytes())?;
        // A client that goes away takes the server's connection along.
        let (mut watched, ends) = (client.try_clone()?, to.try_clone()?);
        thread::spawn(move || {
            let _ = watched.read(&mut [0]);
            ends.shutdown(Shutdown::Both)
        });
        let mut passed = Vec::new();
        let copied = copy(&mut to, &client, &mut passed);
        client.shutdown(Shutdown::Both)?;
        // What this client makes of a reply is its affair; that it fits is ours.
        if copied.is_ok() && !passed.is_empty() {
            let mut answer = Answer::read(io::Cursor::new(passed), &server.advertised);
            while answer.message().is_some() {}
        }
        copied
    }
}

/// Passes everything on as it comes, and keeps it.
fn copy(from: &mut impl Read, mut to: &TcpStream, kept: &mut Vec<u8>) -> io::Result<()> {
    let mut piece = [0; 8192];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            return Ok(());
        }
        to.write_all(&piece[..length])?;
        kept.extend_from_slice(&piece[..length]);
    }
}

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.0.address);
    }
}

impl Request {
    fn read(from: &mut impl BufRead) -> io::Result<Request> {
        let line = line(from)?;
        let mut request = Request { line, headers: Vec::new(), body: Vec::new() };
        while let Some((name, value)) = self::line(from)?.split_once(':') {
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
        request.body = vec![0; length];
        from.read_exact(&mut request.body)?;
        Ok(request)
    }

    /// Has the message changed, and what the headers say of it along with it.
    fn change(&mut self, change: &dyn Fn(&mut Value)) {
        let Ok(mut message) = serde_json::from_slice::<Value>(&self.body) else { return };
        let named = |message: &Value| {
            let params = &message["params"];
            params["name"].as_str().or(params["uri"].as_str()).map(str::to_owned)
        };
        let original = message.clone();
        change(&mut message);
        if message == original {
            return;
        }
        let (before, after) = (named(&original), named(&message));
        self.body = message.to_string().into_bytes();
        self.set("content-length", self.body.len().to_string());
        if self.header("mcp-name") == before.as_deref() && before != after {
            self.set("mcp-name", after.unwrap_or_default());
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn set(&mut self, name: &str, value: String) {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value));
    }

    fn bytes(&self) -> Vec<u8> {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        let head = format!("{}\r\n{}\r\n", self.line, headers.collect::<String>());
        [head.as_bytes(), &self.body].concat()
    }
}

fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match from.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}
