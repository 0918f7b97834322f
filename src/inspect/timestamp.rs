//! Times as logs write them, where a line begins.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// No time stands later in its line.
const LOOKED_AT: usize = 64;
/// RFC 3339 and what is near it; the dates of web servers, of syslog, and of
/// Go's and Java's loggers. A time of day alone is none.
const TIME: &str = r"(?x)
    ^ [\[(<\x22'\x20]{0,2}
    (
        \d{4} [-/.] \d{2} [-/.] \d{2} [T\x20_] \d{2}:\d{2} (?: :\d{2} (?: [.,] \d{1,9} )? )? (?: \x20? (?: Z | [+-]\d{2}:?\d{2} ) )?
      | \d{1,2} [/\x20-] (?: Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec ) [/\x20-] \d{4} [:\x20] \d{2}:\d{2}:\d{2} (?: \x20 [+-]\d{4} )?
      | (?: (?: Mon|Tue|Wed|Thu|Fri|Sat|Sun ) ,? \x20 )? (?: Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec ) \x20{1,2} \d{1,2} \x20 \d{2}:\d{2}:\d{2} (?: \.\d{1,9} )? (?: \x20 \d{4} )?
      | [IWEF] \d{4} \x20 \d{2}:\d{2}:\d{2} \. \d{6}
    )
    (?: [^0-9] | $ )";

/// The time that a line begins with, as it is written there.
pub(super) fn at_start(line: &[u8]) -> Option<&str> {
    static COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
    let line = &line[..line.len().min(LOOKED_AT)];
    // Most lines without a time are told by their first characters.
    let first = line.iter().find(|c| !matches!(c, b'[' | b'(' | b'<' | b'"' | b'\'' | b' '))?;
    if !first.is_ascii_digit() && !first.is_ascii_uppercase() {
        return None;
    }
    let compiled = COMPILED.get_or_init(|| RegexBuilder::new(TIME).unicode(false).build().ok()).as_ref()?;
    std::str::from_utf8(compiled.captures(line)?.get(1)?.as_bytes()).ok()
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
        ] {
            assert_eq!(at_start(line.as_bytes()), Some(time), "{line}");
        }
        for line in ["", "at 2026-01-02T03:04:05Z", "2026-01-02", "12:30:00 x", "January", "\u{0}2026", "1"] {
            assert_eq!(at_start(line.as_bytes()), None, "{line}");
        }
    }
}
