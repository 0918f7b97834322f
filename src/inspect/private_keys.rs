//! Decides whether a line is inside a private key, from the file before and after it: a line read alone shows
//! no more than the whole file does.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::inspect::control_bytes::unlike_shown;
use crate::inspect::file_view::View;
use crate::inspect::line_pieces::unredacted;
use crate::redact::{self, KeyMark};
use crate::text::plain;

/// A key ends after this many bytes, whether its end was seen or not.
const REACH: u64 = 64 << 10;
/// More than the longest marker, of which only a part may have been seen.
const MARKER: u64 = 128;
/// How much of the text after a marker shows whether a key follows.
const FOLLOWS: u64 = 256;
/// A key without its beginning ends within this many bytes, which is more than any key has.
pub(super) const ENDS_WITHIN: u64 = 16 << 10;
/// The last line of a key has another one within this many bytes before it.
const BEFORE_LAST: u64 = 1 << 10;
/// How far to look for its end at once, so that not every line looks again.
pub(super) const LOOKED_AHEAD: u64 = 2 * ENDS_WITHIN;

/// Remembers what was examined, so that reading forward examines no byte twice.
#[derive(Debug, Default)]
pub(super) struct Keys {
    looked: Range<u64>,
    /// Where the last unfinished key began.
    begun: Option<u64>,
    ahead: Ahead,
}

/// What follows.
#[derive(Debug, Default)]
struct Ahead {
    /// The position of the first marker's line, if there is one.
    looked: Range<u64>,
    /// Where the lines of the key that ends with this marker start.
    key: Range<u64>,
}

impl Keys {
    /// Whether the text at `line` is inside a key.
    pub(super) fn inside(&mut self, view: &mut View, line: u64) -> io::Result<bool> {
        let reach = line.saturating_sub(REACH);
        if !(reach..=line).contains(&self.looked.end) || self.looked.start > reach {
            (self.looked, self.begun) = (reach..reach, None);
        }
        let from = self.looked.end.saturating_sub(MARKER).max(self.looked.start);
        let bytes = view.read(from, line.saturating_add(FOLLOWS))?;
        let (before, after) = bytes.split_at(bytes.len().min((line - from) as usize));
        match redact::last_key_mark(&seen(before), &seen(after)) {
            Some(KeyMark::Begins { at }) => self.begun = Some(from + at as u64),
            Some(KeyMark::Ends) => self.begun = None,
            None => {}
        }
        self.looked.end = line;
        Ok(self.begun.is_some_and(|begun| begun >= reach))
    }
    /// Whether the text at `line` belongs to a key that ends after it and whose beginning is missing.
    pub(super) fn before_end(&mut self, view: &mut View, line: u64) -> io::Result<bool> {
        let looked = &self.ahead.looked;
        let is_known = looked.contains(&line)
            && (looked.end == self.ahead.key.end || looked.end >= line.saturating_add(ENDS_WITHIN));
        if !is_known {
            self.look_ahead(view, line)?;
        }
        let key = &self.ahead.key;
        Ok(key.contains(&line) && key.end - line <= ENDS_WITHIN)
    }

    fn look_ahead(&mut self, view: &mut View, line: u64) -> io::Result<()> {
        let looked = &self.ahead.looked;
        let seen = if looked.contains(&line) { looked.end.saturating_sub(MARKER) } else { line };
        let upto = line.saturating_add(LOOKED_AHEAD);
        self.ahead = Ahead { looked: line..upto, key: 0..0 };
        if !names_key(view.read(seen.max(line), upto)?) {
            return Ok(());
        }
        // The last line may be short: the lines before it show that it belongs to a key.
        let before = line.saturating_sub(BEFORE_LAST);
        let bytes = view.read(before, upto)?;
        let whole = if before > 0 { memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1) } else { 0 };
        let (mut at, mut text, mut starts) = (before + whole as u64, String::new(), Vec::new());
        for bytes in bytes[whole..].split_inclusive(|c| *c == b'\n') {
            // Only the first line of the file may be the rest of a key's line, and short.
            if at > 0 {
                text.push('\n');
            }
            let shown = unredacted(bytes);
            starts.push((text.len(), at));
            text += &shown;
            if redact::has_key_marker(&shown) {
                if at >= line {
                    // Only starts of lines are queried.
                    let end = at + 1;
                    let start = redact::first_key_end(&text).and_then(|key| {
                        starts.iter().rev().find(|(place, _)| *place <= key.start).map(|(_, start)| *start)
                    });
                    self.ahead = Ahead { looked: line..end, key: start.unwrap_or(end)..end };
                    break;
                }
                text.clear();
                starts.clear();
            }
            at += bytes.len() as u64;
        }
        Ok(())
    }
}

pub(super) fn names_key(bytes: &[u8]) -> bool {
    redact::has_key_marker_text(bytes) || names_unseen(bytes)
}

/// Whether the marker contains invisible characters, such as colours from a program that was asked for them.
fn names_unseen(bytes: &[u8]) -> bool {
    unlike_shown(bytes).any(|at| redact::has_key_marker_text(&seen(line_around(bytes, at))))
}

fn line_around(bytes: &[u8], at: usize) -> &[u8] {
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |length| at + length);
    &bytes[start..end]
}

/// Bytes without invisible characters. Never longer than the input.
fn seen(bytes: &[u8]) -> Cow<'_, [u8]> {
    if unlike_shown(bytes).next().is_none() {
        return Cow::Borrowed(bytes);
    }
    let lines = bytes.split(|c| *c == b'\n');
    let lines: Vec<String> = lines.map(|line| plain::line_of_text(&String::from_utf8_lossy(line))).collect();
    Cow::Owned(lines.join("\n").into_bytes())
}
