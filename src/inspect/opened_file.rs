//! One opened file, ready for queries.

use std::io;

use memchr::memchr;

use crate::host::LineIndex;
use crate::host::MultiFileReader;
use crate::inspect::cursor::{Cursor, Way};
use crate::inspect::file_view::View;
use crate::inspect::line_pieces::Lines;
use crate::inspect::page::{self, Page};
use crate::inspect::{
    Ask, ContentType, Found, InspectError, Mode, Wanted, count, grep, json_select, summary,
};

/// Identifies a file.
const SAMPLE: u64 = 64 << 10;
/// How far to look for its second line.
const LONGEST_FIRST: u64 = 4 << 20;

pub(super) struct Source<'a> {
    pub(super) lines: Lines,
    index: Option<&'a LineIndex>,
    content_type: ContentType,
}

impl<'a> Source<'a> {
    pub(super) fn new(
        file: MultiFileReader,
        index: Option<&'a LineIndex>,
        wanted: Wanted,
    ) -> io::Result<Self> {
        let mut view = View::new(file).while_wanted(wanted);
        let index = index.filter(|_| !view.is_compressed());
        let sample = view.read(0, SAMPLE)?;
        let is_one_line = !sample.contains(&b'\n');
        let mut content_type = ContentType::of(sample, (sample.len() as u64) < SAMPLE);
        if content_type == ContentType::Json && is_one_line && has_more_lines(&mut view)? {
            content_type = ContentType::Jsonl;
        }
        Ok(Self { lines: Lines::new(view), index, content_type })
    }

    pub(super) fn answer(mut self, ask: &Ask) -> Result<Found, InspectError> {
        let from = |way: Way, start: Cursor| match ask.cursor {
            Some(cursor) if cursor.way == way => Ok(cursor),
            Some(_) => Err(InspectError::WrongCursor),
            None => Ok(start),
        };
        let start = Cursor::new(Way::Forward, 0, Some(1));
        let found = match &ask.mode {
            Mode::Head { lines } => {
                page::forward(&mut self.lines, from(Way::Forward, start)?, *lines, ask.room)?.into()
            }
            Mode::Tail { lines } => {
                let end = self.lines.view.find_end()?;
                let line = count::total(&mut self.lines.view, self.index)?;
                let start = Cursor::new(Way::Back, end, line.filter(|line| *line > 0));
                page::back(&mut self.lines, from(Way::Back, start)?, *lines, ask.room)?.into()
            }
            Mode::Range { start: first, end } => match ask.cursor {
                Some(_) => {
                    let cursor = from(Way::Forward, start)?;
                    if !cursor.line.is_some_and(|line| (*first..=*end).contains(&line)) {
                        return Err(InspectError::WrongCursor);
                    }
                    self.range(cursor, *end, ask.room)?.into()
                }
                None => match count::find(&mut self.lines.view, self.index, (*first).max(1))? {
                    Ok(offset) => {
                        let start = Cursor { offset, line: Some((*first).max(1)), ..start };
                        self.range(start, *end, ask.room)?.into()
                    }
                    Err(end) => {
                        let goes_on = self.lines.view.last_byte()?.is_some_and(|last| last != b'\n');
                        Found { total_lines: Some(count::lines(end.breaks, goes_on)), ..Found::default() }
                    }
                },
            },
            Mode::Grep { pattern, context, max_matches } => {
                let cursor = from(Way::Grep, Cursor { way: Way::Grep, ..start })?;
                let asked = grep::Asked { pattern, context: *context, most: *max_matches, room: ask.room };
                grep::search(&mut self.lines, self.index, cursor, &asked)?
            }
            Mode::Select { path, max_values } => {
                let cursor = from(Way::Select, Cursor { way: Way::Select, ..start })?;
                let content_type = self.content_type;
                let asked = json_select::Asked { path, most: *max_values, room: ask.room, content_type };
                json_select::select(&mut self.lines, cursor, &asked)?
            }
            // A summary has no next page.
            Mode::Summary if ask.cursor.is_some() => return Err(InspectError::WrongCursor),
            Mode::Summary => summary::summarise(&mut self.lines, self.content_type)?,
        };
        self.complete(found).map_err(InspectError::from)
    }

    /// From the cursor to the last requested line.
    fn range(&mut self, cursor: Cursor, end: u64, room: usize) -> io::Result<Page> {
        let line = cursor.line.unwrap_or(1);
        let most = end.checked_sub(line).map_or(0, |more| more.saturating_add(1));
        let mut page = page::forward(&mut self.lines, cursor, most, room)?;
        page.next = page.next.filter(|next| next.line.is_some_and(|line| line <= end));
        Ok(page)
    }

    /// Adds what is known about the file as a whole.
    fn complete(mut self, found: Found) -> io::Result<Found> {
        let view = &mut self.lines.view;
        let total_lines = match found.total_lines {
            None => count::total(view, self.index)?,
            known => known,
        };
        let warning = view.warning().map(str::to_owned);
        Ok(Found {
            total_lines,
            total_bytes: view.known_end(),
            stored_bytes: view.stored_bytes(),
            content_type: self.content_type,
            warning: warning.or(found.warning),
            ..found
        })
    }
}

/// Whether a file that begins with a long line of JSON has another line.
fn has_more_lines(view: &mut View) -> io::Result<bool> {
    let mut at = 0;
    while at < LONGEST_FIRST {
        let bytes = view.read(at, at + SAMPLE)?;
        if let Some(end) = memchr(b'\n', bytes) {
            let next = at + end as u64 + 1;
            return Ok(matches!(view.read(next, next + 1)?, b"{" | b"["));
        }
        if bytes.is_empty() {
            break;
        }
        at += bytes.len() as u64;
    }
    Ok(false)
}

impl From<Page> for Found {
    fn from(page: Page) -> Self {
        Self {
            content: page.content,
            start_line: page.start_line,
            end_line: page.end_line,
            partial_line: page.partial,
            cut: page.cut,
            next: page.next,
            ..Self::default()
        }
    }
}

#[cfg(test)]
#[path = "../../tests/inspect/opened_file_tests.rs"]
mod tests;
