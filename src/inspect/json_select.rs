//! Selects the values that a path leads to, one per line, from a document or from each line of a file of
//! documents.
//!
//! Values are copied while the document is read, as far as they can be shown. A longer one ends in `…`, and
//! the cursor continues inside it.

use std::io;

use memchr::memchr;

use crate::inspect::cursor::{Cursor, Way};
use crate::inspect::json_path::{JsonPath, Place, Taken};
use crate::inspect::json_scanner::{At, Kind, NotJson, Reader, Scanner, unescaped};
use crate::inspect::json_value::{Selected, Shown, Within, shown};
use crate::inspect::line_pieces::Lines;
use crate::inspect::page::{MARK, byte_of};
use crate::inspect::{ContentType, Found, PartialLine};

const CHUNK: u64 = 256 << 10;
const LEAST_ROOM: usize = 16;

/// How a file is read, and how much of the values fits.
pub(super) struct Asked<'a> {
    pub(super) path: &'a JsonPath,
    pub(super) most: usize,
    pub(super) room: usize,
    pub(super) content_type: ContentType,
}

/// Selects from the cursor until there is enough.
pub(super) fn select(lines: &mut Lines, cursor: Cursor, asked: &Asked) -> io::Result<Found> {
    let mut page =
        Page { found: Found::default(), left: asked.room.max(LEAST_ROOM), most: asked.most.max(1) };
    // A file that is not one document may still have documents in its lines.
    let is_lines = asked.content_type != ContentType::Json;
    // A cursor may be invented, but a part of a document would lack the names that mark secrets.
    let offset = if is_lines { lines.line_from(cursor.offset)? } else { 0 };
    let mut here = Cursor { offset, ..cursor };
    let mut spoiled = Spoiled::default();
    while let Some(next) = document(lines, here, is_lines, asked, &mut page, &mut spoiled)? {
        here = next;
        if page.found.next.is_some() {
            break;
        }
    }
    let mut found = page.found;
    if is_lines {
        found.warning = spoiled.warning();
    }
    found.start_line = found.value_lines.first().copied();
    found.end_line = found.value_lines.last().copied();
    found.match_count = found.value_lines.len() as u64;
    Ok(found)
}

/// Reads one document and returns where the next starts.
fn document(
    lines: &mut Lines,
    here: Cursor,
    is_line: bool,
    asked: &Asked,
    page: &mut Page,
    spoiled: &mut Spoiled,
) -> io::Result<Option<Cursor>> {
    let line = here.line.unwrap_or(1);
    let mut scanner = Scanner::new();
    let longest = here.within.longest(page.left);
    let mut copies = Copies::new(asked.path, here.skip, longest, asked.most.saturating_add(1));
    copies.within = here.within;
    let (mut at, mut broken, mut empty, mut begun) = (here.offset, None, true, false);
    let next = loop {
        let bytes = lines.view.read(at, at.saturating_add(CHUNK))?;
        if bytes.is_empty() {
            break None;
        }
        begun = true;
        let end = if is_line { memchr(b'\n', bytes) } else { None };
        let part = &bytes[..end.unwrap_or(bytes.len())];
        empty &= part.trim_ascii().is_empty();
        let part = if at == 0 { part.strip_prefix("\u{feff}".as_bytes()).unwrap_or(part) } else { part };
        if broken.is_none() && copies.wants_more() {
            broken = scanner.feed(part, &mut copies).err();
        }
        if !is_line && (broken.is_some() || !copies.wants_more()) {
            break None;
        }
        at += bytes.len() as u64;
        if let Some(end) = end {
            break Some(at - (bytes.len() - end - 1) as u64);
        }
    };
    if !begun {
        return Ok(None);
    }
    let is_cut_off = !copies.wants_more();
    if broken.is_none() && !is_cut_off {
        broken = scanner.finish(&mut copies).err();
    }
    // An invalid number cannot be shown.
    copies.done.pop_if(|last| last.length == 0);
    if let Some(why) = broken.filter(|_| !empty) {
        match copies.done.is_empty() {
            true => spoiled.left_out += 1,
            false => spoiled.in_part += 1,
        }
        if !is_line {
            page.found.warning = Some(reason(why));
        }
    }
    let next = next.map(|offset| Cursor::new(Way::Select, offset, Some(line.saturating_add(1))));
    let (mut taken, mut within) = (0, Within::default());
    for copy in &copies.done {
        let shown = if page.is_full() { None } else { Some(shown(lines, here.offset, copy)?) };
        match shown.map(|shown| page.take(copy, &shown, here.within, line)) {
            Some(Fit::Whole) => taken += 1,
            Some(Fit::Upto(place)) => {
                within = place;
                break;
            }
            Some(Fit::None) | None => break,
        }
    }
    if taken < copies.done.len() || is_cut_off {
        let skip = here.skip.saturating_add(taken);
        page.found.next = Some(Cursor { way: Way::Select, skip, within, ..here });
    }
    Ok(next)
}

/// Lines that are not documents.
#[derive(Debug, Default)]
struct Spoiled {
    left_out: u64,
    /// Lines that have values nevertheless.
    in_part: u64,
}

impl Spoiled {
    fn warning(&self) -> Option<String> {
        let of = |number: u64, what: &str| {
            let are = if number == 1 { "line is not JSON and was" } else { "lines are not JSON and were" };
            (number > 0).then(|| format!("{number} {are} {what}"))
        };
        let told = [of(self.left_out, "skipped"), of(self.in_part, "read up to the error")];
        let told: Vec<String> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

fn reason(why: NotJson) -> String {
    format!("only a part could be read as JSON: {why}")
}

/// How much of a value fit into a page.
enum Fit {
    /// Up to its end.
    Whole,
    /// A part of it.
    Upto(Within),
    None,
}

struct Page {
    found: Found,
    left: usize,
    most: usize,
}

impl Page {
    fn is_full(&self) -> bool {
        self.found.value_lines.len() >= self.most
    }

    /// Adds a value, or what is left of it after `within`. Only the first may be partial.
    fn take(&mut self, copy: &Selected, shown: &Shown, within: Within, line: u64) -> Fit {
        let is_first = self.found.value_lines.is_empty();
        let within = if is_first { within } else { Within::default() };
        let rest = &shown.text[byte_of(&shown.text, within.characters())..];
        let begins_before = !within.is_beginning();
        let (length, marks) = (rest.chars().count(), usize::from(begins_before));
        let fits = shown.is_whole && length + if is_first { marks } else { 1 } <= self.left;
        if !is_first && !fits {
            self.found.cut = true;
            return Fit::None;
        }
        let content = &mut self.found.content;
        if !is_first {
            content.push('\n');
        } else if begins_before {
            content.push(MARK);
        }
        self.found.value_lines.push(line.saturating_add(copy.line));
        if is_first && (begins_before || !fits) {
            let part = PartialLine { begins_before, goes_on: !fits, bytes: Some(copy.length) };
            self.found.partial_line = Some(part);
        }
        if fits {
            content.push_str(rest);
            self.left -= length + if is_first { marks } else { 1 };
            return Fit::Whole;
        }
        let room = length.min(self.left - marks - 1);
        content.push_str(&rest[..byte_of(rest, room)]);
        content.push(MARK);
        self.found.cut = true;
        self.left = 0;
        Fit::Upto(copy.after(shown, within.characters() + room))
    }
}

/// Follows a path through a document and copies the values it leads to.
struct Copies<'a> {
    path: &'a JsonPath,
    /// The open values, from the outermost in.
    open: Vec<Level>,
    name: String,
    /// Values that were already shown, and how many there are.
    skip: usize,
    most: usize,
    /// Where the first value continues.
    within: Within,
    /// How many bytes to keep of the first value and of all others together, and how many were kept so far.
    longest: usize,
    others: usize,
    done: Vec<Selected>,
    /// Those of `done` that continue.
    going: Vec<usize>,
}

struct Level {
    kind: Kind,
    taken: Taken,
    /// The number of the next element.
    next: u64,
    copied: bool,
}

impl<'a> Copies<'a> {
    fn new(path: &'a JsonPath, skip: usize, longest: usize, most: usize) -> Self {
        let (open, done, going) = (Vec::new(), Vec::new(), Vec::new());
        let (name, within) = (String::new(), Within::default());
        Self { path, open, name, skip, most, within, longest, others: 0, done, going }
    }

    /// Whether another value is wanted.
    fn has_room(&self) -> bool {
        let first = self.done.first().map_or(0, Selected::kept);
        self.done.len() < self.most && first + self.others < self.longest
    }
}

impl Reader for Copies<'_> {
    fn name(&mut self, name: &[u8]) {
        // Most values are on no path, so their names do not matter.
        self.name.clear();
        if self.open.last().is_some_and(|level| !level.taken.is_nowhere()) {
            self.name = unescaped(name);
        }
    }

    fn begin(&mut self, kind: Kind, at: At) {
        let (taken, name) = match self.open.last_mut() {
            None => (self.path.start(), None),
            Some(level) if level.kind == Kind::Array => {
                level.next += 1;
                (self.path.step(level.taken, Place::Element(level.next - 1)), None)
            }
            Some(level) => (self.path.step(level.taken, Place::Member(&self.name)), Some(self.name.clone())),
        };
        let mut copied = self.path.is_end(taken);
        if copied && self.skip > 0 {
            self.skip -= 1;
            copied = false;
        }
        // There may be many more values inside a copied one than are wanted.
        copied &= self.has_room();
        if copied {
            self.going.push(self.done.len());
            let within = if self.done.is_empty() { self.within } else { Within::default() };
            self.done.push(Selected::new(name, at.line, at.byte, within));
        }
        self.open.push(Level { kind, taken, next: 0, copied });
    }

    fn end(&mut self) {
        if self.open.pop().is_some_and(|level| level.copied) {
            self.going.pop();
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for at in &self.going {
            let copy = &mut self.done[*at];
            // The other values are shown only if they fit as a whole.
            let taken = if *at == 0 { copy.kept() } else { self.others };
            let kept = copy.push(bytes, self.longest.saturating_sub(taken));
            if *at > 0 {
                self.others += kept;
            }
        }
    }

    /// Until there are enough and all of them have ended.
    fn wants_more(&self) -> bool {
        self.has_room() || !self.going.is_empty()
    }
}

#[cfg(test)]
#[path = "../../tests/inspect/json_select_tests.rs"]
mod tests;
