//! Determines the type of a file from its beginning.

use serde::de::IgnoredAny;

use crate::inspect::timestamp;

/// How many lines are examined before a file counts as a log.
const LINES: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ContentType {
    /// One document.
    Json,
    /// One document per line.
    Jsonl,
    /// Lines that begin with a time or a level.
    Log,
    Text,
    Binary,
    /// The file is empty.
    #[default]
    Unknown,
}

impl ContentType {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Log => "log",
            Self::Text => "text",
            Self::Binary => "binary",
            Self::Unknown => "unknown",
        }
    }

    /// The type of content that begins with `sample`; `whole` if that is everything.
    pub(crate) fn of(sample: &[u8], whole: bool) -> Self {
        if sample.is_empty() {
            return Self::Unknown;
        }
        if is_binary(sample) {
            return Self::Binary;
        }
        if let Some(json) = json(sample, whole) {
            return json;
        }
        let lines = || sample.split(|c| *c == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let (mut all, mut logged) = (0, 0);
        for line in lines().take(LINES) {
            all += 1;
            logged += usize::from(timestamp::at_start(line).is_some() || begins_with_level(line));
        }
        if logged > 0 && logged * 2 >= all { Self::Log } else { Self::Text }
    }
}

/// Bytes that text does not contain, except a stray one.
fn is_binary(sample: &[u8]) -> bool {
    let odd = |c: &&u8| matches!(c, 0..=6 | 14..=26 | 28..=31);
    let zero = memchr::memchr(0, sample).is_some();
    let odd = sample.iter().filter(odd).count();
    let broken = String::from_utf8_lossy(sample).matches('\u{fffd}').count();
    (zero && (odd + broken) * 50 > sample.len()) || (odd + broken) * 10 > sample.len()
}

fn json(sample: &[u8], whole: bool) -> Option<ContentType> {
    let text = sample.strip_prefix("\u{feff}".as_bytes()).unwrap_or(sample).trim_ascii_start();
    if !text.starts_with(b"{") && !text.starts_with(b"[") {
        return None;
    }
    let mut documents = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match documents.next()? {
        Ok(_) => {}
        Err(error) if error.is_eof() && !whole => return Some(ContentType::Json),
        Err(_) => return None,
    }
    let rest = &text[documents.byte_offset()..];
    if rest.trim_ascii().is_empty() {
        // With one line so far, the next one decides, if there is one.
        return Some(ContentType::Json);
    }
    // Each line stands for itself, and some may be invalid.
    let is_next_line = rest.iter().take_while(|c| c.is_ascii_whitespace()).any(|c| *c == b'\n');
    let first = &text[..documents.byte_offset()];
    (is_next_line && !first.contains(&b'\n')).then_some(ContentType::Jsonl)
}

fn begins_with_level(line: &[u8]) -> bool {
    const LEVELS: [&str; 9] =
        ["trace", "debug", "info", "notice", "warn", "warning", "error", "fatal", "critical"];
    let line = timestamp::uncoloured(line).trim_ascii_start();
    let line = line.strip_prefix(b"[").unwrap_or(line);
    let word = line.split(|c| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::test_rows;

    #[test]
    fn a_file_is_known_by_its_beginning() {
        let rows = include_str!("../../tests/data/content_types.jsonl");
        for [given, expected] in test_rows::<[String; 2]>(rows) {
            assert_eq!(ContentType::of(given.as_bytes(), true).as_str(), expected, "{given:?}");
        }
        assert_eq!(ContentType::of(b"{\"a\": [1, 2", false), ContentType::Json);
        assert_eq!(ContentType::of(b"{\"a\": [1, 2", true), ContentType::Text);
        assert_eq!(ContentType::of(&[0xff; 100], true), ContentType::Binary);
    }
}
