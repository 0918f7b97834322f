//! A selected value as it may be shown: whole, or if it is too long, a part of it and where the next part
//! begins.
//!
//! Only a part of a long value and its surroundings are kept in memory. Parts are redacted with their
//! surroundings in view, so that adjacent parts make up the value.

use std::io;

use memchr::{memrchr, memrchr3};

use crate::inspect::line_pieces::{Lines, floor, shown_part, shown_parts};
use crate::redact;
use crate::text::plain;

/// Positions inside a value are counted from multiples of this many bytes.
const PART: u64 = 64 << 10;
/// How much is examined before a part: more than the longest private key.
const BEFORE: u64 = 64 << 10;
/// No part is shown as more characters.
const SPAN: u64 = 1 << 20;
/// The maximum number of bytes of a character.
const LONGEST_CHARACTER: usize = 4;
/// The text before a value in its line, as far as it identifies the value.
const CONTEXT: u64 = 1 << 10;
/// The beginning of a value, as far as it is kept.
const HEAD: usize = 1 << 10;
/// For an unbroken run that began before what is kept: this much of its beginning, and of the text before it,
/// identify it.
const RUN_HEAD: usize = 256;
const BEFORE_RUN: usize = 256;

/// How much of a value was shown: up to one of its parts, and this many characters of that part's shown form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Within {
    part: u64,
    characters: usize,
}

impl Within {
    /// As written in a cursor.
    pub(super) fn of(number: u64) -> Self {
        Self { part: number / SPAN, characters: (number % SPAN) as usize }
    }

    pub(super) fn number(self) -> u64 {
        self.part.saturating_mul(SPAN).saturating_add((self.characters as u64).min(SPAN - 1))
    }

    pub(super) fn characters(self) -> usize {
        self.characters
    }

    pub(super) fn is_beginning(self) -> bool {
        self == Self::default()
    }

    /// The first byte of the part within the value, or one inside its first character.
    fn start(self) -> u64 {
        self.part.saturating_mul(PART)
    }

    /// This many bytes from the start have as many characters as there is space for, and show where a secret
    /// is cut in two. If nothing of them is shown, they reach into another part, from which to continue.
    pub(super) fn longest(self, room: usize) -> usize {
        let shown = (self.characters + room) * LONGEST_CHARACTER;
        shown.max(2 * PART as usize) + redact::MARGIN
    }
}

/// A selected value.
#[derive(Debug)]
pub(super) struct Selected {
    /// The member's name, which may identify it.
    pub(super) name: Option<String>,
    head: Vec<u8>,
    /// The beginning of the run that `from` is inside.
    run: Run,
    /// The bytes from `from` on.
    text: Vec<u8>,
    from: u64,
    within: Within,
    /// The length of the whole value, without white space.
    pub(super) length: u64,
    /// Its position in the document.
    pub(super) line: u64,
    pub(super) start: u64,
}

impl Selected {
    /// A value that begins there and is wanted from some position on.
    pub(super) fn new(name: Option<String>, line: u64, start: u64, within: Within) -> Self {
        let from = within.start().saturating_sub(BEFORE);
        let (head, run, text) = (Vec::new(), Run::default(), Vec::new());
        Self { name, head, run, text, from, within, length: 0, line, start }
    }

    /// How many kept bytes are at or after the wanted position.
    pub(super) fn kept(&self) -> usize {
        let end = self.from.saturating_add(self.text.len() as u64);
        usize::try_from(end.saturating_sub(self.within.start())).unwrap_or(usize::MAX)
    }

    /// Takes the next bytes, and keeps as many as fit from the wanted position on. Returns how many of those
    /// it kept.
    pub(super) fn push(&mut self, bytes: &[u8], room: usize) -> usize {
        self.head.extend_from_slice(&bytes[..bytes.len().min(HEAD - self.head.len())]);
        let begin = self.length;
        self.length += bytes.len() as u64;
        let inside =
            |at: u64| usize::try_from(at.saturating_sub(begin)).map_or(bytes.len(), |at| at.min(bytes.len()));
        self.run.pass(&bytes[..inside(self.from)]);
        let wanted = self.within.start().max(begin);
        let kept = &bytes[inside(self.from)..inside(wanted.saturating_add(room as u64))];
        self.text.extend_from_slice(kept);
        kept.len()
    }

    /// Whether it is kept to its end.
    fn is_whole(&self) -> bool {
        self.from.saturating_add(self.text.len() as u64) >= self.length
    }

    /// The index in the kept bytes of a byte, or of its character.
    fn place(&self, byte: u64) -> usize {
        let at = usize::try_from(byte.saturating_sub(self.from)).unwrap_or(usize::MAX);
        floor(&self.text, at.min(self.text.len()))
    }

    /// The index in the kept bytes at which the wanted part begins.
    fn begin(&self) -> usize {
        self.place(self.within.start())
    }

    /// The index at which it ends. Later bytes are not shown, but identify earlier ones.
    fn end(&self) -> usize {
        let beyond = if self.is_whole() { 0 } else { redact::MARGIN };
        floor(&self.text, self.text.len().saturating_sub(beyond)).max(self.begin())
    }

    /// The kept bytes as they may be shown, split at these indices, each part with all the others in view.
    fn parts(&self, before: &[u8], places: &[usize]) -> Vec<String> {
        let parts = shown_parts(before, &self.text, places);
        let name = self.name.as_ref().map(|name| format!("\"{name}\":")).unwrap_or_default();
        // If its beginning is not kept, its name identifies the rest.
        let lead = if self.run.is_cut && self.head.starts_with(b"\"") { "\"" } else { "" };
        let mut whole = plain::line_of_text(&name) + lead + &self.run.shown();
        let mut ends = vec![whole.len()];
        for part in &parts {
            whole.push_str(part);
            ends.push(whole.len());
        }
        let shown = redact::placed(&whole, &mut ends);
        ends.windows(2).map(|ends| shown[ends[0]..ends[1]].to_owned()).collect()
    }

    /// The position after this many shown characters, counted from one of its last parts.
    pub(super) fn after(&self, shown: &Shown, characters: usize) -> Within {
        let is_all = characters >= shown.text.chars().count();
        let last = (self.from + self.end() as u64) / PART;
        let mut here = Within { characters, ..self.within };
        loop {
            // There are at least as many bytes as characters, except where a mark replaces a shorter secret.
            let parts = if is_all { last.saturating_sub(here.part) } else { here.characters as u64 / PART };
            let next = (1..=parts).rev().find_map(|parts| {
                let next = Within { part: here.part.saturating_add(parts), characters: 0 };
                let places = [here, next].map(|place| self.place(place.start()).min(self.end()));
                let passed = self.parts(&shown.before, &places).swap_remove(1).chars().count();
                here.characters.checked_sub(passed).map(|characters| Within { characters, ..next })
            });
            match next {
                Some(next) => here = next,
                None => return here,
            }
        }
    }
}

/// An unbroken run of bytes, as far as its beginning identifies it.
#[derive(Debug, Default)]
struct Run {
    before: Vec<u8>,
    head: Vec<u8>,
    /// Whether a part of the value precedes all that.
    is_cut: bool,
}

impl Run {
    fn pass(&mut self, bytes: &[u8]) {
        let start = memrchr3(b' ', b'\n', b'"', bytes).map_or(0, |at| at + 1);
        if start > 0 {
            let head = std::mem::take(&mut self.head);
            self.before.extend(head);
            self.before.extend_from_slice(&bytes[start.saturating_sub(BEFORE_RUN)..start]);
            self.is_cut |= self.before.len().max(start) > BEFORE_RUN;
            self.before.drain(..self.before.len().saturating_sub(BEFORE_RUN));
        }
        let room = RUN_HEAD - self.head.len();
        self.head.extend(bytes[start..].iter().take(room));
    }

    fn shown(&self) -> String {
        let text = [&self.before[..], &self.head].concat();
        plain::line_of_text(&String::from_utf8_lossy(&text))
    }
}

/// The shown form of a value from the wanted position on.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Whether it reaches the end of the value.
    pub(super) is_whole: bool,
    /// The text before the value.
    before: Vec<u8>,
}

impl Shown {
    fn hidden() -> Self {
        Self { text: format!("\"{}\"", redact::key_mark()), is_whole: true, before: Vec::new() }
    }
}

/// Judges a value of the document that starts at `document` by its name, by the text before it in its line,
/// and by whether it is inside a private key that began earlier.
pub(super) fn shown(lines: &mut Lines, document: u64, copy: &Selected) -> io::Result<Shown> {
    let start = document.saturating_add(copy.start);
    let before = lines.view.read(start.saturating_sub(CONTEXT), start)?;
    let before = &before[memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    let (first, rest) = copy.head.split_at(copy.head.len().min(1));
    if shown_part(before, first, rest).is_empty() {
        return Ok(Shown::hidden());
    }
    let line = start - before.len() as u64;
    let before = if copy.from == 0 { before.to_vec() } else { Vec::new() };
    let text = copy.parts(&before, &[copy.begin(), copy.end()]).swap_remove(1);
    let is_string = first == b"\"";
    let inner = if is_string { text.trim_matches('"') } else { text.as_str() };
    // A value on its own line may belong to a key of which only the end is there.
    if matches!(first, b"\"" | b"[" | b"{")
        && redact::may_be_key_line(inner)
        && lines.keys.inside(&mut lines.view, start)?
        || is_string
            && redact::may_be_before_key_end(inner)
            && lines.keys.before_end(&mut lines.view, line)?
    {
        return Ok(Shown::hidden());
    }
    Ok(Shown { text, is_whole: copy.is_whole(), before })
}
