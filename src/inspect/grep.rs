//! The lines that match a pattern, with those around them.
//!
//! A line is found when the pattern matches it as it is shown: redacted, and
//! without what terminals hide. To be as fast as ripgrep, the bytes of the file
//! are searched by its engine first, and only what may be a match is looked at
//! in this way. (So a match across an invisible character that is no escape
//! sequence is not found, though it shows.)

use std::fs::File;
use std::io;
use std::ops::Range;

use memchr::{memchr, memrchr};

use super::ahead::{Verdict, look_ahead};
use super::candidates::{Candidates, ESCAPE};
use super::cursor::{Cursor, Way};
use super::page::{MARK, byte_of};
use super::piece::{LONGEST_LINE, Lines, Piece};
use super::sight::Sight;
use super::{Block, Found, Pattern, count};
use crate::host::line_index::Checkpoint;

/// Searched at once: what the processor's second cache holds.
const CHUNK: u64 = 512 << 10;
/// After so much without enough matches, other processors help with the rest.
const SEARCHED_ALONE: u64 = 8 << 20;
/// A line longer than can be shown at once is searched in windows of this
/// length, of which each shares the overlap with the one before. A match that
/// is longer than the overlap may be missed there, and nowhere else.
const WINDOW: u64 = 256 << 10;
const OVERLAP: u64 = 32 << 10;
/// How far around a match its context is looked for.
const REACH: u64 = 64 << 10;
const LEAST_ROOM: usize = 400;
/// Of the room, at most this part goes to one line.
const SHARE: usize = 4;

pub(super) struct Asked<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) context: usize,
    pub(super) most: usize,
    pub(super) room: usize,
}

/// A line as it was found to match.
struct Hit {
    start: u64,
    /// Where the line ends, without its break, and where the next one starts.
    end: u64,
    next: u64,
    /// The line, or of a long one the window that matched.
    text: String,
    /// The text is not all of the line: there is more before, and after it.
    cut: (bool, bool),
    /// Where in the text the match begins.
    at: usize,
}

/// Searches from the cursor on until there is enough.
pub(super) fn search(lines: &mut Lines, cursor: Cursor, asked: &Asked) -> io::Result<Found> {
    // A cursor may be made up, but the end of a line is none: what is secret
    // about it may be told by its beginning.
    let start = lines.line_from(cursor.offset)?;
    let mut search = Search {
        lines,
        asked,
        candidates: Candidates::new(start),
        counted: Checkpoint { offset: start, breaks: cursor.line.unwrap_or(1).saturating_sub(1) },
        left: asked.room.max(LEAST_ROOM),
        found: Found::default(),
    };
    search.run(start)?;
    let found = search.found;
    let line_of = |block: Option<&Block>| block.map(|block| block.line_number);
    Ok(Found {
        start_line: line_of(found.matches.first()),
        end_line: line_of(found.matches.last()),
        match_count: found.matches.len() as u64,
        ..found
    })
}

struct Search<'a> {
    lines: &'a mut Lines,
    asked: &'a Asked<'a>,
    candidates: Candidates,
    /// Up to where line breaks were counted.
    counted: Checkpoint,
    left: usize,
    found: Found,
}

impl Search<'_> {
    fn run(&mut self, from: u64) -> io::Result<()> {
        let alone = from.saturating_add(SEARCHED_ALONE);
        let mut next = Some(from);
        while let Some(here) = next {
            let is_long = here >= alone && self.asked.pattern.sight == Sight::Text;
            if is_long
                && let Some((file, end)) = self.lines.view.plain_file(here.saturating_add(SEARCHED_ALONE))?
            {
                return self.run_with_others(&file, here..end);
            }
            next = self.chunk(here)?;
        }
        Ok(())
    }

    /// Passes over what others find to be clear.
    fn run_with_others(&mut self, file: &File, bytes: Range<u64>) -> io::Result<()> {
        let mut next = Some(bytes.start);
        look_ahead(file, self.asked.pattern, bytes, |verdicts| {
            while let Some(here) = next
                && let Some(verdict) = verdicts.next()
            {
                match verdict.clear_to {
                    Some(clear_to) if clear_to >= here => {
                        self.count_block(&verdict)?;
                        next = Some(clear_to);
                    }
                    Some(_) => {}
                    None => {
                        while let Some(here) = next.filter(|here| *here < verdict.bytes.end) {
                            next = self.chunk(here)?;
                        }
                    }
                }
            }
            io::Result::Ok(())
        })?;
        while let Some(here) = next {
            next = self.chunk(here)?;
        }
        Ok(())
    }

    fn count_block(&mut self, verdict: &Verdict) -> io::Result<()> {
        if self.counted.offset == verdict.bytes.start {
            let breaks = self.counted.breaks.saturating_add(verdict.breaks);
            self.counted = Checkpoint { offset: verdict.bytes.end, breaks };
            return Ok(());
        }
        self.count_to(verdict.bytes.end)
    }

    /// Searches what comes next, and says where to go on; nowhere at the end.
    fn chunk(&mut self, here: u64) -> io::Result<Option<u64>> {
        let bytes = self.lines.view.read(here, here.saturating_add(CHUNK))?;
        let is_last = (bytes.len() as u64) < CHUNK;
        if bytes.is_empty() {
            let total = count::lines(
                self.counted.breaks,
                self.lines.view.last_byte()?.is_some_and(|last| last != b'\n'),
            );
            self.found.total_lines = Some(total);
            return Ok(None);
        }
        let whole = if is_last { bytes.len() } else { memrchr(b'\n', bytes).map_or(0, |at| at + 1) };
        if whole == 0 {
            return self.long_line(here).map(Some);
        }
        let (candidates, searched) = self.candidates.find(self.asked.pattern, &bytes[..whole])?;
        for candidate in candidates {
            let (start, end) = (here + candidate.start as u64, here + candidate.end as u64);
            if end - start > LONGEST_LINE {
                self.long_line(start)?;
            } else if let Some(hit) = self.judge(start, end)? {
                self.take(hit)?;
            }
            if self.found.next.is_some() {
                return Ok(None);
            }
        }
        let next = here + searched as u64;
        self.count_to(next)?;
        Ok(Some(next))
    }

    fn count_to(&mut self, offset: u64) -> io::Result<()> {
        if offset < self.counted.offset {
            return Ok(());
        }
        let breaks = count::breaks(&mut self.lines.view, self.counted.offset, offset)?;
        self.counted = Checkpoint { offset, breaks: self.counted.breaks.saturating_add(breaks) };
        Ok(())
    }

    /// Looks at a line, given with its break, as it is shown.
    fn judge(&mut self, start: u64, next: u64) -> io::Result<Option<Hit>> {
        let bytes = self.lines.view.read(next - 1, next)?;
        let end = next - u64::from(bytes == b"\n");
        let text = self.lines.shown(&Piece { start, end, next, begins: true, ends: true })?;
        let found = self.asked.pattern.find(&text, 0);
        Ok(found.map(|(at, _)| Hit { start, end, next, text, cut: (false, false), at }))
    }

    /// Searches one line that is too long to be held, and says where the next starts.
    fn long_line(&mut self, start: u64) -> io::Result<u64> {
        self.count_to(start)?;
        let (mut at, mut hit) = (start, None);
        loop {
            let from = at.saturating_sub(OVERLAP).max(start);
            let bytes = self.lines.view.read(from, at + WINDOW)?;
            let stop = memchr(b'\n', &bytes[(at - from) as usize..]).map(|length| at + length as u64);
            let is_last = stop.is_some() || (bytes.len() as u64) < at + WINDOW - from;
            let end = stop.unwrap_or(from + bytes.len() as u64);
            let next = end + u64::from(stop.is_some());
            if hit.is_none() {
                let bytes = &bytes[..(end - from) as usize];
                let may_match = self.asked.pattern.sight != Sight::Text
                    || memchr(ESCAPE, bytes).is_some()
                    || self.asked.pattern.may_match(bytes, usize::from(from > start));
                if may_match {
                    let begins = from == start;
                    let piece = Piece { start: from, end, next, begins, ends: is_last };
                    hit = self.judge_window(&piece)?;
                }
            }
            if is_last {
                if let Some(hit) = hit {
                    self.take(Hit { start, end, next, ..hit })?;
                }
                return Ok(next);
            }
            at = self.lines.character(end)?;
        }
    }

    fn judge_window(&mut self, piece: &Piece) -> io::Result<Option<Hit>> {
        let text = self.lines.shown(piece)?;
        let pattern = self.asked.pattern;
        // The first character of a window is not the first of its line.
        let from = if piece.begins { 0 } else { byte_of(&text, 1) };
        // What touches the end of a window may go on, or be no match: the next one has it, too.
        let is_match = |end: usize| end < text.len() || piece.ends;
        let is_found = pattern.earliest_end(text.as_bytes(), from).is_some_and(is_match);
        let at = is_found.then(|| pattern.find(&text, from)).flatten().map(|(at, _)| at);
        let cut = (!piece.begins, !piece.ends);
        Ok(at.map(|at| Hit { start: piece.start, end: piece.end, next: piece.next, text, cut, at }))
    }

    /// Adds a line that matches to what was found, or says where to go on.
    fn take(&mut self, hit: Hit) -> io::Result<()> {
        self.count_to(hit.start)?;
        let line = self.counted.breaks.saturating_add(1);
        let next = |offset, line| Some(Cursor { way: Way::Grep, offset, line: Some(line), skip: 0 });
        if self.found.matches.len() >= self.asked.most {
            self.found.next = next(hit.start, line);
            return Ok(());
        }
        let longest = self.asked.room.max(LEAST_ROOM) / SHARE;
        let (match_line, is_cut) = around(&hit, longest);
        let mut block = Block {
            line_number: line,
            match_line,
            line_bytes: is_cut.then_some(hit.end - hit.start),
            context_before: self.before(hit.start, longest)?,
            context_after: self.after(hit.next, longest)?,
        };
        if cost(&block) > self.left && !self.found.matches.is_empty() {
            self.found.cut = true;
            self.found.next = next(hit.start, line);
            return Ok(());
        }
        // A block that has all the room to itself still may have too much around it.
        while cost(&block) > self.left && block.context_before.len() + block.context_after.len() > 0 {
            self.found.cut = true;
            if block.context_before.len() > block.context_after.len() {
                block.context_before.remove(0);
            } else {
                block.context_after.pop();
            }
        }
        self.left = self.left.saturating_sub(cost(&block));
        self.found.matches.push(block);
        Ok(())
    }

    fn before(&mut self, start: u64, longest: usize) -> io::Result<Vec<String>> {
        let (mut shown, mut at, mut room) = (Vec::new(), start, self.left);
        while shown.len() < self.asked.context && room > 0 {
            let Some(piece) = self.lines.piece_before(at)? else { break };
            if start - piece.start > REACH {
                break;
            }
            let text = self.lines.shown(&piece)?;
            let line = if piece.begins { beginning(&text, longest, false) } else { ending(&text, longest) };
            room = room.saturating_sub(line.chars().count() + 1);
            shown.push(line);
            at = piece.start;
            if !piece.begins {
                break;
            }
        }
        shown.reverse();
        Ok(shown)
    }

    fn after(&mut self, start: u64, longest: usize) -> io::Result<Vec<String>> {
        let (mut shown, mut at, mut room) = (Vec::new(), start, self.left);
        while shown.len() < self.asked.context && room > 0 && at - start <= REACH {
            let Some(piece) = self.lines.piece_at(at)? else { break };
            let line = beginning(&self.lines.shown(&piece)?, longest, !piece.ends);
            room = room.saturating_sub(line.chars().count() + 1);
            shown.push(line);
            at = piece.next;
            if !piece.ends {
                break;
            }
        }
        Ok(shown)
    }
}

/// What a block takes of the room: its lines, and a break after each.
fn cost(block: &Block) -> usize {
    let around = block.context_before.iter().chain(&block.context_after);
    around.chain([&block.match_line]).map(|line| line.chars().count() + 1).sum()
}

/// The matching line, or as much of it as may be shown, from a little before
/// its match; and whether it was cut.
fn around(hit: &Hit, longest: usize) -> (String, bool) {
    let length = hit.text.chars().count();
    if length <= longest && hit.cut == (false, false) {
        return (hit.text.clone(), false);
    }
    let room = longest.saturating_sub(2);
    let before = hit.text[..hit.at].chars().count();
    let from = if before + room / 2 <= room && !hit.cut.0 { 0 } else { before.saturating_sub(room / 4) };
    let upto = length.min(from + room);
    let part = &hit.text[byte_of(&hit.text, from)..byte_of(&hit.text, upto)];
    let mut line = String::new();
    line.extend((from > 0 || hit.cut.0).then_some(MARK));
    line.push_str(part);
    line.extend((upto < length || hit.cut.1).then_some(MARK));
    (line, true)
}

fn beginning(text: &str, longest: usize, goes_on: bool) -> String {
    if text.chars().count() + usize::from(goes_on) <= longest && !goes_on {
        return text.to_owned();
    }
    format!("{}{MARK}", &text[..byte_of(text, longest - 1)])
}

fn ending(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    format!("{MARK}{}", &text[byte_of(text, length.saturating_sub(longest - 1))..])
}
