//! Extracts the text of terminal output, in constant memory.
//!
//! Each line is drawn like on a terminal and returned when the cursor leaves it. Carriage returns
//! and backspaces move within the line, and later characters overwrite earlier ones, so a progress
//! bar leaves its last state. Erasing, inserting and moving within the line are applied. A line
//! longer than the window wraps, and a carriage return goes to the start of its last row. Moving to
//! another line ends the current one, so the pieces drawn by a full-screen program come out one
//! below the other, in drawing order. Colours, titles, links, other sequences and invisible
//! characters are removed. What is left can be redacted and shown.

use unicode_width::UnicodeWidthChar;

use crate::text::invisible_chars::is_invisible;

/// An endless line is returned in pieces of this length.
const LONGEST: usize = 4096;
const MOST_NUMBERS: usize = 4;
const LARGEST_NUMBER: usize = 9999;

/// Why a piece of text is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceEnd {
    /// A line feed.
    Line,
    /// The cursor moved elsewhere on the screen.
    Moved,
    /// The line is too long; the rest follows.
    Long,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    #[default]
    Text,
    Escape,
    /// An escape with an intermediate byte, such as a character set.
    Designation,
    Sequence,
    /// A title, picture or device string, up to its terminator.
    Hidden,
}

/// Fills the further columns of a wide character.
const TAKEN: char = '\0';
/// Distance of tab stops.
const STOPS: usize = 8;

/// A drawn character.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    pub(crate) character: char,
    /// Number of bytes read so far, including the character's own.
    pub(crate) end: usize,
}

#[derive(Debug, Default)]
pub(crate) struct EscapeStripper {
    state: State,
    /// Parameters of the current sequence.
    numbers: Vec<usize>,
    /// It is a private sequence, which leaves no text.
    private: bool,
    /// It is a sequence only if numbers follow.
    doubtful: bool,
    /// The beginning of a multi-byte character.
    partial: Vec<u8>,
    line: Vec<Cell>,
    /// Number of bytes read.
    read: usize,
    column: usize,
    /// Column at which the last row of a wrapped line begins.
    row: usize,
    /// Width of the window; 0 if unknown.
    width: usize,
}

impl EscapeStripper {
    pub(crate) fn set_width(&mut self, columns: u16) {
        self.width = usize::from(columns);
    }

    /// Whether reading could start at this position with the same result.
    pub(crate) fn is_between(&self) -> bool {
        self.state == State::Text && self.partial.is_empty()
    }

    /// Returns and clears the current line.
    pub(crate) fn take(&mut self) -> String {
        self.take_cells().into_iter().map(|cell| cell.character).collect()
    }

    /// Like [`take`](Self::take), with the positions of the characters.
    pub(crate) fn take_cells(&mut self) -> Vec<Cell> {
        (self.column, self.row) = (0, 0);
        let mut cells = std::mem::take(&mut self.line);
        cells.retain(|cell| cell.character != TAKEN);
        cells
    }

    /// Reads one byte. If it completes a piece, [`take`](Self::take) returns that.
    pub(crate) fn step(&mut self, byte: u8) -> Option<PieceEnd> {
        let long =
            |strip: &Self| (strip.line.len() >= LONGEST && strip.is_between()).then_some(PieceEnd::Long);
        self.read += 1;
        self.advance(byte).or_else(|| long(self))
    }

    fn advance(&mut self, byte: u8) -> Option<PieceEnd> {
        match (self.state, byte) {
            // These count anywhere, so that line numbers match the file.
            (_, b'\n') => {
                self.end_character();
                self.state = State::Text;
                return Some(PieceEnd::Line);
            }
            (_, 0x1b) => {
                self.end_character();
                self.state = State::Escape;
            }
            (State::Text, _) => return self.text(byte),
            (_, 0x18 | 0x1a) => {
                self.partial.clear();
                self.state = State::Text;
            }
            (State::Hidden, _) => self.hidden(byte),
            (_, 0..=0x1f) => return self.control(byte),
            (State::Escape, _) => return self.escape(byte),
            (State::Designation, 0x20..=0x2f) => {}
            (State::Designation, _) => self.state = State::Text,
            (State::Sequence, _) => return self.sequence(byte),
        }
        None
    }

    /// Skips up to the bell or the string terminator.
    fn hidden(&mut self, byte: u8) {
        let ends = byte == 0x07 || (byte == 0x9c && self.partial == [0xc2]);
        self.partial.clear();
        match byte {
            _ if ends => self.state = State::Text,
            0xc2 => self.partial.push(byte),
            _ => {}
        }
    }

    fn text(&mut self, byte: u8) -> Option<PieceEnd> {
        match byte {
            0x20..=0x7e if self.partial.is_empty() => self.put(char::from(byte)),
            0x80..=0xbf if !self.partial.is_empty() => {
                self.partial.push(byte);
                if self.partial.len() == length(self.partial[0]) {
                    return self.end_character();
                }
            }
            0xc2..=0xf4 => {
                self.end_character();
                self.partial.push(byte);
            }
            0x00..=0x1f | 0x7f => {
                self.end_character();
                return self.control(byte);
            }
            0x20..=0x7e => {
                self.end_character();
                self.put(char::from(byte));
            }
            0x80..=0xc1 | 0xf5..=0xff => {
                self.end_character();
                self.put(char::REPLACEMENT_CHARACTER);
            }
        }
        None
    }

    /// Draws the pending character, complete or not.
    fn end_character(&mut self) -> Option<PieceEnd> {
        if self.partial.is_empty() {
            return None;
        }
        let read = std::str::from_utf8(&self.partial).ok().and_then(|text| text.chars().next());
        self.partial.clear();
        match read {
            _ if self.state == State::Hidden => {}
            // C1 control characters act as escapes but may also be halves of letters that were
            // encoded twice, so they hide nothing.
            Some(control @ ('\u{84}' | '\u{85}' | '\u{8d}')) => return self.escape(control as u8 - 0x40),
            Some('\u{9b}') => {
                self.escape(b'[');
                self.doubtful = true;
            }
            Some('\u{80}'..='\u{9f}') => {}
            Some('\u{2028}' | '\u{2029}') => return self.moved(),
            Some(character) if is_invisible(character) => {}
            Some(character) => self.put(character),
            None => self.put(char::REPLACEMENT_CHARACTER),
        }
        None
    }

    fn put(&mut self, character: char) {
        self.put_wide(character, if is_wide(character) { 2 } else { 1 });
    }

    /// Draws a character of this width.
    fn put_wide(&mut self, character: char, columns: usize) {
        if self.width > 0 && self.column - self.row + columns > self.width {
            self.row = self.column;
        }
        self.fill();
        self.part(self.column);
        self.part(self.column + columns);
        for taken in 0..columns {
            let cell = Cell { character: if taken == 0 { character } else { TAKEN }, end: self.read };
            match self.line.get_mut(self.column) {
                Some(place) => *place = cell,
                None => self.line.push(cell),
            }
            self.column += 1;
        }
    }

    /// Replaces a wide character that spans the column `at` by blanks.
    fn part(&mut self, at: usize) {
        let is_taken = |cell: &Cell| cell.character == TAKEN;
        if !self.line.get(at).is_some_and(is_taken) {
            return;
        }
        let gap = self.gap();
        let start = self.line[..at].iter().rposition(|cell| !is_taken(cell)).unwrap_or(0);
        let rest = self.line[at..].iter().take_while(|cell| is_taken(cell)).count();
        self.line[start..at + rest].fill(gap);
    }

    /// Moves to the next tab stop, over existing text.
    fn tab(&mut self) {
        let inside = self.column - self.row;
        let next = inside / STOPS * STOPS + STOPS;
        if self.column < self.line.len() {
            self.column = self.row + next;
            return;
        }
        // There is no stop beyond the window's edge, but words must stay separated.
        let edge = if self.width > 0 { self.width } else { usize::MAX };
        self.put_wide('\t', next.min(edge).saturating_sub(inside).max(1));
    }

    /// Fills up with blanks if the cursor is beyond the text.
    fn fill(&mut self) {
        self.column = self.column.min(self.row + LONGEST);
        while self.line.len() < self.column {
            self.line.push(self.gap());
        }
    }

    fn gap(&self) -> Cell {
        Cell { character: ' ', end: self.read }
    }

    fn control(&mut self, byte: u8) -> Option<PieceEnd> {
        match byte {
            b'\r' => self.column = self.row,
            0x08 => self.column = self.column.saturating_sub(1).max(self.row),
            b'\t' => self.tab(),
            0x0b | 0x0c => return self.moved(),
            _ => {}
        }
        None
    }

    fn moved(&mut self) -> Option<PieceEnd> {
        if self.line.is_empty() {
            (self.column, self.row) = (0, 0);
            return None;
        }
        Some(PieceEnd::Moved)
    }

    fn escape(&mut self, byte: u8) -> Option<PieceEnd> {
        self.state = State::Text;
        match byte {
            b'[' => {
                self.state = State::Sequence;
                self.numbers.clear();
                (self.private, self.doubtful) = (false, false);
            }
            b']' | b'P' | b'X' | b'^' | b'_' => self.state = State::Hidden,
            0x20..=0x2f => self.state = State::Designation,
            // Down, next line, up, and reset.
            b'D' | b'E' | b'M' | b'c' => return self.moved(),
            _ => {}
        }
        None
    }

    fn sequence(&mut self, byte: u8) -> Option<PieceEnd> {
        if std::mem::take(&mut self.doubtful) && !matches!(byte, b'0'..=b'?') {
            self.state = State::Text;
            return self.text(byte);
        }
        match byte {
            b'0'..=b'9' => {
                if self.numbers.is_empty() {
                    self.numbers.push(0);
                }
                if let Some(number) = self.numbers.last_mut() {
                    *number = (*number * 10 + usize::from(byte - b'0')).min(LARGEST_NUMBER);
                }
            }
            b';' | b':' if self.numbers.len() < MOST_NUMBERS => {
                if self.numbers.is_empty() {
                    self.numbers.push(0);
                }
                self.numbers.push(0);
            }
            b';' | b':' => {}
            b'<'..=b'?' | 0x20..=0x2f => self.private = true,
            0x40..=0x7e => {
                self.state = State::Text;
                return if self.private { None } else { self.command(byte) };
            }
            _ => self.state = State::Text,
        }
        None
    }

    fn command(&mut self, letter: u8) -> Option<PieceEnd> {
        let first = self.numbers.first().copied().unwrap_or(0);
        let count = first.max(1);
        match (letter, first) {
            (b'C' | b'a', _) => self.column = (self.column + count).min(self.row + LONGEST),
            (b'D', _) => self.column = self.column.saturating_sub(count).max(self.row),
            (b'G' | b'`', _) => self.column = self.row + count - 1,
            (b'Z', _) => {
                let stop = (self.column - self.row).div_ceil(STOPS).saturating_sub(count) * STOPS;
                self.column = self.row + stop;
            }
            (b'K' | b'J', 0) => {
                self.part(self.column);
                self.line.truncate(self.column);
            }
            (b'K', 1) => self.blank(self.row, self.column + 1),
            (b'K', 2) => self.blank(self.row, self.line.len()),
            (b'X', _) => self.blank(self.column, self.column + count),
            (b'P', _) => {
                let end = (self.column + count).min(self.line.len());
                self.part(self.column);
                self.part(end);
                self.line.drain(self.column.min(end)..end);
            }
            (b'@', _) if self.column < self.line.len() => {
                self.part(self.column);
                let blanks = std::iter::repeat_n(self.gap(), count.min(LONGEST));
                self.line.splice(self.column..self.column, blanks);
            }
            (b'A' | b'B' | b'E' | b'F' | b'H' | b'L' | b'M' | b'S' | b'T' | b'd' | b'e' | b'f', _) => {
                return self.moved();
            }
            (b'J', 2..) => return self.moved(),
            _ => {}
        }
        None
    }

    fn blank(&mut self, from: usize, to: usize) {
        self.part(from);
        self.part(to);
        let (end, gap) = (to.min(self.line.len()), self.gap());
        if let Some(places) = self.line.get_mut(from..end) {
            places.fill(gap);
        }
        // Drop trailing blanks.
        if to >= self.line.len() {
            self.line.truncate(from);
        }
    }
}

/// Whether a character takes two columns.
fn is_wide(character: char) -> bool {
    !character.is_ascii() && character.width() == Some(2)
}

/// The length of a UTF-8 sequence by its first byte.
fn length(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::plain;
    use crate::text::test_rows;

    /// The text of `bytes` in a window of 20 columns. `|` marks a line that was left without a line
    /// feed, `~` one that was too long.
    fn stripped(bytes: &[u8]) -> String {
        let mut strip = EscapeStripper::default();
        strip.set_width(20);
        let mut text = String::new();
        for &byte in bytes {
            if let Some(end) = strip.step(byte) {
                text.push_str(&strip.take());
                text.push(match end {
                    PieceEnd::Line => '\n',
                    PieceEnd::Moved => '|',
                    PieceEnd::Long => '~',
                });
            }
        }
        strip.end_character();
        text + &strip.take()
    }

    #[track_caller]
    fn check(given: &str, expected: &str) {
        assert_eq!(stripped(given.as_bytes()), expected, "{given:?}");
    }

    #[test]
    fn every_sequence_leaves_what_its_row_says() {
        let rows = include_str!("../../tests/text/stripped.jsonl");
        for [given, expected] in test_rows::<[String; 2]>(rows) {
            check(&given, &expected);
        }
    }

    #[test]
    fn the_second_set_of_control_characters_stands_for_escapes_and_hides_nothing() {
        check("pass\u{9b}1;31mword a\u{80}b\u{9c}c", "password abc");
        check("a\u{85}b\u{8d}c\u{9b}2Jd", "a|b|c|d");
        for word in ["Straße", "Øresund", "Привет", "total Û 1234567", "Ûber"] {
            let twice: String = word.bytes().map(char::from).collect();
            let seen: String = twice.chars().filter(|c| !c.is_control()).collect();
            check(&format!("{twice}\nend"), &format!("{seen}\nend"));
        }
    }

    #[test]
    fn characters_stay_whole_and_what_is_none_is_marked() {
        check("é任务🦀", "é任务🦀");
        assert_eq!(stripped(b"a\xffb\xe4\xbbc\xc3"), "a\u{fffd}b\u{fffd}c\u{fffd}");
        assert_eq!(stripped(b"\xe4\xbb\n\xc3\x1b[mx"), "\u{fffd}\n\u{fffd}x");
    }

    proptest! {
        /// Memory is bounded, no control character is left, and every line feed is reported.
        #[test]
        fn whatever_comes_leaves_text(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let text = stripped(&bytes);
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(&plain::text(&text), &text);
            prop_assert_eq!(text.matches('\n').count(), memchr::memchr_iter(b'\n', &bytes).count());
        }

        #[test]
        fn what_a_screen_is_sent_never_outgrows_a_line(pieces in proptest::collection::vec(0..7usize, 0..3000)) {
            let all = ["\x1b[9999C", "x", "\x1b[9999@", "\t", "\r", "\x1b[9999G", "\x1b[5D"];
            let mut strip = EscapeStripper::default();
            strip.set_width(80);
            for byte in pieces.iter().flat_map(|&piece| all[piece].bytes()) {
                if strip.step(byte).is_some() {
                    strip.take();
                }
                prop_assert!(strip.line.len() <= 4 * LONGEST + MOST_NUMBERS, "{}", strip.line.len());
            }
        }
    }
}
