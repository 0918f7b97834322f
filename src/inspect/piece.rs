//! A file as lines, and long lines as parts of them.
//!
//! A *piece* is what is shown as one: a line, or a part of one that is too
//! long to be held. Parts are redacted with what stands around them in view,
//! so that those that adjoin make up the redacted line.

use std::io;

use memchr::{memchr, memrchr};

use super::keys::Keys;
use super::view::View;
use crate::progress::plain;
use crate::redact;

/// A longer line is shown in parts.
pub(super) const LONGEST_LINE: u64 = 256 << 10;
const PART: u64 = 64 << 10;
/// What is looked at around a part: more than the longest private key.
const MARGIN: u64 = 64 << 10;
const FIRST_LOOK: u64 = 4 << 10;

pub(super) struct Lines {
    pub(super) view: View,
    pub(super) keys: Keys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    /// Without the line break.
    pub(super) end: u64,
    /// Where the next piece starts.
    pub(super) next: u64,
    /// Whether the line begins with it, and ends with it.
    pub(super) begins: bool,
    pub(super) ends: bool,
}

impl Lines {
    pub(super) fn new(view: View) -> Self {
        Self { view, keys: Keys::default() }
    }

    /// The piece that starts at a position; nothing at the end.
    pub(super) fn piece_at(&mut self, start: u64) -> io::Result<Option<Piece>> {
        let before = start.min(1);
        let (mut looked, mut look) = (0, FIRST_LOOK);
        loop {
            let bytes = self.view.read(start - before, start.saturating_add(look))?;
            let Some((first, bytes)) = bytes.split_at_checked(before as usize) else { return Ok(None) };
            if bytes.is_empty() {
                return Ok(None);
            }
            let begins = matches!(first, [] | [b'\n']);
            let piece = |length: usize, gap: u64, ends| {
                let end = start + length as u64;
                Some(Piece { start, end, next: end + gap, begins, ends })
            };
            if let Some(at) = memchr(b'\n', &bytes[looked..]) {
                return Ok(piece(looked + at, 1, true));
            }
            looked = bytes.len();
            if (looked as u64) < look {
                return Ok(piece(looked, 0, true));
            }
            if look == LONGEST_LINE {
                return Ok(piece(floor(bytes, PART as usize), 0, false));
            }
            look = (look * 4).min(LONGEST_LINE);
        }
    }

    /// The piece that a piece at `end` would follow; nothing at the beginning.
    pub(super) fn piece_before(&mut self, end: u64) -> io::Result<Option<Piece>> {
        if end == 0 {
            return Ok(None);
        }
        let is_last = self.view.known_end() == Some(end);
        let mut look = FIRST_LOOK;
        loop {
            let from = end.saturating_sub(look + 1);
            let bytes = self.view.read(from, end)?;
            // The file was cut short meanwhile.
            if (bytes.len() as u64) < end - from {
                return Ok(None);
            }
            let (line, ends) = match bytes {
                [line @ .., b'\n'] => (line, true),
                line => (line, false),
            };
            let stop = from + line.len() as u64;
            let ends = ends || is_last;
            let piece = |start, begins| Some(Piece { start, end: stop, next: end, begins, ends });
            if let Some(at) = memrchr(b'\n', line) {
                return Ok(piece(from + at as u64 + 1, true));
            }
            if from == 0 {
                return Ok(piece(0, true));
            }
            if look == LONGEST_LINE {
                let part = floor(line, line.len().saturating_sub(PART as usize));
                return Ok(piece(from + part as u64, false));
            }
            look = (look * 4).min(LONGEST_LINE);
        }
    }

    /// The same position where a line starts there, or where the next one does.
    pub(super) fn line_from(&mut self, at: u64) -> io::Result<u64> {
        let mut at = at;
        if at == 0 || matches!(self.view.read(at - 1, at)?, [] | [b'\n']) {
            return Ok(at);
        }
        loop {
            let bytes = self.view.read(at, at.saturating_add(LONGEST_LINE))?;
            match memchr(b'\n', bytes) {
                Some(end) => return Ok(at + end as u64 + 1),
                None if bytes.is_empty() => return Ok(at),
                None => at += bytes.len() as u64,
            }
        }
    }

    /// The same position, or the start of the character that it is inside of.
    pub(super) fn character(&mut self, at: u64) -> io::Result<u64> {
        let from = at.saturating_sub(3);
        let bytes = self.view.read(from, at.saturating_add(1))?;
        Ok(match usize::try_from(at - from) {
            Ok(inside) if inside < bytes.len() => from + floor(bytes, inside) as u64,
            _ => at,
        })
    }

    /// A piece as it may be shown.
    pub(super) fn shown(&mut self, piece: &Piece) -> io::Result<String> {
        let from = if piece.begins { piece.start } else { piece.start.saturating_sub(MARGIN) };
        let upto = if piece.ends { piece.end } else { piece.end + MARGIN };
        let bytes = self.view.read(from, upto)?;
        let start = bytes.len().min((piece.start - from) as usize);
        let end = bytes.len().min((piece.end - from) as usize);
        let (before, part, after) = (&bytes[..start], &bytes[start..end], &bytes[end..]);
        // Of the same line alone.
        let line = memrchr(b'\n', before).map(|at| at + 1).or((from == 0 || piece.begins).then_some(0));
        let before = &before[line.unwrap_or(floor(before, 3.min(before.len())))..];
        let after = &after[..memchr(b'\n', after).unwrap_or(after.len())];
        let text = shown_part(before, part, after);
        // Too little of a line to tell, if a cursor into it was made up.
        let is_part = !before.is_empty() || !after.is_empty();
        let of_key = redact::may_be_key_line(&text)
            || is_part && redact::may_be_key_line(&String::from_utf8_lossy(&[before, part, after].concat()));
        if let Some(line) = line
            && of_key
            && self.keys.inside(&mut self.view, from + line as u64)?
        {
            return Ok(redact::key_mark());
        }
        Ok(text)
    }
}

/// A part of a line, with what stands around it in view.
pub(super) fn shown_part(before: &[u8], part: &[u8], after: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(before).into_owned();
    if text.is_empty() && after.is_empty() {
        let text = plain::text(&String::from_utf8_lossy(part));
        return redact::text(&one_line(text)).into_owned();
    }
    // What may be shown is decided from left to right: more text changes nothing before it.
    let start = plain::text(&text).len();
    text += &String::from_utf8_lossy(part);
    let end = plain::text(&text).len();
    text += &String::from_utf8_lossy(after);
    redact::part(&one_line(plain::text(&text)), start..end)
}

/// Unicode knows other line breaks, which are shown as ones; here a line is a
/// line.
fn one_line(text: String) -> String {
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

/// The position itself, or the start of the character that it is inside of,
/// where there is one.
pub(super) fn floor(bytes: &[u8], at: usize) -> usize {
    if !bytes.get(at).is_some_and(|byte| is_inner(*byte)) {
        return at;
    }
    let lead = (1..=3).filter_map(|back| at.checked_sub(back)).find(|at| !is_inner(bytes[*at]));
    // Bytes that are no character are cut anywhere.
    lead.filter(|lead| bytes[*lead] >= 0xc0).unwrap_or(at)
}

/// Whether a byte can only be the second or a later one of a character.
fn is_inner(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}
