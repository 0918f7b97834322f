//! Reads a part of a recording, as text or raw, up to a size limit, and says where to continue.
//!
//! Lines are counted by line feeds, so their numbers match the file. Only a window of the file is
//! ever in memory. Without an index, or for a compressed file, much of the file may have to be
//! read; otherwise never more than a few MiB.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::{ControlFlow, Range};

use crate::host::FilePart;
use crate::model::Timestamp;
use crate::terminals::TerminalError;
use crate::terminals::compressed_reader::RecordedBytes;
use crate::terminals::part_request::PartSelector;
use crate::terminals::redact_escapes::redact_raw;
use crate::terminals::redact_text::{self, redact_part};
use crate::terminals::segments::{Segment, SegmentSplitter, TextForm};
use crate::terminals::time_index::TimeIndex;

const CHUNK: usize = 64 << 10;
/// Maximum number of bytes processed by one call.
pub(super) const WORK: u64 = 8 << 20;
/// How far back the start of a line is searched.
const LINE: u64 = 64 << 10;
/// How far before a part, and on both sides of it, secrets are searched for.
const BEFORE: u64 = redact_text::REACH as u64;
const AROUND: u64 = redact_text::AROUND as u64;

/// At least as large as one segment, so that nothing is skipped.
const LEAST_ROOM: usize = 8_400;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PartRequest {
    pub(crate) part: PartSelector,
    pub(crate) form: TextForm,
    /// Maximum number of characters, as escaped in JSON.
    pub(crate) room: usize,
}

/// A part of a recording, redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordingPart {
    pub(crate) text: String,
    /// Line numbers of the first and last line; both 0 if there is none.
    pub(crate) start_line: u64,
    pub(crate) end_line: u64,
    pub(crate) total_lines: u64,
    pub(crate) total_bytes: u64,
    /// The bytes that it was made from.
    pub(crate) bytes: Range<u64>,
    /// Part of the request is left out: at the start of a tail, otherwise at the end.
    pub(crate) cut: bool,
    /// More displayable text follows. An incomplete sequence or character does not count.
    pub(crate) more: bool,
    /// Why later bytes are missing.
    pub(crate) damage: Option<String>,
}

/// A recording at its length when opened; it may grow meanwhile.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Its name in error messages.
    id: String,
    pub(super) bytes: RecordedBytes,
    index: TimeIndex,
    pub(super) length: u64,
}

/// A part that was read forward.
pub(super) struct Forward {
    pub(super) text: String,
    pub(super) bytes: Range<u64>,
    /// Number of lines that ended in it.
    pub(super) ended: u64,
    /// Part of the request is left out.
    pub(super) cut: bool,
    /// More displayable text follows.
    pub(super) more: bool,
}

impl Reader {
    pub(super) fn new(id: String, bytes: RecordedBytes, times: Option<File>) -> Self {
        let length = bytes.length;
        Self { id, index: TimeIndex::open(times, length, bytes.written), bytes, length }
    }

    /// Reads other output as if it were a recording. Without `times`, only the time of its last
    /// byte is known.
    pub(crate) fn over(
        id: String,
        stretches: Vec<FilePart>,
        written: Timestamp,
        times: Option<File>,
    ) -> io::Result<Self> {
        Ok(Self::new(id, RecordedBytes::joined(stretches, written)?, times))
    }

    pub(crate) fn read(&self, ask: &PartRequest) -> Result<RecordingPart, TerminalError> {
        let ask = PartRequest { room: ask.room.max(LEAST_ROOM), ..*ask };
        self.part(&ask).map_err(|source| self.failed(source))
    }

    /// Copies bytes of the recording unchanged.
    pub(crate) fn copy(&self, bytes: Range<u64>, each: &mut dyn FnMut(&[u8])) -> Result<(), TerminalError> {
        let mut chunk = vec![0; CHUNK];
        let mut at = bytes.start;
        while at < bytes.end {
            let wanted = usize::try_from(bytes.end - at).map_or(CHUNK, |left| left.min(CHUNK));
            match self.bytes.read_at(&mut chunk[..wanted], at).map_err(|source| self.failed(source))? {
                0 => break,
                read => {
                    each(&chunk[..read]);
                    at += read as u64;
                }
            }
        }
        Ok(())
    }

    pub(super) fn failed(&self, source: io::Error) -> TerminalError {
        TerminalError::Read { id: self.id.clone(), source }
    }

    /// A lower bound of where a part begins.
    fn begin(&self, part: PartSelector) -> u64 {
        match part {
            PartSelector::Tail(_) => self.length.saturating_sub(WORK),
            PartSelector::Head(_) | PartSelector::All => 0,
            PartSelector::Since(moment) => self.index.since(moment).saturating_sub(LINE),
            PartSelector::From(offset) => offset.min(self.length),
        }
    }

    fn part(&self, ask: &PartRequest) -> io::Result<RecordingPart> {
        self.will_begin(self.begin(ask.part))?;
        let read = match ask.part {
            PartSelector::Tail(lines) => self.tail(lines, ask)?,
            PartSelector::Head(lines) => self.forward(0, lines, ask)?,
            PartSelector::All => self.forward(0, u64::MAX, ask)?,
            PartSelector::Since(moment) => self.forward(self.since(moment)?, u64::MAX, ask)?,
            PartSelector::From(offset) => self.forward(offset.min(self.length), u64::MAX, ask)?,
        };
        let Forward { text, bytes, cut, more, .. } = read;
        Ok(RecordingPart {
            text: self.shown(&text, &bytes, ask.form)?,
            start_line: if bytes.is_empty() { 0 } else { self.lines(bytes.start)? + 1 },
            end_line: if bytes.is_empty() { 0 } else { self.last_line(bytes.end)? },
            total_lines: self.bytes.lines.map_or_else(|| self.last_line(self.length), Ok)?,
            total_bytes: self.length,
            bytes,
            cut,
            more,
            damage: self.bytes.damage.clone(),
        })
    }

    /// Announces that reading will start at `at`, minus the context needed for redaction.
    pub(super) fn will_begin(&self, at: u64) -> io::Result<()> {
        let begin = self.index.before(at.saturating_sub(BEFORE));
        self.bytes.begin(begin.map_or(0, |entry| entry.offset))
    }

    /// The start of the line in which output since `moment` begins.
    pub(super) fn since(&self, moment: Timestamp) -> io::Result<u64> {
        let since = self.index.since(moment);
        if since < self.length { self.start_of_line(since) } else { Ok(since) }
    }

    /// Redacts the text of these bytes.
    pub(super) fn shown(&self, text: &str, bytes: &Range<u64>, form: TextForm) -> io::Result<String> {
        let before = self.text(self.secret_context_start(bytes.start)?..bytes.start, form)?;
        let after = self.text(bytes.end..self.length.min(bytes.end + AROUND), form)?;
        let columns = self.index.before(bytes.start).map_or(0, |entry| entry.size.columns);
        Ok(match form {
            TextForm::Plain => redact_part(&before, text, &after),
            TextForm::Raw => redact_raw(&before, text, &after, columns),
        })
    }

    /// At most `lines` lines from `from` on.
    pub(super) fn forward(&self, from: u64, lines: u64, ask: &PartRequest) -> io::Result<Forward> {
        let end = self.length.min(from.saturating_add(WORK));
        let (mut text, mut left, mut to, mut seen) = (String::new(), ask.room, from, 0);
        let mut more = end < self.length;
        self.segments(from..end, ask.form, &mut |segment| {
            let json_length = json_length(&segment.text);
            if seen >= lines || (json_length > left && !text.is_empty()) {
                more = true;
                return ControlFlow::Break(());
            }
            text.push_str(first(&segment.text, left));
            left = left.saturating_sub(json_length);
            to = segment.bytes.end;
            seen += u64::from(segment.ends_line);
            ControlFlow::Continue(())
        })?;
        // Megabytes of one sequence: skip them.
        if to == from && end < self.length {
            to = end;
        }
        Ok(Forward { text, bytes: from..to, ended: seen, cut: more && seen < lines, more })
    }

    /// The last `lines` lines, as far as they fit.
    fn tail(&self, lines: u64, ask: &PartRequest) -> io::Result<Forward> {
        if lines == 0 {
            let bytes = self.length..self.length;
            return Ok(Forward { text: String::new(), bytes, ended: 0, cut: false, more: false });
        }
        let from = self.start_of_last(lines, self.length.saturating_sub(WORK))?;
        let mut kept: VecDeque<(Segment, usize)> = VecDeque::new();
        let (mut used, mut ended) = (0, 0);
        let shown = |ended: u64, kept: &VecDeque<(Segment, usize)>| {
            ended + u64::from(kept.back().is_some_and(|(last, _)| !last.ends_line))
        };
        self.segments(from..self.length, ask.form, &mut |segment| {
            let json_length = json_length(&segment.text);
            used += json_length;
            ended += u64::from(segment.ends_line);
            kept.push_back((segment, json_length));
            while kept.len() > 1 && (used > ask.room || shown(ended, &kept) > lines) {
                let Some((gone, json_length)) = kept.pop_front() else { break };
                used -= json_length;
                ended -= u64::from(gone.ends_line);
            }
            ControlFlow::Continue(())
        })?;
        let bytes = match (kept.front(), kept.back()) {
            (Some((first, _)), Some((last, _))) => first.bytes.start..last.bytes.end,
            _ => from..from,
        };
        let text: String = kept.iter().map(|(segment, _)| segment.text.as_str()).collect();
        // An incomplete line counts too.
        let begun = kept.back().is_none_or(|(last, _)| last.ends_line) && bytes.end < self.length;
        // Fewer lines than requested, because they do not fit or start too far back.
        let cut = bytes.start > 0 && shown(ended, &kept) + u64::from(begun) < lines;
        Ok(Forward { text: first(&text, ask.room).to_owned(), bytes, ended, cut, more: false })
    }

    /// Calls `each` with the text of `bytes`, segment by segment, until told to stop.
    pub(super) fn segments(
        &self,
        bytes: Range<u64>,
        form: TextForm,
        each: &mut dyn FnMut(Segment) -> ControlFlow<()>,
    ) -> io::Result<()> {
        let mut cutter = SegmentSplitter::new(form, bytes.start);
        let mut chunk = vec![0; CHUNK];
        let mut at = bytes.start;
        while at < bytes.end {
            let wanted = usize::try_from(bytes.end - at).map_or(CHUNK, |left| left.min(CHUNK));
            let read = self.bytes.read_at(&mut chunk[..wanted], at)?;
            if read == 0 {
                break;
            }
            if let Some(entry) = self.index.before(at) {
                cutter.set_width(entry.size.columns);
            }
            if cutter.feed(&chunk[..read], each).is_break() {
                return Ok(());
            }
            at += read as u64;
        }
        if let Some(rest) = cutter.finish() {
            let _ = each(rest);
        }
        Ok(())
    }

    /// Where the context begins that decides what is a secret after `offset`: far back only if a
    /// private key is mentioned.
    fn secret_context_start(&self, offset: u64) -> io::Result<u64> {
        let far = offset.saturating_sub(BEFORE);
        let mut bytes = vec![0; usize::try_from(offset - far).unwrap_or(0)];
        self.bytes.read_exact_at(&mut bytes, far)?;
        // Each word alone, because a colour sequence may stand between them.
        let named = [&b"PRIVATE"[..], b"KEY"].iter().any(|word| memchr::memmem::find(&bytes, word).is_some());
        Ok(if named { far } else { offset.saturating_sub(AROUND) })
    }

    /// The whole text of a small range.
    fn text(&self, bytes: Range<u64>, form: TextForm) -> io::Result<String> {
        let mut text = String::new();
        self.segments(bytes, form, &mut |segment| {
            text.push_str(&segment.text);
            ControlFlow::Continue(())
        })?;
        Ok(text)
    }

    /// Searches backwards for the start of the last `lines` lines, down to `stop`.
    pub(super) fn start_of_last(&self, lines: u64, stop: u64) -> io::Result<u64> {
        // A line feed at the very end ends the last line.
        let mut found = 0;
        self.backwards(self.length, stop, |at| {
            if at + 1 < self.length {
                found += 1;
            }
            found >= lines
        })
    }

    fn start_of_line(&self, offset: u64) -> io::Result<u64> {
        self.backwards(offset, offset.saturating_sub(LINE), |_| true)
    }

    /// Searches backwards for a `wanted` line feed. Returns the position after it, or `stop` if
    /// there is none.
    fn backwards(&self, from: u64, stop: u64, mut wanted: impl FnMut(u64) -> bool) -> io::Result<u64> {
        let mut end = from;
        let mut chunk = vec![0; CHUNK];
        while end > stop {
            let start = end.saturating_sub(CHUNK as u64).max(stop);
            let part = &mut chunk[..usize::try_from(end - start).unwrap_or(CHUNK)];
            self.bytes.read_exact_at(part, start)?;
            for at in memchr::memrchr_iter(b'\n', part) {
                if wanted(start + at as u64) {
                    return Ok(start + at as u64 + 1);
                }
            }
            end = start;
        }
        Ok(stop)
    }

    /// The number of line feeds before `offset`.
    fn lines(&self, offset: u64) -> io::Result<u64> {
        let (mut at, mut lines) =
            self.index.before(offset).map_or((0, 0), |entry| (entry.offset, entry.lines));
        let mut chunk = vec![0; CHUNK];
        while at < offset {
            let wanted = usize::try_from(offset - at).map_or(CHUNK, |left| left.min(CHUNK));
            let read = self.bytes.read_at(&mut chunk[..wanted], at)?;
            if read == 0 {
                break;
            }
            lines += memchr::memchr_iter(b'\n', &chunk[..read]).count() as u64;
            at += read as u64;
        }
        Ok(lines)
    }

    /// The number of the line that ends at `end`.
    fn last_line(&self, end: u64) -> io::Result<u64> {
        let mut last = [0];
        match end.checked_sub(1) {
            None => Ok(0),
            Some(at) => {
                self.bytes.read_exact_at(&mut last, at)?;
                Ok(self.lines(end)? + u64::from(last != *b"\n"))
            }
        }
    }
}

/// The length of a text as escaped in JSON.
fn json_length(text: &str) -> usize {
    text.chars().map(written).sum()
}

fn written(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => 1,
    }
}

/// The beginning of a text that fits into `room`.
fn first(text: &str, room: usize) -> &str {
    let mut left = room;
    let end = text.char_indices().find(|(_, character)| {
        let json_length = written(*character);
        let fits = json_length <= left;
        left = left.saturating_sub(json_length);
        !fits
    });
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
#[path = "../../tests/terminal/read_tests.rs"]
mod tests;
