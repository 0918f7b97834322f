//! Standard input, line by line: what cannot be read at all becomes a request
//! that is answered with an error, so that nobody waits for ever.
//!
//! A line that is too long, is not UTF-8, or is not JSON is skipped by the
//! protocol library, as other libraries do. Where such a line shows the id of
//! a request, its sender waits for an answer.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The method of the requests that stand for what could not be read.
pub(super) const UNREADABLE: &str = "delegator/unreadable";

/// The longest line that is taken: what the protocol library takes.
const LONGEST: usize = 16 << 20;
/// How much of a longer one is looked at for its id.
const HEAD: usize = 64 << 10;
const CHUNK: usize = 64 << 10;
/// How deep a message may be nested: a little less than what the JSON reader takes.
pub(super) const DEEPEST: usize = 100;

/// Passes lines on once they are whole, and says when there are no more.
pub(super) struct Input<R> {
    source: R,
    /// The line that is being read, without what is beyond its head if it is too long.
    line: Vec<u8>,
    too_long: bool,
    /// Whole lines that are to be passed on.
    ready: VecDeque<u8>,
    chunk: Box<[u8]>,
    gone: CancellationToken,
}

impl<R> Input<R> {
    /// `gone` is cancelled when the input has ended.
    pub(super) fn new(source: R, gone: CancellationToken) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        Self { source, line: Vec::new(), too_long: false, ready: VecDeque::new(), chunk, gone }
    }

    fn take_in(&mut self, length: usize) {
        for piece in self.chunk[..length].split_inclusive(|&byte| byte == b'\n') {
            if !self.too_long {
                self.line.extend_from_slice(piece);
                if self.line.len() > LONGEST {
                    self.too_long = true;
                    self.line.truncate(HEAD);
                }
            }
            if piece.ends_with(b"\n") {
                match wrong(&self.line, self.too_long) {
                    None => self.ready.extend(&self.line),
                    Some(what) => self.ready.extend(instead(&self.line, what)),
                }
                // One long line must not hold its memory for ever.
                self.line = Vec::new();
                self.too_long = false;
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

/// Why a line cannot be read, if it cannot.
fn wrong(line: &[u8], too_long: bool) -> Option<&'static str> {
    if too_long {
        return Some("the message is longer than 16 MiB");
    }
    if line.trim_ascii().is_empty() {
        return None;
    }
    let Ok(text) = std::str::from_utf8(line) else { return Some("the message is not UTF-8") };
    // A byte order mark is no fault.
    let text = text.trim_start_matches('\u{feff}');
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Some("the message is not JSON");
    }
    if depth(line) > DEEPEST {
        return Some("the message is nested too deeply");
    }
    // What is JSON can still hold `1e999` or half a surrogate pair.
    serde_json::from_str::<Value>(text)
        .is_err()
        .then_some("the message has a number or a text beyond all bounds")
}

/// How deep the brackets of a line of JSON go.
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

/// A request in place of a line that cannot be read; nothing where nobody
/// waits for an answer.
fn instead(line: &[u8], what: &str) -> Vec<u8> {
    let Some(id) = id(line) else { return Vec::new() };
    // With what the newest revision wants of every request; older ones do not mind.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "reason": what, "_meta": meta });
    let request = json!({ "jsonrpc": "2.0", "id": id, "method": UNREADABLE, "params": params });
    format!("{request}\n").into_bytes()
}

/// The id of the request that `line` would be: the member `id` of the outermost
/// object, where it is a number or a string.
fn id(line: &[u8]) -> Option<Value> {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let end = string_end(line, at)?;
                if depth == 1 && &line[at..end] == b"\"id\"" {
                    let rest = line[end..].trim_ascii_start();
                    if let Some(value) = rest.strip_prefix(b":") {
                        return scalar(value.trim_ascii_start());
                    }
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Behind the string that begins at `start`.
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

/// The number or short string that `text` begins with.
fn scalar(text: &[u8]) -> Option<Value> {
    let end = match text.first()? {
        b'"' => string_end(text, 0)?,
        _ => text.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'-').unwrap_or(text.len()),
    };
    let value: Value = serde_json::from_slice(text.get(..end.min(200))?).ok()?;
    (value.is_string() || value.is_i64() || value.is_u64()).then_some(value)
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
        assert_eq!(passed(b"nonsense\n{\"id\": }\nlast words"), "");
        let told = |line: &[u8]| -> Value { serde_json::from_str(&passed(line)).unwrap() };
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
            let reason = json!("the message has a number or a text beyond all bounds");
            assert_eq!((&bad["id"], &bad["params"]["reason"]), (&json!(4), &reason));
        }
        let bad = told(b"{\"id\":-3, broken\n");
        assert_eq!((&bad["id"], &bad["params"]["reason"]), (&json!(-3), &json!("the message is not JSON")));
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_and_the_next_one_is_read() {
        let mut input = b"{\"jsonrpc\":\"2.0\",\"id\":9,\"x\":\"".to_vec();
        input.resize(LONGEST + 5, b'x');
        input.extend(b"\"}\n{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"ping\"}\n");
        let passed = passed(&input);
        let lines: Vec<Value> = passed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["params"]["reason"], "the message is longer than 16 MiB");
        assert_eq!((&lines[0]["id"], &lines[1]["id"]), (&json!(9), &json!(10)));
    }

    proptest! {
        #[test]
        fn any_bytes_give_whole_lines_of_json(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            for line in passed(&bytes).lines().filter(|line| !line.trim().is_empty()) {
                prop_assert!(serde_json::from_str::<Value>(line.trim_start_matches('\u{feff}')).is_ok(), "{line}");
            }
        }

        #[test]
        fn an_id_is_found_whatever_follows(number: i64, rest in "[^\\n]{0,40}") {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},{rest}");
            prop_assert_eq!(id(line.as_bytes()), Some(json!(number)));
        }
    }
}
