//! As many lines as fit into a reply, reading forward or backward.
//!
//! A page has whole lines, or a part of one. Lines are kept whole if at least one fits; a longer one is shown
//! in parts, with `…` where it is cut, and the cursor continues inside it.

use std::io;

use memchr::{memchr, memrchr};

use crate::inspect::PartialLine;
use crate::inspect::cursor::{Cursor, Way};
use crate::inspect::file_view::LONGEST_READ;
use crate::inspect::line_pieces::{Lines, Piece};

/// A smaller page would hold hardly more than its cut marks.
const LEAST_ROOM: usize = 16;
/// How far to look for the ends of a line to measure it.
const MEASURED: u64 = 64 << 20;
/// How much of a line to search for something to show.
const LOOKED_AT: u64 = 2 << 20;
pub(super) const MARK: char = '…';

#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) content: String,
    /// The numbers of the first and the last line, if known.
    pub(super) start_line: Option<u64>,
    pub(super) end_line: Option<u64>,
    pub(super) partial: Option<PartialLine>,
    /// Whether the page was full before it had all its lines.
    pub(super) cut: bool,
    pub(super) next: Option<Cursor>,
}

/// Lines from the cursor on, at most this many lines and characters.
pub(super) fn forward(lines: &mut Lines, cursor: Cursor, most: u64, room: usize) -> io::Result<Page> {
    let mut left = room.max(LEAST_ROOM);
    let mut here = Cursor { offset: lines.character(cursor.offset)?, way: Way::Forward, ..cursor };
    let (mut page, mut shown) = (Page { start_line: here.line, ..Page::default() }, 0);
    while shown < most {
        let Some(piece) = lines.piece_at(here.offset)? else { break };
        let text = lines.shown(&piece)?;
        let length = text.chars().count() + usize::from(shown > 0);
        let is_whole = piece.begins && piece.ends && here.skip == 0 && length <= left;
        if shown == 0 && !is_whole {
            return part_forward(lines, here, left);
        }
        if !is_whole {
            page.cut = true;
            break;
        }
        if shown > 0 {
            page.content.push('\n');
        }
        page.content.push_str(&text);
        page.end_line = here.line;
        (shown, left) = (shown + 1, left - length);
        here = after(here, &piece);
    }
    page.start_line = page.start_line.filter(|_| shown > 0);
    page.next = lines.piece_at(here.offset)?.map(|_| here);
    Ok(page)
}

fn after(here: Cursor, piece: &Piece) -> Cursor {
    let line = here.line.map(|line| line.saturating_add(u64::from(piece.ends)));
    Cursor { offset: piece.next, line, skip: 0, ..here }
}

/// A part of the line that the cursor is in.
fn part_forward(lines: &mut Lines, cursor: Cursor, room: usize) -> io::Result<Page> {
    let (mut here, mut left) = (cursor, room);
    let mut page = Page { start_line: here.line, end_line: here.line, ..Page::default() };
    let mut begins_before = None;
    let goes_on = loop {
        let Some(piece) = lines.piece_at(here.offset)? else { break false };
        let text = lines.shown(&piece)?;
        if *begins_before.get_or_insert(!piece.begins || here.skip > 0) && page.content.is_empty() {
            page.content.push(MARK);
            left -= 1;
        }
        let rest = &text[byte_of(&text, here.skip)..];
        let length = rest.chars().count();
        // If the line continues, there must be space to mark that.
        if length + usize::from(!piece.ends) > left {
            page.content.push_str(&rest[..byte_of(rest, left - 1)]);
            page.content.push(MARK);
            here.skip += left - 1;
            break true;
        }
        page.content.push_str(rest);
        left -= length;
        here = after(here, &piece);
        if piece.ends {
            break false;
        }
        // A line of invisible characters may show nothing for gigabytes.
        if here.offset - cursor.offset >= LOOKED_AT {
            page.content.push(MARK);
            break true;
        }
    };
    let begins_before = begins_before.unwrap_or(false);
    page.partial = Some(PartialLine { begins_before, goes_on, bytes: measure(lines, cursor.offset)? });
    page.cut = goes_on;
    page.next = lines.piece_at(here.offset)?.map(|_| here);
    Ok(page)
}

/// Lines that end at the cursor, at most this many lines and characters.
pub(super) fn back(lines: &mut Lines, cursor: Cursor, most: u64, room: usize) -> io::Result<Page> {
    let mut left = room.max(LEAST_ROOM);
    let end = lines.view.find_end()?;
    let mut here = Cursor { offset: lines.character(cursor.offset.min(end))?, way: Way::Back, ..cursor };
    let (mut page, mut shown) = (Page { end_line: here.line, ..Page::default() }, Vec::new());
    while (shown.len() as u64) < most {
        let Some(piece) = lines.piece_before(here.offset)? else { break };
        let text = lines.shown(&piece)?;
        let length = text.chars().count() + usize::from(!shown.is_empty());
        let is_whole = piece.begins && piece.ends && here.skip == 0 && length <= left;
        if shown.is_empty() && !is_whole {
            return part_back(lines, here, left);
        }
        if !is_whole {
            page.cut = true;
            break;
        }
        left -= length;
        shown.push(text);
        page.start_line = here.line;
        here = before(here, &piece);
    }
    page.end_line = page.end_line.filter(|_| !shown.is_empty());
    shown.reverse();
    page.content = shown.join("\n");
    page.next = (here.offset > 0).then_some(here);
    Ok(page)
}

fn before(here: Cursor, piece: &Piece) -> Cursor {
    // There is no line before the first, whatever a cursor says.
    let line = here.line.and_then(|line| line.checked_sub(u64::from(piece.begins))).filter(|line| *line > 0);
    Cursor { offset: piece.start, line, skip: 0, ..here }
}

/// A part of the line that ends or continues at the cursor.
fn part_back(lines: &mut Lines, cursor: Cursor, room: usize) -> io::Result<Page> {
    let (mut here, mut left) = (cursor, room);
    let mut page = Page { start_line: here.line, end_line: here.line, ..Page::default() };
    let (mut parts, mut goes_on) = (Vec::new(), None);
    let begins_before = loop {
        let Some(piece) = lines.piece_before(here.offset)? else { break false };
        let text = lines.shown(&piece)?;
        if *goes_on.get_or_insert(!piece.ends || here.skip > 0) && parts.is_empty() {
            parts.push(String::from(MARK));
            left -= 1;
        }
        let all = text.chars().count();
        let length = all.saturating_sub(here.skip);
        let rest = &text[..byte_of(&text, length)];
        if length + usize::from(!piece.begins) > left {
            parts.push(rest[byte_of(rest, length - (left - 1))..].to_owned());
            parts.push(String::from(MARK));
            here.skip += left - 1;
            break true;
        }
        parts.push(rest.to_owned());
        left -= length;
        here = before(here, &piece);
        if piece.begins {
            break false;
        }
        if cursor.offset - here.offset >= LOOKED_AT {
            parts.push(String::from(MARK));
            break true;
        }
    };
    parts.reverse();
    page.content = parts.concat();
    let (goes_on, inside) = (goes_on.unwrap_or(false), cursor.offset.saturating_sub(1));
    page.partial = Some(PartialLine { begins_before, goes_on, bytes: measure(lines, inside)? });
    page.cut = begins_before;
    page.next = (here.offset > 0).then_some(here);
    Ok(page)
}

/// The length of the line that contains a byte, without its break, unless measuring it takes too long.
pub(super) fn measure(lines: &mut Lines, inside: u64) -> io::Result<Option<u64>> {
    let step = LONGEST_READ as u64 / 2;
    let mut end = inside;
    let end = loop {
        let bytes = lines.view.read(end, end + step)?;
        match memchr(b'\n', bytes) {
            Some(at) => break end + at as u64,
            None if (bytes.len() as u64) < step => break end + bytes.len() as u64,
            None => end += step,
        }
        if end - inside > MEASURED {
            return Ok(None);
        }
    };
    let mut start = inside;
    loop {
        let from = start.saturating_sub(step);
        match memrchr(b'\n', lines.view.read(from, start)?) {
            Some(at) => return Ok(Some(end - (from + at as u64 + 1))),
            None if from == 0 => return Ok(Some(end)),
            None => start = from,
        }
        // Compressed content would have to be read again at every step.
        if inside - start > MEASURED || lines.view.is_compressed() {
            return Ok(None);
        }
    }
}

/// Where the character with this index begins; the end if there are fewer.
pub(super) fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use crate::inspect::Mode;
    use crate::inspect::reference_answers::{added, ask, gzip, pages};

    #[test]
    fn a_line_that_nobody_sees_is_looked_at_a_piece_at_a_time() {
        let content =
            [b"first\n", vec![0; 3 << 20].as_slice(), b"seen", vec![0; 3 << 20].as_slice()].concat();
        for stored in [content.clone(), gzip(&content)] {
            for (mode, page) in [(Mode::Head { lines: 9 }, 1), (Mode::Tail { lines: 9 }, 0)] {
                let pages = pages(&stored, &mode, 1000);
                let shown: Vec<String> = pages.iter().map(|page| added(page).0).collect();
                let mut shown: Vec<&str> = shown.iter().map(String::as_str).collect();
                if matches!(mode, Mode::Tail { .. }) {
                    shown.reverse();
                }
                assert_eq!(shown.concat(), "firstseen");
                assert!(pages.len() > 3 && pages[page].cut && pages[page].next.is_some());
                let partial = pages[page].partial_line.unwrap();
                assert!(partial.goes_on != partial.begins_before);
            }
        }
        // However long it is.
        let looked_at = |length: usize| {
            let found = ask(&vec![0; length], Mode::Head { lines: 1 }, None, 100);
            assert_eq!(found.content, "…");
            found.next.unwrap().offset
        };
        assert_eq!(looked_at(4 << 20), looked_at(5 << 20));
    }
}
