//! Entry point of the protocol's fuzz target: from bytes to parsed tool arguments. Opens and starts nothing.
//!
//! Tests feed it seeded random input, `fuzz/` feeds it coverage-guided input. The invariants are here, once.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rmcp::model::ClientJsonRpcMessage;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio_util::sync::CancellationToken;

use crate::mcp::protocol::stdin_lines::{self, DEEPEST, Input, UNREADABLE};
use crate::mcp::tools::{TOOLS, field, find};

/// Panics if an invariant is violated.
pub(crate) fn check(bytes: &[u8]) {
    let passed = passed(bytes);
    let (front, back) = bytes.split_at(bytes.len() / 2);
    assert_eq!(passed, self::passed(front.chain(back)), "it depends on how the bytes arrive");
    let mut left = passed.split_inclusive(|byte| *byte == b'\n');
    // A line without an end is not a message yet.
    for line in bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let is_whole =
            |message: &Value| depth(message) <= DEEPEST && stdin_lines::misshapen(message).is_none();
        if line.trim_ascii().is_empty() || message(line).is_some_and(|message| is_whole(&message)) {
            assert_eq!(left.next(), Some(line), "a message was changed");
            continue;
        }
        let told = left.next().and_then(message).expect("something stands for an unreadable line");
        assert_eq!(told["method"], UNREADABLE);
        let id = told.get("id");
        assert!(id.is_none_or(|id| id.is_string() || id.is_number()), "{told}");
    }
    assert_eq!(left.next(), None, "there is more than was sent");
    passed.split(|byte| *byte == b'\n').filter_map(message).for_each(|message| read(&message));
}

/// The bytes that reach the protocol library.
fn passed(source: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut input = Input::new(source, CancellationToken::new());
    let mut passed = Vec::new();
    let done = pin!(input.read_to_end(&mut passed)).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(done, Poll::Ready(Ok(_))), "it waits for what is there");
    passed
}

fn message(line: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(line).ok()?;
    serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Reads a message as the library does, and parses its tool arguments.
fn read(message: &Value) {
    let _ = serde_json::from_value::<ClientJsonRpcMessage>(message.clone());
    let params = &message["params"];
    let Some(given) = params["arguments"].as_object() else { return };
    let named = params["name"].as_str().and_then(find);
    // If no tool has this name, try the arguments on all of them.
    for tool in TOOLS.iter().filter(|tool| named.is_none_or(|named| named.name == tool.name)) {
        match field::read(tool.fields, given.clone()) {
            Ok(read) => assert_eq!(again(tool.fields, &read), Some(read), "{}", tool.name),
            Err(failure) => {
                let told = failure.hint.iter().fold(failure.message, |told, hint| told + hint);
                let shown = told.chars().count() < 4000 && !told.contains(char::is_control);
                assert!(shown, "{}: {told:?}", tool.name);
            }
        }
    }
}

/// Reads arguments again that were read before: they must not change.
fn again(fields: &[field::Field], read: &Map<String, Value>) -> Option<Map<String, Value>> {
    field::read(fields, read.clone()).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The inputs that a fuzzer begins with.
    fn corpus() -> Vec<Vec<u8>> {
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/edge")).unwrap();
        files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
    }

    #[test]
    fn the_corpus_is_read_as_promised() {
        assert!(corpus().len() > 5);
        corpus().iter().for_each(|input| check(input));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_as_promised(bytes in vec(any::<u8>(), 0..400)) {
            check(&bytes);
        }

        #[test]
        fn damaged_messages_are_read_as_promised(
            chosen: prop::sample::Index,
            damage in vec((any::<prop::sample::Index>(), 0..4_usize, any::<u8>()), 1..6),
        ) {
            let mut bytes = chosen.get(&corpus()).clone();
            for (at, how, byte) in damage {
                let at = at.index(bytes.len());
                match how {
                    0 => bytes[at] = byte,
                    1 => bytes.insert(at, b"{}[]\",:0\\\n\xc3"[usize::from(byte) % 11]),
                    2 => bytes.extend_from_within(at..),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            check(&bytes);
        }
    }
}
