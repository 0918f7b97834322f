//! Computes the same answers in a simple, slow way, for comparison.

#![allow(clippy::unwrap_used, reason = "what is not there breaks a promise, and a test ends")]

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use regex::bytes::{Regex, RegexBuilder};

use crate::host::MultiFileReader;
use crate::inspect::line_pieces::{goes_on, unredacted};
use crate::inspect::pattern_visibility::Sight;
use crate::inspect::{Ask, Case, Cursor, Found, Mode, Pattern, Wanted, inspect, timestamp};
use crate::redact;
use crate::text::plain;

/// A file with this content and without a name.
pub(super) fn file(content: &[u8]) -> File {
    #[cfg(fuzzing)]
    let mut file = File::from(rustix::fs::memfd_create("content", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
    #[cfg(not(fuzzing))]
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

/// The lines of some content, without their breaks.
pub(super) fn lines(content: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = content.split(|c| *c == b'\n').collect();
    lines.pop_if(|last| last.is_empty());
    lines
}

/// A line as it is shown outside private keys.
pub(super) fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = plain::line_of_text(&String::from_utf8_lossy(line)).replace('\n', " ");
    redact::text(&text).replace('\r', "^M")
}

/// The numbers of the lines that match as shown. Either their bytes match, or their bytes are not conclusive:
/// they contain something that is shown differently, or a secret that the pattern can see.
pub(super) fn grep(content: &[u8], pattern: &Pattern, case: Case) -> Vec<u64> {
    let regex = regex(pattern.text(), case);
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
        regex.is_match(shown(line).as_bytes()) && (told || regex.is_match(line))
    };
    let all = lines(content);
    let before = [&b""[..]].into_iter().chain(all.iter().copied());
    let numbered = (1..).zip(before.zip(all.iter().copied()));
    numbered.filter(|(_, (before, line))| is_found(before, line)).map(|(number, _)| number).collect()
}

/// The numbers of all lines that match as shown.
pub(super) fn grep_as_shown(content: &[u8], text: &str, case: Case) -> Vec<u64> {
    let regex = regex(text, case);
    let numbered = (1..).zip(lines(content));
    numbered.filter(|(_, line)| regex.is_match(shown(line).as_bytes())).map(|(number, _)| number).collect()
}

/// How many lines report an error.
pub(super) fn error_lines(lines: &[&[u8]]) -> u64 {
    let names = ["error", "errors", "exception", "exceptions"].map(|word| (word, false));
    let words = ["fatal", "panic", "panicked", "traceback", "failed", "failure", "failures", "critical"];
    let words: Vec<_> = names.into_iter().chain(words.map(|word| (word, true))).collect();
    count(lines, &words, b"EF")
}

/// How many lines contain a warning.
pub(super) fn warning_lines(lines: &[&[u8]]) -> u64 {
    count(lines, &["warn", "warning", "warnings"].map(|word| (word, true)), b"W")
}

/// How many lines contain one of these words, some of which must begin at a word start, or begin with one of
/// these levels.
fn count(lines: &[&[u8]], words: &[(&str, bool)], levels: &[u8]) -> u64 {
    let is_of_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let has = |line: &[u8], (word, alone): &(&str, bool)| {
        (0..line.len()).any(|at| {
            let (before, from) = line.split_at(at);
            let is_word =
                from.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()));
            let begins = !alone || !before.last().is_some_and(is_of_word);
            let number = before.strip_suffix(b"0 ").map(|before| before.last());
            let is_none = number.is_some_and(|last| {
                !last.is_some_and(|byte| byte.is_ascii_alphanumeric() || b".,".contains(byte))
            });
            is_word && begins && !is_none && !from.get(word.len()).is_some_and(is_of_word)
        })
    };
    let is_level = |line: &[u8]| timestamp::klog_level(line).is_some_and(|level| levels.contains(&level));
    let says = |line: &&&[u8]| is_level(line) || words.iter().any(|word| has(line, word));
    lines.iter().filter(says).count() as u64
}

fn regex(text: &str, case: Case) -> Regex {
    let mut regex = RegexBuilder::new(text);
    regex.case_insensitive(case == Case::Ignored).multi_line(true).crlf(true).build().unwrap()
}

pub(super) fn ask(stored: &[u8], mode: Mode, cursor: Option<Cursor>, room: usize) -> Found {
    inspect(
        MultiFileReader::whole(file(stored)).unwrap(),
        None,
        &Ask { mode, cursor, room },
        Wanted::always(),
    )
    .unwrap()
}

/// All pages, by following the cursor.
pub(super) fn pages(stored: &[u8], mode: &Mode, room: usize) -> Vec<Found> {
    let (mut pages, mut cursor) = (Vec::new(), None);
    loop {
        let page = ask(stored, mode.clone(), cursor, room);
        // As a client passes it back.
        cursor = page.next.map(|next| next.to_string().parse().unwrap());
        pages.push(page);
        if cursor.is_none() {
            return pages;
        }
        assert!(pages.len() < 100_000, "the pages have no end");
    }
}

/// What a page adds to the whole, and whether a line break follows.
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
