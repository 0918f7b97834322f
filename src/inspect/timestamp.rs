//! Finds times as logs write them: at the beginning of a line, with or without colours, after a service name,
//! after the client in a web server's log, or in a JSON member with such a name.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// The latest position of a time in its line.
const LOOKED_AT: usize = 64;
/// The latest position in an object: it is among the first members.
const LOOKED_AT_IN_JSON: usize = 256;
/// In a web server's log, a host, a user and more precede the time in brackets.
const LOOKED_AT_IN_ACCESS: usize = 192;
/// The longest service name, with the blanks after it.
const LONGEST_SERVICE: usize = 80;
/// RFC 3339 and similar formats; the dates of web servers, syslog, and Go's and Java's loggers. A time of day
/// alone does not count, because it may be a duration.
const TIME: &str = r"
        \d{4} [-/.] \d{2} [-/.] \d{2} [T\x20_] \d{2}:\d{2} (?: :\d{2} (?: [.,] \d{1,9} )? )? (?: \x20? (?: Z | [+-]\d{2}:?\d{2} ) )?
      | \d{1,2} [/\x20-] (?: Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec ) [/\x20-] \d{4} [:\x20] \d{2}:\d{2}:\d{2} (?: \x20 [+-]\d{4} )?
      | (?: (?: Mon|Tue|Wed|Thu|Fri|Sat|Sun ) ,? \x20 )? (?: Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec ) \x20{1,2} \d{1,2} \x20 \d{2}:\d{2}:\d{2} (?: \.\d{1,9} )? (?: \x20 \d{4} )?
      | [IWEF] \d{4} \x20 \d{2}:\d{2}:\d{2} \. \d{6}
    ";

/// Seconds, milliseconds or smaller units since 1970.
const COUNTED: &str = r"\d{10} (?: \.\d{1,9} )? | 1\.\d{3,15} [eE] \+? 0?9 | \d{13} | \d{16} | \d{19}";

struct Known {
    at_start: Regex,
    in_json: Regex,
    in_access: Regex,
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
                        r#""(?: @? timestamp | ts | time | datetime )" \s* : \s*
                           (?: " (?<text> {TIME} ) " | (?<number> {COUNTED} ) \s* [,}}] )"#
                    ))?,
                    in_access: build(
                        r"^ \[ (\d{2} / [A-Z][a-z]{2} / \d{4} : \d{2}:\d{2}:\d{2} \x20 [+-]\d{4} ) \]"
                            .to_owned(),
                    )?,
                })
            })
            .as_ref()
    }
}

/// The time that a line begins with, as written there.
pub(super) fn at_start(line: &[u8]) -> Option<&str> {
    let line = uncoloured(line);
    first_of(line).or_else(|| first_of(behind_service(line)?)).or_else(|| in_access(line))
}

fn first_of(line: &[u8]) -> Option<&str> {
    // Most lines without a time are recognized by their first characters.
    let first = line.iter().find(|c| !matches!(c, b'[' | b'(' | b'<' | b'"' | b'\'' | b' '))?;
    let (looked_at, is_json) = match first {
        b'{' => (LOOKED_AT_IN_JSON, true),
        first if first.is_ascii_digit() || first.is_ascii_uppercase() => (LOOKED_AT, false),
        _ => return None,
    };
    let line = &line[..line.len().min(looked_at)];
    let known = Known::get()?;
    let time = if is_json {
        let found = known.in_json.captures(line)?;
        found.name("text").or_else(|| found.name("number"))?
    } else {
        known.at_start.captures(line)?.get(1)?
    };
    std::str::from_utf8(time.as_bytes()).ok()
}

/// The text after a service name: `docker compose logs` prints `web-1  | ` before each line.
fn behind_service(line: &[u8]) -> Option<&[u8]> {
    let bar = memchr::memchr(b'|', &line[..line.len().min(LONGEST_SERVICE)])?;
    let name = line[..bar].strip_suffix(b" ")?.trim_ascii_end();
    let is_name = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    let rest = uncoloured(&line[bar + 1..]);
    (!name.is_empty() && name.iter().all(is_name))
        .then(|| uncoloured(rest.strip_prefix(b" ").unwrap_or(rest)))
}

/// The time of a request, in brackets after the client.
fn in_access(line: &[u8]) -> Option<&str> {
    let line = &line[..line.len().min(LOOKED_AT_IN_ACCESS)];
    let at = memchr::memchr(b'[', line).filter(|&at| at > 0 && line[at - 1] == b' ')?;
    // At least host, identity and user; this rules out most other lines early.
    let words = line[..at].split(|c| *c == b' ').filter(|word| !word.is_empty()).count();
    if words < 3 || line.get(at + 3) != Some(&b'/') {
        return None;
    }
    std::str::from_utf8(Known::get()?.in_access.captures(&line[at..])?.get(1)?.as_bytes()).ok()
}

/// The level letter that a line of Go's klog begins with: `E1116 05:00:01.123456`.
pub(super) fn klog_level(line: &[u8]) -> Option<u8> {
    let line = uncoloured(line);
    let digits = |range: std::ops::Range<usize>| {
        line.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    let is_one = matches!(line.first(), Some(b'I' | b'W' | b'E' | b'F'))
        && digits(1..5)
        && line.get(5) == Some(&b' ')
        && digits(6..8)
        && line.get(8) == Some(&b':')
        && digits(9..11)
        && line.get(11) == Some(&b':')
        && digits(12..14)
        && line.get(14) == Some(&b'.');
    is_one.then(|| line[0])
}

/// A line without leading colours.
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
    use crate::text::test_rows;

    #[test]
    fn times_are_known_in_the_ways_they_are_written() {
        let rows = include_str!("../../tests/data/timestamps.jsonl");
        for (line, time) in test_rows::<(String, Option<String>)>(rows) {
            assert_eq!(at_start(line.as_bytes()), time.as_deref(), "{line}");
        }
    }
}
