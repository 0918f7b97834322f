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
#[path = "../../tests/inspect/summary_tests.rs"]
mod tests;
