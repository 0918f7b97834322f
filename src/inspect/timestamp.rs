//! Times as logs write them: where a line begins, in colours or not, or in the
//! member of a JSON object that is named so.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// No time stands later in its line.
const LOOKED_AT: usize = 64;
/// Nor in an object: it is among the first members.
const LOOKED_AT_IN_JSON: usize = 256;
/// RFC 3339 and what is near it; the dates of web servers, of syslog, and of
/// Go's and Java's loggers. A time of day alone is none.
const TIME: &str = r"
        \d{4} [-/.] \d{2} [-/.] \d{2} [T\x20_] \d{2}:\d{2} (?: :\d{2} (?: [.,] \d{1,9} )? )? (?: \x20? (?: Z | [+-]\d{2}:?\d{2} ) )?
      | \d{1,2} [/\x20-] (?: Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec ) [/\x20-] \d{4} [:\x20] \d{2}:\d{2}:\d{2} (?: \x20 [+-]\d{4} )?
      | (?: (?: Mon|Tue|Wed|Thu|Fri|Sat|Sun ) ,? \x20 )? (?: Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec ) \x20{1,2} \d{1,2} \x20 \d{2}:\d{2}:\d{2} (?: \.\d{1,9} )? (?: \x20 \d{4} )?
      | [IWEF] \d{4} \x20 \d{2}:\d{2}:\d{2} \. \d{6}
    ";

struct Known {
    at_start: Regex,
    in_json: Regex,
}

impl Known {
    fn get() -> Option<&'static Self> {
        static COMPILED: OnceLock<Option<Known>> = OnceLock::new();
        let build =
            |text: String| RegexBuilder::new(&text).unicode(false).ignore_whitespace(true).build().ok();
        COMPILED
            .get_or_init(|| {
                Some(Known {
                    at_start: build(format!(r"^ [\[(<\x22'\x20]{{0,2}} ({TIME}) (?: [^0-9] | $ )"))?,
                    in_json: build(format!(
                        r#""(?: @? timestamp | ts | time | datetime )" \s* : \s* " ({TIME}) ""#
                    ))?,
                })
            })
            .as_ref()
    }
}

/// The time that a line begins with, as it is written there.
pub(super) fn at_start(line: &[u8]) -> Option<&str> {
    let line = uncoloured(line);
    // Most lines without a time are told by their first characters.
    let first = line.iter().find(|c| !matches!(c, b'[' | b'(' | b'<' | b'"' | b'\'' | b' '))?;
    let (looked_at, is_json) = match first {
        b'{' => (LOOKED_AT_IN_JSON, true),
        first if first.is_ascii_digit() || first.is_ascii_uppercase() => (LOOKED_AT, false),
        _ => return None,
    };
    let line = &line[..line.len().min(looked_at)];
    let known = Known::get()?;
    let time = if is_json { &known.in_json } else { &known.at_start };
    std::str::from_utf8(time.captures(line)?.get(1)?.as_bytes()).ok()
}

/// A line without the colours that it begins with.
pub(super) fn uncoloured(mut line: &[u8]) -> &[u8] {
    while let Some(rest) = line.strip_prefix(b"\x1b[") {
        let length = rest.iter().take_while(|c| matches!(c, b'0'..=b';')).count();
        match rest.get(length) {
            Some(b'm' | b'K') => line = &rest[length + 1..],
            _ => break,
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_known_in_the_ways_they_are_written() {
        for (line, time) in [
            ("2026-01-02T03:04:05Z x", "2026-01-02T03:04:05Z"),
            ("[2026-01-02T03:04:05.123456+01:00] x", "2026-01-02T03:04:05.123456+01:00"),
            ("2026-01-02 03:04:05,678 INFO", "2026-01-02 03:04:05,678"),
            ("2026/01/02 03:04:05 go", "2026/01/02 03:04:05"),
            ("[02/Jan/2026:03:04:05 +0000] GET", "02/Jan/2026:03:04:05 +0000"),
            ("Jan  2 03:04:05 host sshd", "Jan  2 03:04:05"),
            ("Fri Jan  2 03:04:05 2026", "Fri Jan  2 03:04:05 2026"),
            ("I0102 03:04:05.678901 1 main.go", "I0102 03:04:05.678901"),
            ("\x1b[2m2026-01-02T03:04:05Z\x1b[0m \x1b[32m INFO\x1b[0m x", "2026-01-02T03:04:05Z"),
            ("\x1b[0m\x1b[38;5;8m[2026-01-02T03:04:05Z \x1b[0m", "2026-01-02T03:04:05Z"),
            (r#"{"ts":"2026-01-02T03:04:05Z","level":"info"}"#, "2026-01-02T03:04:05Z"),
            (r#"{"level": "info", "@timestamp": "2026-01-02 03:04:05,678"}"#, "2026-01-02 03:04:05,678"),
        ] {
            assert_eq!(at_start(line.as_bytes()), Some(time), "{line}");
        }
        for line in [
            "",
            "at 2026-01-02T03:04:05Z",
            "2026-01-02",
            "12:30:00 x",
            "January",
            "\u{0}2026",
            "1",
            "\x1b[",
            "\x1b[2",
            r#"{"lights":"2026-01-02T03:04:05Z"}"#,
            r#"{"ts":"2026"}"#,
        ] {
            assert_eq!(at_start(line.as_bytes()), None, "{line}");
        }
    }
}
