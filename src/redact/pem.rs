//! Finds private keys: from `-----BEGIN … PRIVATE KEY-----` to the end marker, or in PuTTY files
//! from `Private-Lines: …` to `Private-MAC: …`.
//!
//! Keys are recognised by their markers, because their lines look like any other base64.

use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem;
use regex::Regex;

use crate::redact::{MARK, plausibility};

const MARKER: &str = "-{4,5} ?(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}\
    |Private-(?:Lines: ?[0-9]{1,4}\\b|MAC: ?[0-9a-f]{40,64})";
const ENDS: [&str; 2] = ["END ", "-MAC"];
/// Every marker contains one of these; the last is PuTTY's.
const NAMES: [&[u8]; 2] = [b"PRIVATE KEY", b"Private-"];
/// Minimum length of a line of a key; the first and last may be shortened.
const SHORTEST_LINE: usize = 16;
/// A run of base64 at least this long follows soon after a begin marker.
const SHORTEST_RUN: usize = 32;
const SOON: usize = 240;
/// A key ends after this many bytes, whether or not its end was seen.
const REACH: usize = 64 << 10;

/// The private keys of a text.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut keys = Vec::new();
    let (mut begun, mut seen) = (None, 0);
    for (is_end, marker) in markers(text) {
        match (begun, is_end) {
            (None, false) => begun = is_key(&text[marker.end..]).then_some(marker.start),
            (None, true) => {
                let lines = key_lines_before(&text[seen..marker.start]);
                keys.extend(lines.map(|start| seen + start..whole(text, marker.end)));
            }
            (Some(start), true) => {
                keys.push(start..whole(text, marker.end));
                begun = None;
            }
            (Some(_), false) => {}
        }
        seen = marker.end;
    }
    keys.extend(begun.into_iter().flat_map(|start| unterminated_key(text, start)));
    keys
}

/// A key without an end marker: its lines up to the maximum length, without other text between or
/// after them.
fn unterminated_key(text: &str, start: usize) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    // Tools that print several outputs prefix each line with a name.
    let name = text[..start].rsplit('\n').next().unwrap_or_default();
    let (mut from, mut is_inside) = (start, true);
    for line in text[start..].split_inclusive('\n') {
        if from - start > REACH {
            break;
        }
        let named = line.strip_prefix(name).unwrap_or(line).trim();
        let is_blank = named.is_empty();
        // A line may already be redacted as something else.
        let follows = is_inside && (goes_on(named) || named.starts_with(MARK));
        is_inside = from == start || is_inside && is_blank || follows || runs(named).any(is_run);
        if is_inside && !is_blank {
            let upto = from + line.trim_end_matches(['\r', '\n']).len();
            match parts.last_mut().filter(|part| text[part.end..from].trim().is_empty()) {
                Some(part) => part.end = upto,
                None => parts.push(from..upto),
            }
        }
        from += line.len();
    }
    parts
}

/// Whether a line may continue a key: the short last line, or a shortened one.
fn goes_on(line: &str) -> bool {
    let is_cut = |run: &str| run.len() >= SHORTEST_LINE && is_mixed(run);
    let line = bare(line);
    !line.is_empty() && line.bytes().all(is_base64) || runs(line).any(is_cut)
}

fn runs(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii() || !is_base64(c as u8))
}

/// Whether a text ends inside a key, given whether it begins in one.
pub(super) fn ends_inside(text: &str, inside: bool) -> bool {
    markers(text).last().map_or(inside, |(is_end, marker)| !is_end && is_key(&text[marker.end..]))
}

/// Whether a text may be one line of a key.
pub(super) fn is_line(line: &str) -> bool {
    line.len() >= SHORTEST_LINE && line.bytes().all(is_base64)
}

/// The last marker of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyMark {
    Begins { at: usize },
    Ends,
}

/// The last marker in bytes, considering the text after them.
pub(crate) fn last_mark(bytes: &[u8], after: &[u8]) -> Option<KeyMark> {
    has_key_marker_text(bytes).then_some(())?;
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    let end = text.len();
    text += &String::from_utf8_lossy(after);
    let (is_end, marker) = markers(&text).take_while(|(_, marker)| marker.end <= end).last()?;
    let begins = !is_end && is_key(&text[marker.end..]);
    Some(if begins { KeyMark::Begins { at: marker.start } } else { KeyMark::Ends })
}

/// Whether a line may belong to a key that began before it. Logged, quoted or numbered lines
/// contain more than the key.
pub(crate) fn may_be_line(line: &str) -> bool {
    let line = line.trim();
    let is_short = !line.is_empty() && line.bytes().all(is_base64);
    is_short || line.as_bytes().split(|c| !is_base64(*c)).any(|run| run.len() >= SHORTEST_LINE)
}

/// All markers of a text.
fn markers(text: &str) -> impl Iterator<Item = (bool, Range<usize>)> {
    static COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
    let regex = has_key_marker_text(text.as_bytes())
        .then(|| COMPILED.get_or_init(|| Regex::new(MARKER).ok()).as_ref())
        .flatten();
    let found = regex.into_iter().flat_map(move |regex| regex.find_iter(text));
    found.map(|marker| (ENDS.iter().any(|end| marker.as_str().contains(end)), marker.range()))
}

/// Whether bytes may contain a marker.
pub(crate) fn has_key_marker_text(bytes: &[u8]) -> bool {
    NAMES.iter().any(|name| memmem::find(bytes, name).is_some())
}

/// Whether a key follows its begin marker, or may follow if the text ends too early. Code, rules
/// and prose that mention the marker continue with something else.
fn is_key(after: &str) -> bool {
    let soon = &after.as_bytes()[..after.len().min(SOON)];
    let may_go_on = |c: &u8| is_base64(*c) || c.is_ascii_whitespace() || *c == b'\\';
    let is_run = |run: &[u8]| {
        run.len() >= SHORTEST_RUN && std::str::from_utf8(run).is_ok_and(plausibility::is_shuffled)
    };
    soon.len() < SOON && soon.iter().all(may_go_on) || soon.split(|c| !is_base64(*c)).any(is_run)
}

/// Where the lines of a key at the end of `text` begin, if there are any. Line breaks may be
/// escaped or replaced by spaces, and lines may be numbered. Other text may precede the first line.
pub(crate) fn key_lines_before(text: &str) -> Option<usize> {
    let (mut start, mut is_key) = (None, false);
    let mut rest = text;
    loop {
        let bytes = rest.as_bytes();
        let is_break = |at: &usize| matches!(bytes[*at], b'\n' | b' ') || bytes[..=*at].ends_with(br"\n");
        let line_start = (0..bytes.len()).rev().find(is_break).map_or(0, |at| at + 1);
        let line = bare(&rest[line_start..]);
        let spaced = line_start > 0 && bytes[line_start - 1] == b' ' || text[rest.len()..].starts_with(' ');
        let is_long = line.len() >= SHORTEST_LINE && (!spaced || is_run(line));
        if !line.bytes().all(is_base64) {
            let run = last_run(line);
            if is_key && is_run(run) {
                start = Some(run.as_ptr() as usize - text.as_ptr() as usize);
            }
            break;
        }
        if !(is_long || line.is_empty() || start.is_none() || line_start == 0) {
            break;
        }
        is_key |= is_long;
        start = if line.is_empty() { start } else { Some(line_start) };
        if line_start == 0 {
            break;
        }
        rest = &rest[..line_start - if bytes[line_start - 1] == b'n' { 2 } else { 1 }];
    }
    start.filter(|_| is_key)
}

/// Where key lines at the end of a text begin that are recognised by their looks only.
pub(crate) fn open_key_at_end(text: &str) -> Option<usize> {
    key_lines_before(text).filter(|start| text[*start..].lines().any(|line| is_run(bare(line))))
}

/// The part at the end of a text that may belong to a key.
fn last_run(text: &str) -> &str {
    let start = text.bytes().rposition(|c| !is_base64(c)).map_or(0, |at| at + 1);
    &text[start..]
}

/// Whether it can hardly be anything but base64.
fn is_run(run: &str) -> bool {
    run.len() >= SHORTEST_RUN && is_mixed(run)
}

fn is_mixed(run: &str) -> bool {
    let has = |sort: fn(&u8) -> bool| run.as_bytes().iter().any(sort);
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// If the first marker of a text is an end marker: the range from the first line of that key to the
/// marker.
pub(crate) fn first_end(text: &str) -> Option<Range<usize>> {
    let (is_end, marker) = markers(text).next()?;
    let start = if is_end { key_lines_before(&text[..marker.start]) } else { None };
    start.map(|start| start..marker.end)
}

/// Whether a line contains a marker.
pub(crate) fn has_marker(line: &str) -> bool {
    markers(line).next().is_some()
}

/// Whether a line may belong to a key that ends in or after it.
pub(crate) fn may_be_before_end(line: &str) -> bool {
    let marker = markers(line).next().map(|(_, marker)| marker);
    let before = marker.as_ref().map_or(line, |marker| &line[..marker.start]);
    let last = before.rsplit(r"\n").map(bare).find(|line| !line.is_empty());
    let hangs_on = marker.is_some_and(|marker| whole(line, marker.end) > marker.end);
    hangs_on || last.is_some_and(|last| last.bytes().all(is_base64) || is_run(last_run(last)))
}

/// A line of a key without quoting or numbering.
fn bare(line: &str) -> &str {
    let line = line.trim_end_matches(['\r', ' ', '\t', '"', '\\', ',']);
    line.trim_start_matches(|c: char| c.is_ascii_digit() || " \t\"|:>+-".contains(c))
}

/// The end of a marker, including characters attached to it.
fn whole(text: &str, end: usize) -> usize {
    end + text[end..].bytes().take_while(|c| is_base64(*c) || matches!(c, b'-' | b'_')).count()
}

fn is_base64(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'+' | b'/' | b'=')
}
