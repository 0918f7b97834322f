//! Takes secrets out of whatever leaves: keys of common vendors, private keys,
//! headers, passwords in addresses, and values whose names say what they are.
//!
//! A guard against accidents, not a boundary: raw files stay as they are for
//! their owner. A secret becomes `[redacted:<kind>]`, which tells nothing of
//! its length. Redact before cutting: half a key is not recognised.

mod context_rules;
mod human_words;
mod literal_finder;
mod name_suffixes;
mod named_values;
mod pem;
mod plausibility;
mod rules;
mod suspect_lines;
#[cfg(test)]
mod tests;
mod unescape;
mod vendors;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use literal_finder::{Anchor, Owner};
use plausibility::MARK;
use unescape::Unescaped;

pub(crate) use pem::{
    KeyMark, first_end as first_key_end, has_marker as has_key_marker, key_lines_before,
    last_mark as last_key_mark, may_be_before_end as may_be_before_key_end, may_be_line as may_be_key_line,
    names_key, open_key_at_end,
};
pub(crate) use suspect_lines::Suspects;

/// No secret is shorter together with what tells it.
const SHORTEST: usize = 8;
const LONGEST_MARK: usize = 32;
const MOST_PASSES: usize = 4;
const PRIVATE_KEY: &str = "private-key";

/// The text without its secrets.
pub(crate) fn text(input: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(input);
    // What stands in place of one secret may make the next one plain.
    for _ in 0..MOST_PASSES {
        match once(&shown) {
            Some(redacted) => shown = Cow::Owned(redacted),
            None => break,
        }
    }
    shown
}

/// The text without the secrets that show at once; nothing where there are none.
fn once(input: &str) -> Option<String> {
    let spans = spans(input);
    (!spans.is_empty()).then(|| marked(input, &spans))
}

fn marked(input: &str, spans: &[Span]) -> String {
    let mut shown = String::with_capacity(input.len());
    let mut done = 0;
    for Span { range, kind } in spans {
        shown.push_str(&input[done..range.start]);
        shown.push_str(&mark(kind));
        done = range.end;
    }
    shown.push_str(&input[done..]);
    shown
}

/// A part of a text without secrets, judged by the whole. What stands for a
/// secret that is cut by an end of the part belongs to where it begins, so that
/// adjoining parts make up the redacted text.
pub(crate) fn part(whole: &str, part: Range<usize>) -> String {
    let mut ends = [part.start, part.end];
    placed(whole, &mut ends)[ends[0]..ends[1]].to_owned()
}

/// The text without its secrets; the places in it are moved to where they are
/// then, so that what is between two of them is that part.
pub(crate) fn placed<'a>(whole: &'a str, places: &mut [usize]) -> Cow<'a, str> {
    let mut shown = Cow::Borrowed(whole);
    for _ in 0..MOST_PASSES {
        let spans = spans(&shown);
        if spans.is_empty() {
            break;
        }
        places.iter_mut().for_each(|place| *place = moved(&spans, *place));
        shown = Cow::Owned(marked(&shown, &spans));
    }
    shown
}

/// Where a position is once marks stand for the spans.
fn moved(spans: &[Span], at: usize) -> usize {
    let (mut before, mut marks) = (0, 0);
    for Span { range, kind } in spans.iter().take_while(|span| span.range.start < at) {
        before += range.end.min(at) - range.start;
        marks += mark(kind).len();
    }
    at - before + marks
}

/// How much must be known beyond a cut to see a secret that it goes through.
pub(crate) const MARGIN: usize = 4 << 10;

/// `part`, the beginning of `more`, without secrets: what only `more` shows to
/// be one is left out, so that no half of it is told.
pub(crate) fn beginning(part: &str, more: &str) -> String {
    let (part, more) = (text(part), text(more));
    let same = part.char_indices().zip(more.chars()).find(|((_, a), b)| a != b);
    let end = same.map_or(part.len().min(more.len()), |((at, _), _)| at);
    part[..end].to_owned()
}

/// As [`beginning`], for a `part` that `more` ends with; and how many bytes of
/// the part may be told only with what stands before it.
pub(crate) fn ending(part: &str, more: &str) -> (String, usize) {
    let (part, more) = (text(part), text(more));
    let alike = part.chars().rev().zip(more.chars().rev()).take_while(|(a, b)| a == b);
    let untold = part.len() - alike.map(|(a, _)| a.len_utf8()).sum::<usize>();
    (part[untold..].to_owned(), untold)
}

/// Takes the secrets out of every string of a value, the names of members
/// included. What has which type, and how many there are of it, stays.
pub(crate) fn value(value: &mut Value) {
    match value {
        Value::String(string) => replace(string),
        Value::Array(items) => {
            let mut inside_key = false;
            for item in items {
                inside_key = match item {
                    Value::String(line) => lines(line, inside_key),
                    _ => inside_key,
                };
                self::value(item);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                let kind = member.as_str().and_then(|value| named_values::member(name, value));
                match kind {
                    Some(kind) => *member = Value::String(mark(kind)),
                    None => self::value(member),
                }
            }
            names(members);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A part of a text that is a secret.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    range: Range<usize>,
    kind: &'static str,
}

/// The secrets of a text in their order, none over another.
fn spans(text: &str) -> Vec<Span> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut found = found(text);
    if let Some(unescaped) = Unescaped::of(text) {
        let spans = self::found(&unescaped.text).into_iter();
        let spans = spans.map(|(rank, span)| (rank, Span { range: unescaped.original(&span.range), ..span }));
        // A key goes from its beginning to its end, whatever is between.
        found.extend(spans.filter(|(_, span)| span.kind == PRIVATE_KEY || !reaches_mark(text, &span.range)));
    }
    merge(found)
}

/// The secrets of a text as it is written, with how exactly each is known.
fn found(text: &str) -> Vec<(usize, Span)> {
    let keys = pem::find(text).into_iter().map(|range| (0, Span { range, kind: PRIVATE_KEY }));
    let mut found: Vec<(usize, Span)> = keys.collect();
    // Up to where the text was read, for each rule and for the names.
    let mut read = [0; rules::RULES.len() + 1];
    for anchor in literal_finder::find(text.as_bytes()) {
        let (rank, secret): (usize, &dyn Fn() -> _) = match anchor.owner {
            Owner::Rule(at) => (at, &move || rules::find(text, at, anchor.start)),
            Owner::Name => (rules::RULES.len(), &|| named_values::find(text, anchor.start..anchor.end)),
            Owner::Escape => continue,
        };
        if anchor.start < read[rank] {
            continue;
        }
        let Some((range, kind)) = secret() else { continue };
        read[rank] = range.end;
        if !reaches_mark(text, &range) {
            found.push((rank + 1, Span { range, kind }));
        }
    }
    found
}

/// Makes one span of those that overlap; the kind is of the most exact.
fn merge(mut found: Vec<(usize, Span)>) -> Vec<Span> {
    found.sort_by_key(|(rank, span)| (span.range.start, *rank));
    let mut merged: Vec<(usize, Span)> = Vec::with_capacity(found.len());
    for (rank, span) in found {
        match merged.last_mut() {
            Some((best, last)) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                if rank < *best {
                    (*best, last.kind) = (rank, span.kind);
                }
            }
            _ => merged.push((rank, span)),
        }
    }
    merged.into_iter().map(|(_, span)| span).collect()
}

/// Where in bytes that may be text a secret may be, private keys apart: every
/// line with a secret of a kind has one of these positions, of that kind or of
/// none: what is escaped may be any.
pub(crate) fn suspects(bytes: &[u8]) -> impl Iterator<Item = (usize, Option<&'static str>)> {
    let kind = |anchor: &Anchor| String::from_utf8_lossy(&bytes[anchor.start..anchor.end]).into_owned();
    literal_finder::find(bytes).map(move |anchor| (anchor.start, anchor.owner.kind(&kind(&anchor))))
}

/// Every kind of secret.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    let named = named_values::KINDS.iter().copied().chain([PRIVATE_KEY]);
    rules::RULES.iter().map(|rule| rule.kind).chain(named)
}

/// What is shown for a line of a private key.
pub(crate) fn key_mark() -> String {
    mark(PRIVATE_KEY)
}

/// What stands in place of a secret.
pub(crate) fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Whether part of a range was redacted before.
fn reaches_mark(text: &str, range: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(range.start.saturating_sub(LONGEST_MARK));
    text[from..range.end].match_indices(MARK).any(|(at, _)| {
        let kind = from + at + MARK.len();
        let end = kind + text[kind..].bytes().take_while(|c| c.is_ascii_lowercase() || *c == b'-').count();
        text[end..].starts_with(']') && end >= range.start
    })
}

fn replace(string: &mut String) {
    if let Cow::Owned(shown) = text(string) {
        *string = shown;
    }
}

/// Redacts one of several lines that may be inside a private key, and says
/// whether the next one is.
fn lines(line: &mut String, inside_key: bool) -> bool {
    let next = pem::ends_inside(line, inside_key);
    if inside_key && pem::is_line(line) {
        *line = mark(PRIVATE_KEY);
    }
    next
}

/// Redacts the names of members. Two that become alike are told apart.
fn names(members: &mut Map<String, Value>) {
    if members.keys().all(|name| matches!(text(name), Cow::Borrowed(_))) {
        return;
    }
    let mut number = 1;
    for (name, member) in std::mem::take(members) {
        let shown = text(&name).into_owned();
        let mut unique = shown.clone();
        while members.contains_key(&unique) {
            number += 1;
            unique = format!("{shown} {number}");
        }
        members.insert(unique, member);
    }
}
