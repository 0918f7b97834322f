//! Finds the lines that match a pattern, with their context.
//!
//! A line matches if the pattern matches it as it is shown: redacted, and without what terminals hide. To be
//! as fast as ripgrep, the file's bytes are first searched by ripgrep's engine, and only candidate lines are
//! checked in shown form. Lines are separated by line breaks only: `^` and `$` do not match at a carriage
//! return inside a line.

use std::io;
use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::host::MultiFileReader;
use crate::host::{Checkpoint, LineIndex};
use crate::inspect::candidate_lines::Candidates;
use crate::inspect::control_bytes::unlike_shown;
use crate::inspect::cursor::{Cursor, Way};
use crate::inspect::line_pieces::{LONGEST_LINE, Lines, Piece};
use crate::inspect::match_context::{Hit, around, beginning, cost, ending};
use crate::inspect::page::byte_of;
use crate::inspect::parallel_prefilter::{Breaks, Told, Verdict, look_ahead};
use crate::inspect::pattern_visibility::Sight;
use crate::inspect::private_keys::LOOKED_AHEAD;
use crate::inspect::{Block, Found, Pattern, count};

/// The size of a chunk: it fits into the processor's second-level cache.
const CHUNK: u64 = 512 << 10;
/// After this much without enough matches, other processors help.
const SEARCHED_ALONE: u64 = 1 << 20;
/// After this many consecutive blocks without a conclusion from other processors, the next bytes are searched
/// here again.
const IN_VAIN: usize = 8;
const ALONE_AGAIN: u64 = 4 << 20;
/// A line too long to be shown at once is searched in windows of this length, each overlapping the previous
/// one. Only there may a match longer than the overlap be missed.
const WINDOW: u64 = 256 << 10;
const OVERLAP: u64 = 32 << 10;
/// How far around a match to look for its context.
const REACH: u64 = 64 << 10;
/// How much is read around a line that other processors found, with and without context.
const AROUND: u64 = 8 << 10;
const NEXT_TO: u64 = 1 << 10;
const LEAST_ROOM: usize = 400;
/// At most this fraction of the space goes to one line.
const SHARE: usize = 4;

pub(super) struct Asked<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) context: usize,
    pub(super) most: usize,
    pub(super) room: usize,
}

/// Searches from the cursor until there is enough.
pub(super) fn search(
    lines: &mut Lines,
    index: Option<&LineIndex>,
    cursor: Cursor,
    asked: &Asked,
) -> io::Result<Found> {
    // A cursor may be invented, but the end of a line would not be a line: its beginning may be what marks it
    // as secret.
    let start = lines.line_from(cursor.offset)?;
    let mut search = Search {
        lines,
        index,
        asked,
        candidates: Candidates::new(start),
        counted: Checkpoint { offset: start, breaks: cursor.line.unwrap_or(1).saturating_sub(1) },
        is_from_start: start == 0 && cursor.line.unwrap_or(1) == 1,
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
    /// If set, lines are not counted before the first match.
    index: Option<&'a LineIndex>,
    asked: &'a Asked<'a>,
    candidates: Candidates,
    /// The position up to which line breaks were counted.
    counted: Checkpoint,
    /// Otherwise the cursor says how many lines precede it, and may be invented.
    is_from_start: bool,
    left: usize,
    found: Found,
}

impl Search<'_> {
    fn run(&mut self, from: u64) -> io::Result<()> {
        let mut alone = from.saturating_add(SEARCHED_ALONE);
        let mut next = Some(from);
        while let Some(here) = next {
            let is_shared = here >= alone && self.asked.pattern.sight != Sight::EveryLine;
            if is_shared
                && let Some((file, end)) = self.lines.view.plain_file(here.saturating_add(SEARCHED_ALONE))
            {
                next = self.run_with_others(&file, here..end)?;
                alone = next.unwrap_or(end).saturating_add(ALONE_AGAIN);
                continue;
            }
            next = self.chunk(here)?;
        }
        Ok(())
    }

    /// Processes the verdicts of other processors while they are conclusive, and returns where to continue.
    fn run_with_others(&mut self, file: &MultiFileReader, bytes: Range<u64>) -> io::Result<Option<u64>> {
        let mut next = Some(bytes.start);
        let breaks = if self.index.is_some() { Breaks::OfMatches } else { Breaks::All };
        look_ahead(file, self.asked.pattern, bytes, breaks, |verdicts| {
            let mut in_vain = 0;
            while in_vain < IN_VAIN
                && let Some(here) = next
                && let Some(verdict) = verdicts.next()
            {
                self.lines.view.check_wanted()?;
                match &verdict.told {
                    Some(told) if !self.candidates.may_be_key(self.asked.pattern) => {
                        in_vain = 0;
                        if told.next > here {
                            next = self.check_candidates(here, &verdict, told)?;
                        }
                    }
                    Some(_) | None => {
                        in_vain += 1;
                        while let Some(here) = next.filter(|here| *here < verdict.bytes.end) {
                            next = self.chunk(here)?;
                        }
                    }
                }
            }
            Ok(next)
        })
    }

    /// Checks the candidate lines of a block, from `here` on.
    fn check_candidates(&mut self, here: u64, verdict: &Verdict, told: &Told) -> io::Result<Option<u64>> {
        let block = &verdict.bytes;
        if !told.lines.is_empty() {
            self.count_to(block.start)?;
        }
        let before = self.counted;
        let known =
            |breaks: u64| (before.offset == block.start).then(|| before.breaks.saturating_add(breaks));
        for line in told.lines.iter().filter(|line| line.bytes.start >= here) {
            if let Some(breaks) = known(line.breaks) {
                self.counted = Checkpoint { offset: line.bytes.start, breaks };
            }
            if self.asked.context == 0 {
                self.lines.view.take_over(&line.near);
            }
            self.look_at(&line.bytes)?;
            if self.found.next.is_some() {
                return Ok(None);
            }
        }
        match verdict.breaks.and_then(known) {
            Some(breaks) => self.counted = Checkpoint { offset: block.end, breaks },
            None => self.pass(block.end)?,
        }
        self.candidates.pass(told.next - here);
        Ok(Some(told.next))
    }

    /// Checks a candidate line, given with its break.
    fn look_at(&mut self, line: &Range<u64>) -> io::Result<()> {
        if line.end - line.start > LONGEST_LINE {
            self.long_line(line.start)?;
        } else {
            let around = if self.asked.context == 0 { NEXT_TO } else { AROUND };
            self.lines.view.approach(line, around)?;
            if let Some(hit) = self.judge(line.start, line.end)? {
                self.take(hit)?;
            }
        }
        Ok(())
    }

    /// Searches the next bytes and returns where to continue; `None` at the end.
    fn chunk(&mut self, here: u64) -> io::Result<Option<u64>> {
        let bytes = self.lines.view.read(here, here.saturating_add(CHUNK + LOOKED_AHEAD))?;
        let is_last = (bytes.len() as u64) < CHUNK;
        if bytes.is_empty() {
            if self.index.is_none() && self.is_from_start {
                let goes_on = self.lines.view.last_byte()?.is_some_and(|last| last != b'\n');
                self.found.total_lines = Some(count::lines(self.counted.breaks, goes_on));
            }
            return Ok(None);
        }
        let chunk = &bytes[..bytes.len().min(CHUNK as usize)];
        let whole = if is_last { chunk.len() } else { memrchr(b'\n', chunk).map_or(0, |at| at + 1) };
        if whole == 0 {
            let next = self.long_line(here)?;
            return Ok(self.found.next.is_none().then_some(next));
        }
        let (candidates, searched) =
            self.candidates.find(self.asked.pattern, &bytes[..whole], &bytes[whole..])?;
        for candidate in candidates {
            self.look_at(&(here + candidate.start as u64..here + candidate.end as u64))?;
            if self.found.next.is_some() {
                return Ok(None);
            }
        }
        let next = here + searched as u64;
        self.pass(next)?;
        Ok(Some(next))
    }

    /// Releases what was searched, and counts its lines while it is in memory.
    fn pass(&mut self, offset: u64) -> io::Result<()> {
        if self.index.is_some() { Ok(()) } else { self.count_to(offset) }
    }

    fn count_to(&mut self, offset: u64) -> io::Result<()> {
        if let Some(point) = self.index.map(|index| index.last(offset))
            && point.offset > self.counted.offset
        {
            self.counted = point;
        }
        if offset < self.counted.offset {
            return Ok(());
        }
        let breaks = count::breaks(&mut self.lines.view, self.counted.offset, offset)?;
        self.counted = Checkpoint { offset, breaks: self.counted.breaks.saturating_add(breaks) };
        Ok(())
    }

    /// Checks a line, given with its break, in the form in which it is shown.
    fn judge(&mut self, start: u64, next: u64) -> io::Result<Option<Hit>> {
        let bytes = self.lines.view.read(start, next)?;
        let end = next - u64::from(bytes.last() == Some(&b'\n'));
        let text = self.lines.shown(&Piece { start, end, next, begins: true, ends: true })?;
        let found = self.asked.pattern.find(&text, 0);
        Ok(found.map(|(at, _)| Hit { start, end, next, text, cut: (false, false), at }))
    }

    /// Searches one line that is too long for memory, and returns where the next one starts.
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
            self.candidates.see(bytes);
            if hit.is_none() {
                let bytes = &bytes[..(end - from) as usize];
                let may_match = self.asked.pattern.sight != Sight::Text
                    || unlike_shown(bytes).next().is_some()
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
        // A match at the end of a window may continue, or not be one at all: the next window contains it too.
        let is_match = |end: usize| end < text.len() || piece.ends;
        let is_found = pattern.earliest_end(text.as_bytes(), from).is_some_and(is_match);
        let at = is_found.then(|| pattern.find(&text, from)).flatten().map(|(at, _)| at);
        let cut = (!piece.begins, !piece.ends);
        Ok(at.map(|at| Hit { start: piece.start, end: piece.end, next: piece.next, text, cut, at }))
    }

    /// Adds a matching line to the result, or returns where to continue.
    fn take(&mut self, hit: Hit) -> io::Result<()> {
        self.count_to(hit.start)?;
        let line = self.counted.breaks.saturating_add(1);
        let next = |offset, line| Some(Cursor::new(Way::Grep, offset, Some(line)));
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
        // Even a block with all the space to itself may have too much context.
        while cost(&block) > self.left && block.context_before.len() + block.context_after.len() > 0 {
            self.found.cut = true;
            if block.context_before.len() > block.context_after.len() {
                block.context_before.remove(0);
            } else {
                block.context_after.pop();
            }
        }
        self.found.cut |= is_cut;
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
