//! Scans JSON incrementally, in pieces of any length, and reports what it contains.
//!
//! It stores only the nesting and one name or number at a time, so neither a long document nor a long string
//! takes memory; a parser that builds values would hold each string. It is lenient about the escapes and
//! characters inside strings, and strict elsewhere.

use memchr::memchr2;
use serde::de::IgnoredAny;

/// Deeper documents are rejected.
const DEEPEST: usize = 512;
/// How much of a name is kept; a longer number is invalid.
const LONGEST: usize = 4 << 10;

/// The type of a value that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

/// Receives what a document contains.
pub(super) trait Reader {
    /// The name of the next member, without quotes, as written.
    fn name(&mut self, name: &[u8]);
    /// A value begins there.
    fn begin(&mut self, kind: Kind, at: At);
    /// The innermost open value ends.
    fn end(&mut self);
    /// Bytes of the document without white space between tokens.
    fn bytes(&mut self, bytes: &[u8]);
    /// Whether to continue.
    fn wants_more(&self) -> bool {
        true
    }
}

/// A position in a document; the first line and the first byte are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct At {
    pub(super) line: u64,
    pub(super) byte: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Name,
    NameOrEnd,
    Colon,
    CommaOrEnd,
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// White space and punctuation.
    Between,
    String {
        is_name: bool,
        escaped: bool,
    },
    Scalar,
}

/// Invalid JSON, or JSON beyond a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotJson {
    #[error("line {line}: unexpected `{}`", char::from(*.byte).escape_default())]
    Unexpected { line: u64, byte: u8 },
    #[error("line {line}: not a number, `true`, `false` or `null`")]
    Scalar { line: u64 },
    #[error("line {line}: nested deeper than {DEEPEST}")]
    Deep { line: u64 },
    #[error("unexpected end")]
    Unfinished,
}

#[derive(Debug)]
pub(super) struct Scanner {
    /// The open arrays and objects, by their closing brackets.
    open: Vec<u8>,
    next: Next,
    inside: Inside,
    /// The name or scalar that is being read.
    text: Vec<u8>,
    line: u64,
    /// How many bytes were read.
    read: u64,
}

impl Scanner {
    pub(super) fn new() -> Self {
        let (open, text) = (Vec::new(), Vec::new());
        Self { open, next: Next::Value, inside: Inside::Between, text, line: 0, read: 0 }
    }

    /// Continues reading.
    pub(super) fn feed(&mut self, mut bytes: &[u8], reader: &mut impl Reader) -> Result<(), NotJson> {
        while !bytes.is_empty() && reader.wants_more() {
            let read = match self.inside {
                Inside::Between => self.between(bytes, reader)?,
                Inside::String { is_name, escaped } => self.string(bytes, is_name, escaped, reader),
                Inside::Scalar => self.scalar(bytes, reader)?,
            };
            bytes = &bytes[read..];
            self.read += read as u64;
        }
        Ok(())
    }

    /// Called at the end of the document.
    pub(super) fn finish(&mut self, reader: &mut impl Reader) -> Result<(), NotJson> {
        if self.inside == Inside::Scalar {
            self.end_scalar(reader)?;
        }
        if self.next == Next::Nothing && self.inside == Inside::Between {
            Ok(())
        } else {
            Err(NotJson::Unfinished)
        }
    }

    /// White space, or one punctuation character.
    fn between(&mut self, bytes: &[u8], reader: &mut impl Reader) -> Result<usize, NotJson> {
        let line = self.line;
        let Some(at) = bytes.iter().position(|c| !matches!(c, b' ' | b'\n' | b'\r' | b'\t')) else {
            self.line += breaks(bytes);
            return Ok(bytes.len());
        };
        self.line += breaks(&bytes[..at]);
        let byte = bytes[at];
        let here = At { line: self.line, byte: self.read + at as u64 };
        let takes_value = matches!(self.next, Next::Value | Next::ValueOrEnd);
        let takes_name = matches!(self.next, Next::Name | Next::NameOrEnd);
        match byte {
            b'{' | b'[' if takes_value => {
                if self.open.len() == DEEPEST {
                    return Err(NotJson::Deep { line: self.line + 1 });
                }
                let (kind, close, next) = match byte {
                    b'{' => (Kind::Object, b'}', Next::NameOrEnd),
                    _ => (Kind::Array, b']', Next::ValueOrEnd),
                };
                reader.begin(kind, here);
                reader.bytes(&[byte]);
                self.open.push(close);
                self.next = next;
            }
            b'"' if takes_value => {
                reader.begin(Kind::String, here);
                reader.bytes(b"\"");
                self.inside = Inside::String { is_name: false, escaped: false };
            }
            b'"' if takes_name => {
                reader.bytes(b"\"");
                self.text.clear();
                self.inside = Inside::String { is_name: true, escaped: false };
            }
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' if takes_value => {
                let kind = match byte {
                    b't' | b'f' => Kind::Bool,
                    b'n' => Kind::Null,
                    _ => Kind::Number,
                };
                reader.begin(kind, here);
                self.text.clear();
                self.inside = Inside::Scalar;
                return Ok(at);
            }
            b':' if self.next == Next::Colon => {
                reader.bytes(b":");
                self.next = Next::Value;
            }
            b',' if self.next == Next::CommaOrEnd => {
                reader.bytes(b",");
                self.next = if self.open.last() == Some(&b'}') { Next::Name } else { Next::Value };
            }
            b'}' | b']'
                if matches!(self.next, Next::CommaOrEnd | Next::ValueOrEnd | Next::NameOrEnd)
                    && self.open.last() == Some(&byte) =>
            {
                reader.bytes(&[byte]);
                self.open.pop();
                self.end_value(reader);
            }
            _ => return Err(NotJson::Unexpected { line: self.line + 1, byte }),
        }
        debug_assert!(line <= self.line);
        Ok(at + 1)
    }

    /// A part of a string, up to its end or the next escape.
    fn string(&mut self, bytes: &[u8], is_name: bool, escaped: bool, reader: &mut impl Reader) -> usize {
        let end = if escaped { Some(0) } else { memchr2(b'"', b'\\', bytes) };
        let read = end.map_or(bytes.len(), |at| at + 1);
        let is_end = !escaped && end.is_some_and(|at| bytes[at] == b'"');
        let escaped = !escaped && end.is_some_and(|at| bytes[at] == b'\\');
        reader.bytes(&bytes[..read]);
        if is_name {
            let part = &bytes[..read - usize::from(is_end)];
            self.text.extend_from_slice(&part[..part.len().min(LONGEST - self.text.len().min(LONGEST))]);
        }
        self.inside = Inside::String { is_name, escaped };
        if is_end {
            self.inside = Inside::Between;
            if is_name {
                reader.name(&self.text);
                self.next = Next::Colon;
            } else {
                self.end_value(reader);
            }
        }
        read
    }

    fn scalar(&mut self, bytes: &[u8], reader: &mut impl Reader) -> Result<usize, NotJson> {
        let is_part = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.');
        let length = bytes.iter().take_while(|c| is_part(c)).count();
        if self.text.len() + length > LONGEST {
            return Err(NotJson::Scalar { line: self.line + 1 });
        }
        self.text.extend_from_slice(&bytes[..length]);
        if length < bytes.len() {
            self.end_scalar(reader)?;
        }
        Ok(length)
    }

    fn end_scalar(&mut self, reader: &mut impl Reader) -> Result<(), NotJson> {
        serde_json::from_slice::<IgnoredAny>(&self.text)
            .map_err(|_| NotJson::Scalar { line: self.line + 1 })?;
        reader.bytes(&self.text);
        self.inside = Inside::Between;
        self.end_value(reader);
        Ok(())
    }

    fn end_value(&mut self, reader: &mut impl Reader) {
        reader.end();
        self.next = if self.open.is_empty() { Next::Nothing } else { Next::CommaOrEnd };
    }
}

fn breaks(space: &[u8]) -> u64 {
    space.iter().filter(|c| **c == b'\n').count() as u64
}

/// Decodes a name.
pub(super) fn unescaped(name: &[u8]) -> String {
    let plain = || String::from_utf8_lossy(name).into_owned();
    if !name.contains(&b'\\') {
        return plain();
    }
    serde_json::from_slice(&[b"\"", name, b"\""].concat()).unwrap_or_else(|_| plain())
}

#[cfg(test)]
#[path = "../../tests/inspect/json_scanner_tests.rs"]
mod tests;
