//! The position where an answer stopped, as a short word that a client passes back.
//!
//! A letter for the kind and direction, and three numbers in base 36, or four if it continues inside a value.
//! A client may pass back anything: every value is safe, and an invented one only shows another part of the
//! same file.

use crate::text;
use std::fmt;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::inspect::InspectError;
use crate::inspect::json_value::Within;

/// The maximum length of a cursor: a letter, four numbers, three dots.
const LONGEST: usize = 1 + 4 * 13 + 3;
/// How much of an invalid cursor the error repeats.
const REPEATED: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(super) way: Way,
    /// The start of the next piece; when reading backwards, its end.
    pub(super) offset: u64,
    /// The line number of that piece, if known.
    pub(super) line: Option<u64>,
    /// How much of the piece was already shown, in characters; for a document, in values.
    pub(super) skip: usize,
    /// How much of the value after those was shown.
    pub(super) within: Within,
}

impl Cursor {
    pub(super) fn new(way: Way, offset: u64, line: Option<u64>) -> Self {
        Self { way, offset, line, skip: 0, within: Within::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Back,
    Grep,
    Select,
}

impl Way {
    const ALL: [(Way, char); 4] =
        [(Way::Forward, 'f'), (Way::Back, 'b'), (Way::Grep, 'g'), (Way::Select, 's')];
}

impl Display for Cursor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let letter = Way::ALL.iter().find(|(way, _)| *way == self.way).map_or('?', |(_, letter)| *letter);
        let [offset, line, skip] = [self.offset, self.line.unwrap_or(0), self.skip as u64].map(base36);
        write!(out, "{letter}{offset}.{line}.{skip}")?;
        if self.within.is_beginning() { Ok(()) } else { write!(out, ".{}", base36(self.within.number())) }
    }
}

impl FromStr for Cursor {
    type Err = InspectError;

    fn from_str(text: &str) -> Result<Self, InspectError> {
        let text = text.trim();
        parse(text).ok_or_else(|| InspectError::NoCursor(text::line(text, REPEATED)))
    }
}

fn parse(text: &str) -> Option<Cursor> {
    let mut chars = text.chars();
    let letter = chars.next().filter(|_| text.len() <= LONGEST)?;
    let (way, _) = Way::ALL.into_iter().find(|(_, known)| *known == letter)?;
    let mut numbers = chars.as_str().split('.').map(|number| {
        let is_number = number.bytes().all(|c| c.is_ascii_alphanumeric());
        u64::from_str_radix(number, 36).ok().filter(|_| is_number)
    });
    let (offset, line, skip) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let line = Some(line).filter(|line| *line > 0);
    let skip = usize::try_from(skip).ok()?;
    let within = match numbers.next() {
        Some(number) => Within::of(number.filter(|_| way == Way::Select)?),
        None => Within::default(),
    };
    numbers.next().is_none().then_some(Cursor { way, offset, line, skip, within })
}

pub(super) fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::test_rows;

    #[test]
    fn nonsense_is_refused_with_what_it_was() {
        for [bad] in test_rows::<[String; 1]>(include_str!("../../tests/data/bad_cursors.jsonl")) {
            assert_eq!(bad.parse::<Cursor>().unwrap_err().to_string(), format!("invalid cursor `{bad}`"));
        }
        let long = "f1.2.".to_owned() + &"0".repeat(1 << 20);
        assert!(long.parse::<Cursor>().unwrap_err().to_string().len() < 80);
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_back(offset: u64, line: u64, skip: u32, way in 0usize..4, within: u64) {
            let line = Some(line).filter(|line| *line > 0);
            let way = Way::ALL[way].0;
            let within = Within::of(if way == Way::Select { within } else { 0 });
            let cursor = Cursor { skip: skip as usize, within, ..Cursor::new(way, offset, line) };
            prop_assert_eq!(format!(" {cursor} ").parse::<Cursor>().unwrap(), cursor);
        }

        #[test]
        fn whatever_comes_is_read(text in any::<String>()) {
            let _ = text.parse::<Cursor>();
        }
    }
}
