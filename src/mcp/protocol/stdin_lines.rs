//! Reads standard input line by line. A line that cannot be read is replaced by a message that gets an error as
//! its answer, so that no client waits for ever.
//!
//! The protocol library skips a line that is too long, not UTF-8, or not JSON. Here it becomes a request if it has
//! an id, and otherwise a notification; `message_filter` answers both.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rmcp::model::ErrorCode;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::request_id_scan::Scan;

/// The method of messages that stand for an unreadable line.
pub(crate) const UNREADABLE: &str = "delegator/unreadable";

/// For JSON that has an id but is neither a request nor a response.
pub(crate) const MISSHAPEN: &str = "the message is not a JSON-RPC 2.0 request with named parameters";

/// Only revision 2025-03-26 has batches, and it is not offered.
pub(crate) const BATCH: &str =
    "batches are not supported: send each message by itself; no supported revision has batches";

/// The protocol library treats a cursor of the wrong type as absent.
const BAD_CURSOR: &str = "`cursor` is not a string; leave it out for the whole list";

/// The longest line that is accepted, as in the protocol library.
const LONGEST: usize = 16 << 20;
const TOO_LONG: &str = "the message is longer than 16 MiB";
const CHUNK: usize = 64 << 10;
/// How deep a message may be nested: a little less than the JSON reader allows.
pub(crate) const DEEPEST: usize = 100;

/// Passes on complete lines and reports the end of the input.
pub(crate) struct Input<R> {
    source: R,
    /// The line that is being read.
    line: Vec<u8>,
    /// Replaces `line` for a line that is too long: the scan for its id.
    too_long: Option<Scan>,
    /// Complete lines to pass on.
    ready: VecDeque<u8>,
    chunk: Box<[u8]>,
    gone: CancellationToken,
}

impl<R> Input<R> {
    /// `gone` is cancelled when the input has ended.
    pub(crate) fn new(source: R, gone: CancellationToken) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        Self { source, line: Vec::new(), too_long: None, ready: VecDeque::new(), chunk, gone }
    }

    fn take_in(&mut self, length: usize) {
        for piece in self.chunk[..length].split_inclusive(|&byte| byte == b'\n') {
            match &mut self.too_long {
                Some(scan) => scan.go_on(piece),
                None => self.line.extend_from_slice(piece),
            }
            if self.line.len() > LONGEST {
                self.too_long = Some(Scan::of(&std::mem::take(&mut self.line)));
            }
            if piece.ends_with(b"\n") {
                // Release the memory of a long line.
                let line = std::mem::take(&mut self.line);
                match (self.too_long.take(), wrong(&line)) {
                    (Some(scan), _) => self.ready.extend(instead(scan, TOO_LONG)),
                    (None, None) => self.ready.extend(&line),
                    (None, Some(what)) => self.ready.extend(instead(Scan::of(&line), what)),
                }
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Input<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.ready.is_empty() {
            let mut chunk = ReadBuf::new(&mut this.chunk);
            let polled = ready!(Pin::new(&mut this.source).poll_read(context, &mut chunk));
            let length = chunk.filled().len();
            if polled.is_err() || length == 0 {
                this.gone.cancel();
                return Poll::Ready(polled);
            }
            this.take_in(length);
        }
        let (front, _) = this.ready.as_slices();
        let length = front.len().min(buffer.remaining());
        buffer.put_slice(&front[..length]);
        this.ready.drain(..length);
        if this.ready.is_empty() {
            this.ready = VecDeque::new();
        }
        Poll::Ready(Ok(()))
    }
}

/// Why a line is unreadable, or `None` if it is readable.
pub(crate) fn wrong(line: &[u8]) -> Option<&'static str> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(line) else { return Some("the message is not UTF-8") };
    // A byte order mark is accepted.
    let text = text.trim_start_matches('\u{feff}');
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Some("the message is not JSON");
    }
    if depth(line) > DEEPEST {
        return Some("the message is nested too deeply");
    }
    // Valid JSON can still contain `1e999` or half a surrogate pair.
    match serde_json::from_str::<Value>(text) {
        Ok(message) => misshapen(&message),
        Err(_) => Some("the message has a number or a string that cannot be represented"),
    }
}

/// Why the protocol library would not answer this JSON correctly: a batch, a list request with a bad cursor, or
/// anything else with an id.
pub(crate) fn misshapen(message: &Value) -> Option<&'static str> {
    if message.is_array() {
        return Some(BATCH);
    }
    let id = &message["id"];
    let waits = id.is_string() || id.is_i64() || id.is_u64();
    let answers =
        message.get("method").is_none() && ["result", "error"].iter().any(|one| message.get(one).is_some());
    let request =
        message["method"].is_string() && (message["params"].is_null() || message["params"].is_object());
    if waits && !(message["jsonrpc"] == "2.0" && (answers || request)) {
        return Some(MISSHAPEN);
    }
    let cursor = &message["params"]["cursor"];
    let lists = message["method"].as_str().is_some_and(|method| method.ends_with("/list"));
    (waits && lists && !cursor.is_null() && !cursor.is_string()).then_some(BAD_CURSOR)
}

/// The error code for an unreadable message.
pub(crate) fn code(reason: &str) -> ErrorCode {
    match reason {
        MISSHAPEN | BATCH => ErrorCode::INVALID_REQUEST,
        BAD_CURSOR => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::PARSE_ERROR,
    }
}

/// The nesting depth of a line of JSON.
fn depth(line: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0_usize, 0, 0);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                at = string_end(line, at).unwrap_or(line.len());
                continue;
            }
            _ => {}
        }
        deepest = deepest.max(depth);
        at += 1;
    }
    deepest
}

/// The message that replaces an unreadable line: a request if the line has an id.
fn instead(line: Scan, what: &str) -> Vec<u8> {
    let mut message = json!({ "jsonrpc": "2.0", "method": UNREADABLE, "params": { "reason": what } });
    if let Some(id) = line.id().filter(|_| what != BATCH) {
        message["id"] = id;
    }
    format!("{message}\n").into_bytes()
}

/// The position after the string that begins at `start`.
fn string_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while at < line.len() {
        match line[at] {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt;

    use super::*;

    fn passed(input: &[u8]) -> String {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let gone = CancellationToken::new();
        let mut out = Vec::new();
        runtime.block_on(Input::new(input, gone.clone()).read_to_end(&mut out)).unwrap();
        assert!(gone.is_cancelled());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn whole_messages_pass_and_the_rest_becomes_an_error_where_somebody_waits() {
        let good = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n";
        assert_eq!(passed(good.as_bytes()), good);
        assert_eq!(passed(b"last words"), "");
        let told = |line: &[u8]| -> Value { serde_json::from_str(&passed(line)).unwrap() };
        for (line, reason) in [("nonsense\n", "the message is not JSON"), ("[{\"id\":1}]\n", BATCH)] {
            let bad = told(line.as_bytes());
            assert_eq!((bad.get("id"), &bad["params"]["reason"]), (None, &json!(reason)), "{line}");
        }
        let bad = told(b"{\"id\":7,\"params\":{\"id\":8,\"task\":\"\xff\"}}\n");
        assert_eq!((&bad["id"], &bad["params"]["reason"]), (&json!(7), &json!("the message is not UTF-8")));
        let deep = format!("{{\"params\":{}{},\"id\":\"a\\\"b\"}}\n", "[".repeat(9000), "]".repeat(9000));
        let bad = told(deep.as_bytes());
        assert_eq!(
            (&bad["id"], &bad["params"]["reason"]),
            (&json!("a\"b"), &json!("the message is nested too deeply"))
        );
        for beyond in ["1e999", "\"\\ud800\""] {
            let bad = told(format!("{{\"id\":4,\"params\":{beyond}}}\n").as_bytes());
            let reason = json!("the message has a number or a string that cannot be represented");
            assert_eq!((&bad["id"], &bad["params"]["reason"]), (&json!(4), &reason));
        }
        let bad = told(b"{\"id\":-3, broken\n");
        assert_eq!((&bad["id"], &bad["params"]["reason"]), (&json!(-3), &json!("the message is not JSON")));
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_the_next_one_is_read() {
        for (front, back) in [("\"id\":9,", ""), ("", ",\"id\":9")] {
            let mut input = format!("{{\"jsonrpc\":\"2.0\",{front}\"x\":\"").into_bytes();
            input.resize(LONGEST + 5, b'x');
            input.extend(
                format!("\"{back}}}\n{{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"ping\"}}\n").bytes(),
            );
            let passed = passed(&input);
            let lines: Vec<Value> = passed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            assert_eq!(lines[0]["params"]["reason"], TOO_LONG);
            assert_eq!((&lines[0]["id"], &lines[1]["id"]), (&json!(9), &json!(10)));
        }
    }

    #[test]
    fn a_message_of_the_wrong_shape_is_answered_where_somebody_waits() {
        let told = |line: &str| passed(format!("{line}\n").as_bytes());
        for wrong in [
            r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            let told: Value = serde_json::from_str(&told(wrong)).unwrap();
            assert_eq!((&told["id"], &told["params"]["reason"]), (&json!(1), &json!(MISSHAPEN)), "{wrong}");
        }
        for right in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":5}"#,
        ] {
            assert_eq!(told(right).trim_end(), right);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_give_whole_lines_of_json(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            for line in passed(&bytes).lines().filter(|line| !line.trim().is_empty()) {
                prop_assert!(serde_json::from_str::<Value>(line.trim_start_matches('\u{feff}')).is_ok(), "{line}");
            }
        }
    }
}
