//! A value that a path leads to, as it may be shown: whole, or where it is too
//! long, a part of it and where the next one begins.
//!
//! Of a long value no more is held than a part and what stands around it. Parts
//! are judged with that in view, so that those that adjoin make up the value.

use std::io;

use memchr::{memrchr, memrchr3};

use crate::inspect::line_pieces::{Lines, floor, shown_part, shown_parts};
use crate::redact;
use crate::text::plain;

/// Places inside of a value are counted from every so many of its bytes.
const PART: u64 = 64 << 10;
/// What is looked at before a part: more than the longest private key.
const BEFORE: u64 = 64 << 10;
/// No part is shown as so many characters.
const SPAN: u64 = 1 << 20;
/// A character takes no more bytes.
const LONGEST_CHARACTER: usize = 4;
/// What stands before a value in its line, as far as it tells what the value is.
const CONTEXT: u64 = 1 << 10;
/// How a value begins, as far as that is kept.
const HEAD: usize = 1 << 10;
/// Of an unbroken run that began before what is kept: so much of its beginning,
/// and so much of what stands before it, tell what it is.
const RUN_HEAD: usize = 256;
const BEFORE_RUN: usize = 256;

/// How far a value was shown: up to one of its parts, and so many characters of
/// what is shown of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Within {
    part: u64,
    characters: usize,
}

impl Within {
    /// As a cursor has it.
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

    /// The byte of the value that the part begins with, or one inside of its
    /// first character.
    fn start(self) -> u64 {
        self.part.saturating_mul(PART)
    }

    /// So many bytes from the start on are as many characters as there is room
    /// for, and tell where a secret is cut in two. Where nothing of them is shown
    /// they reach into another part, to go on from.
    pub(super) fn longest(self, room: usize) -> usize {
        let shown = (self.characters + room) * LONGEST_CHARACTER;
        shown.max(2 * PART as usize) + redact::MARGIN
    }
}

/// A value that was selected.
#[derive(Debug)]
pub(super) struct Selected {
    /// As a member, which may tell what it is.
    pub(super) name: Option<String>,
    head: Vec<u8>,
    /// How the run begins that `from` is inside of.
    run: Run,
    /// From `from` on.
    text: Vec<u8>,
    from: u64,
    within: Within,
    /// Of the whole, white space left out.
    pub(super) length: u64,
    /// Within its document.
    pub(super) line: u64,
    pub(super) start: u64,
}

impl Selected {
    /// One that begins there, and is wanted from some place inside of it on.
    pub(super) fn new(name: Option<String>, line: u64, start: u64, within: Within) -> Self {
        let from = within.start().saturating_sub(BEFORE);
        let (head, run, text) = (Vec::new(), Run::default(), Vec::new());
        Self { name, head, run, text, from, within, length: 0, line, start }
    }

    /// Bytes of it that are kept and not before the place that is wanted.
    pub(super) fn kept(&self) -> usize {
        let end = self.from.saturating_add(self.text.len() as u64);
        usize::try_from(end.saturating_sub(self.within.start())).unwrap_or(usize::MAX)
    }

    /// Takes its next bytes, and keeps as many as there is room for from the
    /// place that is wanted on. Says how many that are.
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

    /// Where in what is kept a byte is, or the character that it is inside of.
    fn place(&self, byte: u64) -> usize {
        let at = usize::try_from(byte.saturating_sub(self.from)).unwrap_or(usize::MAX);
        floor(&self.text, at.min(self.text.len()))
    }

    /// Where in what is kept that begins which is wanted.
    fn begin(&self) -> usize {
        self.place(self.within.start())
    }

    /// Where it ends. What is beyond is not shown, but tells what is before it.
    fn end(&self) -> usize {
        let beyond = if self.is_whole() { 0 } else { redact::MARGIN };
        floor(&self.text, self.text.len().saturating_sub(beyond)).max(self.begin())
    }

    /// What is kept as it may be shown, taken apart at these places, each part
    /// with all the others in view.
    fn parts(&self, before: &[u8], places: &[usize]) -> Vec<String> {
        let parts = shown_parts(before, &self.text, places);
        let name = self.name.as_ref().map(|name| format!("\"{name}\":")).unwrap_or_default();
        // Where its beginning is not among what is kept, its name tells of the rest.
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

    /// The place after so many characters of what is shown of it, counted from
    /// one of its last parts.
    pub(super) fn after(&self, shown: &Shown, characters: usize) -> Within {
        let is_all = characters >= shown.text.chars().count();
        let last = (self.from + self.end() as u64) / PART;
        let mut here = Within { characters, ..self.within };
        loop {
            // So many bytes are no more characters, but where a mark stands for a
            // secret that is shorter.
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

/// An unbroken run of bytes that goes by, as far as its beginning tells what it is.
#[derive(Debug, Default)]
struct Run {
    before: Vec<u8>,
    head: Vec<u8>,
    /// Something of the value comes before all that.
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

/// What may be shown of a value from the place on that is wanted.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// It goes to the end of the value.
    pub(super) is_whole: bool,
    /// What stands before the value.
    before: Vec<u8>,
}

impl Shown {
    fn hidden() -> Self {
        Self { text: format!("\"{}\"", redact::key_mark()), is_whole: true, before: Vec::new() }
    }
}

/// Judges a value of a document that starts at `document` by its name, by what
/// stands before it in its line, and by whether it is inside of a private key
/// that began before it.
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
    // One that stands in its own line may be of a key that only ends.
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
