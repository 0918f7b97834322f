//! A file and a query derived from bytes, as a fuzzer generates them.
//!
//! Tests derive them from a seed, and `fuzz/` from inputs that reach new code. The properties that must hold
//! are in the [checks](crate::inspect::invariants).

#![allow(clippy::unwrap_used, reason = "what is not there breaks a promise, and a test ends")]

use memchr::memchr;
use regex_syntax::is_meta_character;

use crate::host::MultiFileReader;
use crate::inspect::line_pieces::{LONGEST_LINE, unredacted};
use crate::inspect::{Ask, Case, Cursor, Mode, Pattern, Wanted, inspect, invariants, reference_answers};

/// The beginning of a compressed file.
const COMPRESSED: &[u8] = b"\x1f\x8b";
/// Lines are split around these lengths.
const LENGTHS: [usize; 3] = [64 << 10, 256 << 10, 320 << 10];
/// The text that is repeated to make such a long line.
const UNIT: usize = 8;
/// The longest pattern that is searched in such a line.
const WORD: usize = 32;
/// The longest pattern; some take long to parse.
const LONGEST_PATTERN: usize = 200;

/// Five letters choose the query and how the file is stored; then, up to a line break, a pattern, a path or a
/// cursor; the rest is the file's content.
pub(crate) fn check(input: &[u8]) {
    let Some(([question, kept, a, b, room], rest)) = input.split_first_chunk() else { return };
    let (text, content) = rest.split_at(memchr(b'\n', rest).unwrap_or(rest.len()));
    let Ok(text) = str::from_utf8(text) else { return };
    let content = content.strip_prefix(b"\n").unwrap_or_default();
    let packed = kept & 1 == 0;
    let case = if kept & 2 == 0 { Case::Ignored } else { Case::Kept };
    let length = LENGTHS.get(usize::from(kept >> 2 & 0xf)).map(|length| length + usize::from(*b) % 9 - 4);
    let content = stretched(content, length);
    // Otherwise it has thousands of pages.
    let room = usize::from(*room) + length.map_or(0, |_| 100 << 10);
    let (start, most) = (number(*a), number(*b));
    if content.starts_with(COMPRESSED) && !packed {
        return ask_everything(&content, text, case, most, room);
    }
    if !invariants::is_shown_alone(&content) || length.is_some() && has_secret(&content) {
        invariants::summary(&content, packed);
        return ask_everything(&invariants::store(&content, packed), text, case, most, room);
    }
    match question {
        // A line that is too long for memory has a page to itself.
        b'e' if is_held(&content) => invariants::ends(&content, packed, most),
        b'p' | b'e' => invariants::all_pages(&content, packed, most.max(1), room),
        b'r' => invariants::range(&content, packed, start, start.saturating_add(most), room.max(16)),
        b's' => invariants::summary(&content, packed),
        b'c' => {
            let Ok(cursor) = text.parse::<Cursor>() else { return };
            invariants::cursor(&content, packed, &mode_of(text, most), cursor);
        }
        b'g' => {
            let Some(pattern) = pattern(text, case) else { return };
            // In a line that is too long for memory, a long match may be missed.
            if length.is_none() || text.len() <= WORD && !text.contains(is_meta_character) {
                let content = invariants::as_text_for(text, content);
                invariants::grep(
                    &content,
                    packed,
                    &pattern,
                    case,
                    usize::from(a % 4),
                    usize::from(b % 8) + 1,
                );
            }
        }
        _ => ask_everything(&invariants::store(&content, packed), text, case, most, room),
    }
}

/// A secret longer than a search window is not recognized in all its parts.
fn has_secret(content: &[u8]) -> bool {
    reference_answers::lines(content).iter().any(|line| reference_answers::shown(line) != unredacted(line))
}

/// Whether no line is longer than what is shown at once.
fn is_held(content: &[u8]) -> bool {
    reference_answers::lines(content).iter().all(|line| line.len() as u64 <= LONGEST_LINE)
}

/// Maps values near the maximum of a byte to values near the maximum of a number.
fn number(byte: u8) -> u64 {
    if byte < 0xf0 { u64::from(byte) } else { u64::MAX - u64::from(u8::MAX - byte) }
}

/// Repeats the end of the content up to this length. Thousands of lines would only take long.
fn stretched(content: &[u8], length: Option<usize>) -> Vec<u8> {
    let mut content = content.to_vec();
    if let Some(length) = length {
        let unit = content[content.len().saturating_sub(UNIT)..].to_vec();
        let missing = length.saturating_sub(content.len());
        content.extend(unit.into_iter().filter(|byte| *byte != b'\n').cycle().take(missing));
    }
    content
}

fn pattern(text: &str, case: Case) -> Option<Pattern> {
    Some(text).filter(|text| text.len() <= LONGEST_PATTERN).and_then(|text| Pattern::new(text, case).ok())
}

/// The query that a cursor with this letter belongs to.
fn mode_of(cursor: &str, most: u64) -> Mode {
    match cursor.trim_start().as_bytes().first() {
        Some(b'f') => Mode::Head { lines: most },
        Some(b'b') => Mode::Tail { lines: most },
        Some(b'g') => reference_answers::find("a", 1, 2),
        _ => Mode::Select { path: "$".parse().unwrap(), max_values: 3 },
    }
}

/// Every query gets an answer or an error.
fn ask_everything(stored: &[u8], text: &str, case: Case, most: u64, room: usize) {
    let mut modes = vec![
        Mode::Head { lines: most },
        Mode::Tail { lines: most },
        Mode::Range { start: most, end: most.saturating_mul(2) },
        Mode::Summary,
    ];
    modes.extend(pattern(text, case).map(|pattern| Mode::Grep { pattern, context: 2, max_matches: 9 }));
    modes.extend(text.parse().ok().map(|path| Mode::Select { path, max_values: 9 }));
    for mode in modes {
        let file = MultiFileReader::whole(reference_answers::file(stored)).unwrap();
        let _ = inspect(file, None, &Ask { mode, cursor: None, room }, Wanted::always());
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The inputs that a fuzzer begins with.
    fn corpus() -> Vec<Vec<u8>> {
        let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/inspect")).unwrap();
        files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
    }

    #[test]
    fn the_corpus_is_answered_as_the_reference_does() {
        let corpus = corpus();
        assert!(corpus.len() > 10);
        corpus.iter().for_each(|input| check(input));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn so_is_what_damage_makes_of_it(
            which in any::<prop::sample::Index>(), damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            let corpus = corpus();
            let mut input = which.get(&corpus).clone();
            for (at, byte) in damage {
                let at = at.index(input.len());
                input[at] = byte;
            }
            check(&input);
        }
    }
}
