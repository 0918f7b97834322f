//! Summarizes a whole file in one pass.

use std::io;

use memchr::memchr;

use crate::inspect::file_view::View;
use crate::inspect::json_scanner::{NotJson, Scanner};
use crate::inspect::json_shape::Shape;
use crate::inspect::line_pieces::{Lines, shown_part};
use crate::inspect::repeated_lines::Repeats;
use crate::inspect::tally::{Longest, Tally};
use crate::inspect::{ContentType, Found, parallel_tally};
use crate::redact;
use crate::text::plain;

const CHUNK: u64 = 256 << 10;
const MOST_REPEATED: usize = 5;
/// More lines than are shown, because lines of a private key are dropped.
const REPEATED_LOOKED_AT: usize = 64;
const LONGEST_REPEATED: usize = 160;
const LONGEST_SHAPE: usize = 2000;

/// The summary of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) longest_line: Option<Longest>,
    /// Lines with one of these words, in any case: `error`, `exception` (also at the end of a name), `fatal`,
    /// `panic`, `traceback`, `failed`, `failure`, `critical`; or `warn`, `warning`; unless `0` precedes it.
    /// The rest of the line is not interpreted.
    pub(crate) error_lines: u64,
    pub(crate) warning_lines: u64,
    /// The times of the first and last line that begin with one, as written there.
    pub(crate) first_timestamp: Option<String>,
    pub(crate) last_timestamp: Option<String>,
    pub(crate) repeated: Vec<RepeatedLine>,
    pub(crate) json: Option<JsonSummary>,
}

/// Lines that differ only in their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepeatedLine {
    /// The first of them, and its line number.
    pub(crate) line: String,
    pub(crate) line_number: u64,
    /// Whether the line was cut.
    pub(crate) is_cut: bool,
    pub(crate) count: u64,
    /// Whether the count is exact, or a lower bound.
    pub(crate) is_exact: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonSummary {
    /// Types, names and lengths: `{id: number, tags?: [0..3 × string]}`.
    pub(crate) shape: String,
    /// Whether the shape was cut.
    pub(crate) is_cut: bool,
    /// Documents that could be parsed, and lines that could not.
    pub(crate) documents: u64,
    pub(crate) spoiled_lines: u64,
}

pub(super) fn summarise(lines: &mut Lines, content_type: ContentType) -> io::Result<Found> {
    let mut tally = Tally::default();
    let mut json = match content_type {
        ContentType::Json => Some(Documents::new(false)),
        ContentType::Jsonl => Some(Documents::new(true)),
        ContentType::Log | ContentType::Text | ContentType::Binary | ContentType::Unknown => None,
    };
    if json.is_none()
        && let Some((file, end)) = lines.view.plain_file(parallel_tally::SHORTEST)
    {
        parallel_tally::count(&file, end, |parts| {
            for (range, counted) in parts {
                feed(&mut lines.view, &mut tally, range.start)?;
                tally.add(&counted);
                lines.view.check_wanted()?;
            }
            io::Result::Ok(())
        })?;
    }
    let mut at = tally.bytes;
    loop {
        let bytes = lines.view.read(at, at + CHUNK)?;
        if bytes.is_empty() {
            break;
        }
        tally.feed(bytes);
        if let Some(json) = &mut json {
            json.feed(if at == 0 {
                bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
            } else {
                bytes
            });
        }
        at += bytes.len() as u64;
    }
    tally.finish();
    let warning =
        json.as_mut().and_then(Documents::finish).map(|why| format!("only a part of it is JSON: {why}"));
    let total = tally.lines;
    let json = json.map(Documents::summary);
    let repeated = repeated(lines, tally.repeats)?;
    let cut = repeated.iter().any(|line| line.is_cut) || json.as_ref().is_some_and(|json| json.is_cut);
    let summary = Summary {
        lines: total,
        bytes: tally.bytes,
        longest_line: tally.longest,
        error_lines: tally.errors,
        warning_lines: tally.warnings,
        first_timestamp: tally.first_time,
        last_timestamp: tally.last_time,
        repeated,
        json,
    };
    let summary = Some(Box::new(summary));
    Ok(Found { total_lines: Some(total), summary, cut, warning, ..Found::default() })
}

/// Counts up to a position.
fn feed(view: &mut View, tally: &mut Tally, upto: u64) -> io::Result<()> {
    while tally.bytes < upto {
        let bytes = view.read(tally.bytes, upto.min(tally.bytes + CHUNK))?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        tally.feed(bytes);
    }
    Ok(())
}

/// The most frequent lines, read again at their first occurrence: only there it is known what is secret about
/// them.
fn repeated(lines: &mut Lines, repeats: Repeats) -> io::Result<Vec<RepeatedLine>> {
    let mut ranked: Vec<_> = repeats.top(REPEATED_LOOKED_AT).into_iter().enumerate().collect();
    // Compressed content can only be read forward.
    ranked.sort_by_key(|(_, repeated)| repeated.offset);
    let mut shown = Vec::with_capacity(ranked.len());
    for (rank, repeated) in ranked {
        let Some(piece) = lines.piece_at(repeated.offset)? else { continue };
        let text = lines.shown(&piece)?;
        if text != redact::key_mark() {
            let line = plain::line(&text, LONGEST_REPEATED);
            let is_cut = !piece.ends || is_cut(&text, &line, LONGEST_REPEATED);
            let line_number = repeated.line;
            let (count, is_exact) = (repeated.count, repeated.is_exact);
            shown.push((rank, RepeatedLine { line, line_number, is_cut, count, is_exact }));
        }
    }
    shown.sort_by_key(|(rank, _)| *rank);
    Ok(shown.into_iter().map(|(_, line)| line).take(MOST_REPEATED).collect())
}

/// Whether a text is longer than what is shown of it.
fn is_cut(text: &str, shown: &str, most: usize) -> bool {
    shown.ends_with('…') && plain::line(text, most + 1) != shown
}

/// One document, or one per line.
struct Documents {
    is_lines: bool,
    scanner: Scanner,
    shape: Shape,
    broken: Option<NotJson>,
    /// Whether the line has any content so far.
    begun: bool,
    read: u64,
    spoiled: u64,
}

impl Documents {
    fn new(is_lines: bool) -> Self {
        let (scanner, shape) = (Scanner::new(), Shape::new());
        Self { is_lines, scanner, shape, broken: None, begun: false, read: 0, spoiled: 0 }
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while self.is_lines
            && let Some(end) = memchr(b'\n', bytes)
        {
            self.part(&bytes[..end]);
            self.end();
            bytes = &bytes[end + 1..];
        }
        self.part(bytes);
    }

    fn part(&mut self, part: &[u8]) {
        self.begun |= !part.trim_ascii().is_empty();
        if self.broken.is_none() {
            self.broken = self.scanner.feed(part, &mut self.shape).err();
        }
    }

    /// At the end of a document: the reason if it is invalid.
    fn end(&mut self) -> Option<NotJson> {
        if !std::mem::take(&mut self.begun) {
            return None;
        }
        let broken = self.broken.take().or_else(|| self.scanner.finish(&mut self.shape).err());
        match broken {
            Some(_) => self.spoiled += 1,
            None => self.read += 1,
        }
        self.shape.abandon();
        self.scanner = Scanner::new();
        broken
    }

    fn finish(&mut self) -> Option<NotJson> {
        let broken = self.end();
        broken.filter(|_| !self.is_lines)
    }

    fn summary(self) -> JsonSummary {
        let whole = shown_part(b"", self.shape.text().as_bytes(), b"");
        let shape = plain::line(&whole, LONGEST_SHAPE);
        JsonSummary {
            is_cut: is_cut(&whole, &shape, LONGEST_SHAPE),
            shape,
            documents: self.read,
            spoiled_lines: if self.is_lines { self.spoiled } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::Mode;
    use crate::inspect::reference_answers::{ask, gzip};

    fn summary(stored: &[u8]) -> Summary {
        *ask(stored, Mode::Summary, None, 1000).summary.unwrap()
    }

    #[test]
    fn a_log_is_told_in_figures() {
        let content = "2026-01-02T03:04:05Z INFO took 5 ms\n2026-01-02T03:04:06Z INFO took 6 ms\n\
            2026-01-02T03:04:07Z ERROR token=ghp_aB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3x\n2026-01-02T03:04:08Z WARN x\n";
        for stored in [content.as_bytes().to_vec(), gzip(content.as_bytes())] {
            let found = summary(&stored);
            assert_eq!((found.lines, found.bytes), (4, content.len() as u64));
            assert_eq!(found.longest_line, Some(Longest { line: 3, bytes: 73 }));
            assert_eq!((found.error_lines, found.warning_lines), (1, 1));
            assert_eq!(found.first_timestamp.as_deref(), Some("2026-01-02T03:04:05Z"));
            assert_eq!(found.last_timestamp.as_deref(), Some("2026-01-02T03:04:08Z"));
            let line = "2026-01-02T03:04:05Z INFO took 5 ms".to_owned();
            assert_eq!(
                found.repeated,
                [RepeatedLine { line, line_number: 1, is_cut: false, count: 2, is_exact: true }]
            );
            assert_eq!(found.json, None);
        }
    }

    #[test]
    fn json_is_told_by_its_shape() {
        let found = summary(b"{\"a\": [1, 2],\n \"b\": {\"c\": null}}\n").json.unwrap();
        assert_eq!((found.shape.as_str(), found.documents), ("{a: [2 \u{d7} number], b: {c: null}}", 1));
        let lines = b"{\"id\":1}\n{\"id\":2,\"t\":\"x\"}\nspoiled\n\n{\"id\":3";
        let found = summary(lines).json.unwrap();
        assert_eq!(found.shape, "{id: number, t?: string}");
        assert_eq!((found.documents, found.spoiled_lines), (2, 2));
    }

    #[test]
    fn a_repeated_line_is_shown_without_its_secret() {
        let found = summary("login ghp_aB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3xaB3x\n".repeat(2).as_bytes());
        assert_eq!(found.repeated[0].line, "login [redacted:github]");
    }

    #[test]
    fn a_private_key_that_is_printed_twice_is_no_repeated_line() {
        let line = |n: u8| {
            format!("{}IEpAIBAAKCAQEAx/Vn+kQzTsWfJdLrYmBcHpEuGvNqXoKtRiaZyDlSb", char::from(b'A' + n))
        };
        let lines: Vec<String> = (0..25).map(line).collect();
        let key = format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\nabcDEFabcDEFabcDEF==\n-----END RSA PRIVATE KEY-----\n",
            lines.join("\n")
        );
        let listed = serde_json::json!([key.lines().collect::<Vec<_>>(), key.lines().collect::<Vec<_>>()]);
        for content in [format!("{key}a word\n{key}a word\n"), format!("{listed:#}")] {
            for stored in [content.as_bytes().to_vec(), gzip(content.as_bytes())] {
                let found = summary(&stored);
                let shown = format!("{:?}", found.repeated);
                assert!(!shown.contains("IEpA") && !shown.contains("abcDEF"), "{shown}");
                assert!(!shown.contains("redacted") && !found.repeated.is_empty(), "{shown}");
            }
        }
    }

    #[test]
    fn a_repeated_line_is_redacted_before_it_is_cut() {
        let token = format!("npm_{}", "a7Bq9ZkT3mXw".repeat(3));
        for colours in 0..60 {
            let line =
                format!("{}{} login {token} ends\n", "\u{1b}[31m".repeat(colours), "─".repeat(colours / 2));
            let found = summary(line.repeat(2).as_bytes());
            assert!(!found.repeated[0].line.contains("Bq9"), "{colours}: {}", found.repeated[0].line);
            let line = format!("{} ftp://bob:hunter2x@host\n", "\u{1b}[31mx".repeat(colours));
            let found = summary(line.repeat(2).as_bytes());
            assert!(!found.repeated[0].line.contains("hunt"), "{colours}: {}", found.repeated[0].line);
        }
    }

    #[test]
    fn what_is_cut_is_said_to_be() {
        let line = |length: usize| format!("once\n{0}\n{0}\n", "x".repeat(length));
        for (content, is_cut) in
            [(line(160), false), (line(161), true), (line(300 << 10), true), ("…\n…\n".to_owned(), false)]
        {
            let found = ask(content.as_bytes(), Mode::Summary, None, 1000);
            assert_eq!(found.cut, is_cut, "{} bytes", content.len());
            let summary = found.summary.unwrap();
            assert_eq!(summary.repeated[0].is_cut, is_cut);
            assert_eq!(summary.repeated[0].line_number, if content.starts_with("once") { 2 } else { 1 });
        }
        let members: Vec<String> = (0..400).map(|number| format!("\"a_name_{number}\": 1")).collect();
        let json = summary(format!("{{{}}}", members.join(",")).as_bytes()).json.unwrap();
        assert_eq!(json.is_cut, json.shape.ends_with('…'));
    }

    /// What is compressed is counted by one processor.
    #[test]
    fn several_processors_count_as_one_does() {
        for ends in ["\n", "", "no break"] {
            let mut content = Vec::new();
            let mut seed = 1_u64;
            while content.len() < 5 << 20 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let some = seed >> 33;
                let long = if some.is_multiple_of(1_000) { 300_000 } else { some as usize % 90 };
                let level =
                    ["ERROR", "WARN", "0 errors", "INFO", "E1116 05:00:01.123456", ""][some as usize % 6];
                content.extend(format!("2026-01-02T03:04:{:02}Z {level} {some} ", some % 60).bytes());
                content.extend(std::iter::repeat_n(b'.', long));
                content.extend(if some.is_multiple_of(7) { &b"\r\n"[..] } else { b"\n\n" });
            }
            content.extend(ends.bytes());
            let (several, one) = (summary(&content), summary(&gzip(&content)));
            assert_eq!(several, one);
            assert!(several.error_lines > 1_000 && several.longest_line.unwrap().bytes > 300_000);
        }
    }

    #[test]
    fn an_empty_file_has_a_summary() {
        let found = summary(b"");
        assert_eq!((found.lines, found.bytes, found.longest_line), (0, 0, None));
    }
}
