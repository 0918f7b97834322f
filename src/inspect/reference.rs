//! The same answers found the slow way, to compare with.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::piece::{goes_on, unredacted};
use super::sight::Sight;
use super::{Ask, Case, Cursor, Found, Mode, Pattern, Wanted, inspect};
use crate::host::joined::Joined;
use crate::progress::plain;
use crate::redact;

/// A file with this content, which has no name.
pub(super) fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file.seek(SeekFrom::End(0)).unwrap();
    file
}

pub(super) fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

/// The lines of a content, without their breaks.
pub(super) fn lines(content: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = content.split(|c| *c == b'\n').collect();
    lines.pop_if(|last| last.is_empty());
    lines
}

/// A line as it is shown, outside of private keys.
pub(super) fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = plain::line_of_text(&String::from_utf8_lossy(line)).replace('\n', " ");
    redact::text(&text).replace('\r', "^M")
}

/// The numbers of the lines that match as they are shown. Their bytes match, or
/// that tells nothing: they have something that is not shown as it is, or a
/// secret that the pattern sees.
pub(super) fn grep(content: &[u8], text: &str) -> Vec<u64> {
    let mut shows = regex::RegexBuilder::new(text);
    let shows = shows.case_insensitive(true).multi_line(true).crlf(true).build().unwrap();
    let mut matches = regex::bytes::RegexBuilder::new(text);
    let matches = matches.case_insensitive(true).multi_line(true).crlf(true).build().unwrap();
    let pattern = pattern(text);
    let hides = |line: &[u8]| match pattern.sight {
        Sight::Text => {
            pattern.loose.is_some() && pattern.may_match(line, 0) && redact::suspects(line).next().is_some()
        }
        Sight::Marks => {
            redact::suspects(line).any(|(_, kind)| kind.is_none_or(|kind| pattern.kinds.contains(kind)))
        }
        Sight::EveryLine => true,
    };
    let is_found = |before: &[u8], line: &[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let continues = pattern.sight == Sight::Marks && goes_on(before);
        let told = unredacted(line) != String::from_utf8_lossy(line) || hides(line) || continues;
        shows.is_match(&shown(line)) && (told || matches.is_match(line))
    };
    let all = lines(content);
    let before = [&b""[..]].into_iter().chain(all.iter().copied());
    let numbered = (1..).zip(before.zip(all.iter().copied()));
    numbered.filter(|(_, (before, line))| is_found(before, line)).map(|(number, _)| number).collect()
}

/// The numbers of all lines that match as they are shown.
pub(super) fn grep_as_shown(content: &[u8], text: &str) -> Vec<u64> {
    let mut shows = regex::RegexBuilder::new(text);
    let shows = shows.case_insensitive(true).multi_line(true).crlf(true).build().unwrap();
    let numbered = (1..).zip(lines(content));
    numbered.filter(|(_, line)| shows.is_match(&shown(line))).map(|(number, _)| number).collect()
}

pub(super) fn ask(stored: &[u8], mode: Mode, cursor: Option<Cursor>, room: usize) -> Found {
    inspect(Joined::whole(file(stored)).unwrap(), None, &Ask { mode, cursor, room }, Wanted::always())
        .unwrap()
}

/// Every page there is, by following the cursor.
pub(super) fn pages(stored: &[u8], mode: &Mode, room: usize) -> Vec<Found> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = ask(stored, mode.clone(), cursor, room);
        // As a client hands it back.
        cursor = page.next.map(|next| next.to_string().parse().unwrap());
        pages.push(page);
        if cursor.is_none() {
            return pages;
        }
        assert!(pages.len() < 100_000, "the pages have no end");
    }
}

/// What a page adds to the whole, and whether a line break comes after it.
pub(super) fn added(page: &Found) -> (String, bool) {
    let partial = page.partial_line;
    let begins_before = partial.is_some_and(|line| line.begins_before);
    let goes_on = partial.is_some_and(|line| line.goes_on);
    let content = page.content.as_str();
    let content = if begins_before { content.strip_prefix('…').unwrap() } else { content };
    let content = if goes_on { content.strip_suffix('…').unwrap() } else { content };
    (content.to_owned(), !goes_on)
}

pub(super) fn pattern(text: &str) -> Pattern {
    Pattern::new(text, Case::Ignored).unwrap()
}

pub(super) fn find(pattern: &str, context: usize, max_matches: usize) -> Mode {
    Mode::Grep { pattern: self::pattern(pattern), context, max_matches }
}
