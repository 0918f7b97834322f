//! Redacts secrets from all output: vendor keys, private keys, headers, passwords in URLs, and
//! values whose names mark them as secret.
//!
//! A guard against accidents, not a security boundary: raw files stay unchanged for their owner. A
//! secret becomes `[redacted:<kind>]`, which does not reveal its length. Redact before shortening,
//! because half a key is not recognised.

mod context_rules;
mod human_words;
mod literal_finder;
mod name_suffixes;
mod named_values;
mod pem;
mod plausibility;
mod rules;
mod suspect_lines;
// Beside the cases that it reads.
#[cfg(test)]
#[path = "../../tests/redaction/redact.rs"]
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
    KeyMark, first_end as first_key_end, has_key_marker_text, has_marker as has_key_marker, key_lines_before,
    last_mark as last_key_mark, may_be_before_end as may_be_before_key_end, may_be_line as may_be_key_line,
    open_key_at_end,
};
pub(crate) use suspect_lines::SuspectFinder;

/// No secret is shorter, including what identifies it.
const SHORTEST: usize = 8;
const LONGEST_MARK: usize = 32;
const MOST_PASSES: usize = 4;
const PRIVATE_KEY: &str = "private-key";

/// Redacts a text.
pub(crate) fn text(input: &str) -> Cow<'_, str> {
    let mut shown = Cow::Borrowed(input);
    // Replacing one secret may expose another.
    for _ in 0..MOST_PASSES {
        match redact_once(&shown) {
            Some(redacted) => shown = Cow::Owned(redacted),
            None => break,
        }
    }
    shown
}

/// One redaction pass; `None` if nothing was found.
fn redact_once(input: &str) -> Option<String> {
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

/// A part of a text, redacted in the context of the whole. The mark of a secret that an edge cuts
/// belongs to the part where it begins, so that adjoining parts add up to the redacted whole.
pub(crate) fn part(whole: &str, part: Range<usize>) -> String {
    let mut ends = [part.start, part.end];
    placed(whole, &mut ends)[ends[0]..ends[1]].to_owned()
}

/// Redacts a text and moves the `places` in it to their positions in the result.
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

/// The position `at` after the spans are replaced by marks.
fn moved(spans: &[Span], at: usize) -> usize {
    let (mut before, mut marks) = (0, 0);
    for Span { range, kind } in spans.iter().take_while(|span| span.range.start < at) {
        before += range.end.min(at) - range.start;
        marks += mark(kind).len();
    }
    at - before + marks
}

/// How much text beyond a cut is needed to recognise a secret that it splits.
pub(crate) const MARGIN: usize = 4 << 10;

/// Redacts `part`, the beginning of `more`. Leaves out what only `more` shows to be a secret.
pub(crate) fn beginning(part: &str, more: &str) -> String {
    let (part, more) = (text(part), text(more));
    let same = part.char_indices().zip(more.chars()).find(|((_, a), b)| a != b);
    let end = same.map_or(part.len().min(more.len()), |((at, _), _)| at);
    part[..end].to_owned()
}

/// Like [`beginning`], for a `part` at the end of `more`. Also returns the number of bytes left
/// out.
pub(crate) fn ending(part: &str, more: &str) -> (String, usize) {
    let (part, more) = (text(part), text(more));
    let alike = part.chars().rev().zip(more.chars().rev()).take_while(|(a, b)| a == b);
    let untold = part.len() - alike.map(|(a, _)| a.len_utf8()).sum::<usize>();
    (part[untold..].to_owned(), untold)
}

/// Redacts all strings of a value, including member names. Types and counts do not change.
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

/// A secret within a text.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    range: Range<usize>,
    kind: &'static str,
}

/// The secrets of a text in order, without overlap.
fn spans(text: &str) -> Vec<Span> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut found = found(text);
    if let Some(unescaped) = Unescaped::of(text) {
        let spans = self::found(&unescaped.text).into_iter();
        let spans = spans.map(|(rank, span)| (rank, Span { range: unescaped.original(&span.range), ..span }));
        // A private key spans from its beginning to its end, whatever is between.
        found.extend(spans.filter(|(_, span)| span.kind == PRIVATE_KEY || !reaches_mark(text, &span.range)));
    }
    merge(found)
}

/// The secrets of a text as written, with the rank of the rule that found each.
fn found(text: &str) -> Vec<(usize, Span)> {
    let keys = pem::find(text).into_iter().map(|range| (0, Span { range, kind: PRIVATE_KEY }));
    let mut found: Vec<(usize, Span)> = keys.collect();
    // For each rule and for names: the position up to which it has matched.
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

/// Merges overlapping spans; the lowest rank determines the kind.
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

/// Positions in bytes at which a secret may be, except private keys. Every line with a secret of
/// some kind has a position with that kind or with none: an escape may hide any kind.
pub(crate) fn suspects(bytes: &[u8]) -> impl Iterator<Item = (usize, Option<&'static str>)> {
    let kind = |anchor: &Anchor| String::from_utf8_lossy(&bytes[anchor.start..anchor.end]).into_owned();
    literal_finder::find(bytes).map(move |anchor| (anchor.start, anchor.owner.kind(&kind(&anchor))))
}

/// All kinds of secrets.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    let named = named_values::KINDS.iter().copied().chain([PRIVATE_KEY]);
    rules::RULES.iter().map(|rule| rule.kind).chain(named)
}

/// The mark for a line of a private key.
pub(crate) fn key_mark() -> String {
    mark(PRIVATE_KEY)
}

/// The mark that replaces a secret.
pub(crate) fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// Whether a range overlaps an earlier redaction.
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

/// Redacts one of several lines that may be inside a private key. Returns whether the next one is.
fn lines(line: &mut String, inside_key: bool) -> bool {
    let next = pem::ends_inside(line, inside_key);
    if inside_key && pem::is_line(line) {
        *line = mark(PRIVATE_KEY);
    }
    next
}

/// Redacts member names and keeps them unique.
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
