//! The properties of every answer, whatever the file and the query: it equals that of the
//! [reference](crate::inspect::reference_answers). Panics otherwise.

#![allow(clippy::unwrap_used, reason = "what is not there breaks a promise, and a test ends")]

use std::cmp::Reverse;

use crate::inspect::line_pieces::{goes_on, unredacted};
use crate::inspect::private_keys::names_key;
use crate::inspect::reference_answers::{self, added, ask, gzip, lines, pages, shown};
use crate::inspect::{Case, Cursor, Found, Longest, Mode, Pattern};

/// How a file is stored.
pub(super) fn store(content: &[u8], packed: bool) -> Vec<u8> {
    if packed { gzip(content) } else { content.to_vec() }
}

/// Whether every line is shown independently: none belongs to a private key, and none continues a command.
pub(super) fn is_shown_alone(content: &[u8]) -> bool {
    let is_alone = |line: &[u8]| !names_key(unredacted(line).as_bytes()) && !goes_on(line);
    !names_key(content) && lines(content).into_iter().all(is_alone)
}

/// The content, or its text: where words end beside bytes that are not text can be seen in several ways.
pub(super) fn as_text_for(pattern: &str, content: Vec<u8>) -> Vec<u8> {
    match pattern.contains(r"\b") || pattern.contains(r"\B") {
        true => String::from_utf8_lossy(&content).into_owned().into_bytes(),
        false => content,
    }
}

/// Following the cursor shows everything exactly once, in either direction.
pub(super) fn all_pages(content: &[u8], packed: bool, most: u64, room: usize) {
    let stored = store(content, packed);
    let whole = with_breaks(&all_shown(content));
    let forward = pages(&stored, &Mode::Head { lines: most }, room);
    assert_eq!(joined(forward.iter()), whole);
    let back = pages(&stored, &Mode::Tail { lines: most }, room);
    assert_eq!(joined(back.iter().rev()), whole);
    let mut line = 1;
    for page in &forward {
        assert!(page.content.chars().count() <= room.max(16));
        if page.start_line.is_some() {
            assert_eq!(page.start_line, Some(line));
            let goes_on = page.partial_line.is_some_and(|line| line.goes_on);
            line = page.end_line.unwrap() + u64::from(!goes_on);
        }
    }
    for page in back.iter().filter(|page| page.start_line.is_some()) {
        assert!(page.content.chars().count() <= room.max(16));
        let lines = page.content.matches('\n').count() as u64;
        assert_eq!(page.end_line.unwrap() - page.start_line.unwrap(), lines);
    }
}

/// Head returns the first lines, tail the last ones, and all are counted.
pub(super) fn ends(content: &[u8], packed: bool, most: u64) {
    let stored = store(content, packed);
    let all = all_shown(content);
    let shown = usize::try_from(most).map_or(all.len(), |most| most.min(all.len()));
    let head = ask(&stored, Mode::Head { lines: most }, None, WHOLE);
    assert_eq!(head.content, all[..shown].join("\n"));
    let tail = ask(&stored, Mode::Tail { lines: most }, None, WHOLE);
    assert_eq!(tail.content, all[all.len() - shown..].join("\n"));
    assert_eq!(tail.total_lines, Some(all.len() as u64));
    assert_eq!(tail.total_bytes, Some(content.len() as u64));
    assert_eq!(tail.stored_bytes, stored.len() as u64);
    if shown > 0 {
        assert_eq!(tail.start_line, Some((all.len() - shown) as u64 + 1));
        assert_eq!((tail.end_line, head.start_line), (Some(all.len() as u64), Some(1)));
    }
}

/// More than any content that is checked.
const WHOLE: usize = 1 << 30;

pub(super) fn range(content: &[u8], packed: bool, start: u64, end: u64, room: usize) {
    let all = all_shown(content);
    let at_most = |line: u64| usize::try_from(line).map_or(all.len(), |line| line.min(all.len()));
    let (from, upto) = (at_most(start.max(1) - 1), at_most(end));
    let pages = pages(&store(content, packed), &Mode::Range { start, end }, room);
    let expected = if from < upto { with_breaks(&all[from..upto]) } else { String::new() };
    assert_eq!(joined(pages.iter()), expected);
}

/// Every matching line is found once, in order, with its context.
pub(super) fn grep(content: &[u8], packed: bool, pattern: &Pattern, case: Case, context: usize, max: usize) {
    let text = pattern.text();
    let expected = reference_answers::grep(content, pattern, case);
    let mode = Mode::Grep { pattern: pattern.clone(), context, max_matches: max };
    let pages = pages(&store(content, packed), &mode, 500);
    let numbers: Vec<u64> =
        pages.iter().flat_map(|page| &page.matches).map(|block| block.line_number).collect();
    if pages.len() == 1 {
        assert_eq!(numbers, expected, "{text}");
    }
    // A search that begins in the middle may be near a private key and checks more lines in shown form.
    let most = reference_answers::grep_as_shown(content, text, case);
    assert!(numbers.is_sorted_by(|a, b| a < b), "{text}: {numbers:?}");
    assert!(expected.iter().all(|number| numbers.contains(number)), "{text}: {numbers:?} {expected:?}");
    assert!(numbers.iter().all(|number| most.contains(number)), "{text}: {numbers:?} {most:?}");
    let all = all_shown(content);
    for (page, block) in pages.iter().flat_map(|page| page.matches.iter().map(move |block| (page, block))) {
        let at = block.line_number as usize - 1;
        match block.line_bytes {
            None => assert_eq!(block.match_line, all[at]),
            Some(_) => assert!(is_line(&block.match_line, &all[at])),
        }
        if !page.cut {
            let around = (context.min(at), context.min(all.len() - at - 1));
            assert_eq!((block.context_before.len(), block.context_after.len()), around, "{text}");
        }
        let before = at - block.context_before.len();
        let after = at + 1 + block.context_after.len();
        assert!(after <= all.len() && block.context_before.len() <= context);
        let same = |shown: &String, line: &String| is_line(shown, line);
        assert!(block.context_before.iter().zip(&all[before..at]).all(|(a, b)| same(a, b)));
        assert!(block.context_after.iter().zip(&all[at + 1..after]).all(|(a, b)| same(a, b)));
    }
    assert!(pages.iter().all(|page| page.matches.len() <= max));
}

/// An invented cursor shows a part of the same file.
pub(super) fn cursor(content: &[u8], packed: bool, mode: &Mode, cursor: Cursor) {
    let found = ask(&store(content, packed), mode.clone(), Some(cursor), 40);
    let all = all_shown(content);
    if matches!(mode, Mode::Grep { .. }) {
        assert!(found.total_lines.is_none_or(|total| total == all.len() as u64));
    }
    // Values are not shown like their lines.
    let whole = all.join("\n");
    let is_shown = matches!(mode, Mode::Select { .. }) || whole.contains(&added(&found).0);
    assert!(is_shown, "{:?} of {whole:?}", found.content);
    for block in &found.matches {
        let shown = block.context_before.iter().chain([&block.match_line]).chain(&block.context_after);
        for shown in shown {
            assert!(all.iter().any(|line| is_line(shown, line)), "{shown:?} of {all:?}");
        }
    }
}

/// The summary counts the whole file.
pub(super) fn summary(content: &[u8], packed: bool) {
    let found = ask(&store(content, packed), Mode::Summary, None, WHOLE);
    let summary = found.summary.unwrap();
    let lines = lines(content);
    assert_eq!((summary.lines, summary.bytes), (lines.len() as u64, content.len() as u64));
    let lengths = lines.iter().map(|line| line.strip_suffix(b"\r").unwrap_or(line).len() as u64);
    // The first of several lines with the same length.
    let longest = (1..).zip(lengths).max_by_key(|(line, bytes)| (*bytes, Reverse(*line)));
    assert_eq!(summary.longest_line, longest.map(|(line, bytes)| Longest { line, bytes }));
    let [errors, warnings] =
        [reference_answers::error_lines(&lines), reference_answers::warning_lines(&lines)];
    assert_eq!((summary.error_lines, summary.warning_lines), (errors, warnings));
}

fn all_shown(content: &[u8]) -> Vec<String> {
    lines(content).into_iter().map(shown).collect()
}

/// Joins pages in the order of the file.
fn joined<'a>(pages: impl Iterator<Item = &'a Found>) -> String {
    let mut whole = String::new();
    for (content, ends) in pages.filter(|page| page.start_line.is_some()).map(added) {
        whole += &content;
        whole += if ends { "\n" } else { "" };
    }
    whole
}

fn with_breaks(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What was shown of a line, with `…` where it was cut.
fn is_line(shown: &str, line: &str) -> bool {
    let part = shown.strip_prefix('…').unwrap_or(shown);
    let part = part.strip_suffix('…').unwrap_or(part);
    shown == line || shown != part && line.contains(part)
}
