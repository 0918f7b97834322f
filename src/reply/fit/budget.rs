//! Shortens a reply to its budget and tells the caller. What is cut stays on disk.
//!
//! Output, last words and events are taken out first and cut to the space that the rest leaves
//! (`tail_fields.rs`). The rest is shortened as much as needed (`size_caps.rs`). No member is removed and no
//! type changes. Strings that are useless when cut (ids, enum values, times, paths) stay whole, so the reply
//! still fits its schema. Lengths are characters of compact JSON.

use std::borrow::Cow;

use serde_json::Value;

use crate::reply::fit::size_caps::{Caps, beside, cost};
use crate::reply::fit::tail_fields::Ends;

/// The maximum length of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget {
    pub(crate) chars: usize,
}

impl Budget {
    /// For a reply unless the caller asked for more.
    pub(crate) const USUAL: Budget = Budget { chars: 8_000 };
    /// For any reply: clients reject or hide longer ones.
    pub(crate) const MOST: Budget = Budget { chars: 20_000 };
    /// A terminal has no length limit.
    pub(crate) const ENDLESS: Budget = Budget { chars: usize::MAX };
}

/// What was cut to fit a reply into its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The length of the whole reply before cutting.
    pub(crate) chars_before: usize,
    /// How many strings were shortened.
    pub(crate) strings: usize,
    /// How many items of arrays were left out.
    pub(crate) items: usize,
}

/// The space available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// In the whole reply.
    pub(crate) chars: usize,
    /// In the text, for a run's output and events.
    pub(crate) shown: usize,
}

/// Shortens `value` to fit, and returns what was cut; `None` if it fits as it is.
///
/// A value with too many members, numbers and ids is shortened as far as possible.
pub(crate) fn fit(value: &mut Value, room: Room) -> Option<Cut> {
    let chars_before = cost(value);
    let mut ends = Ends::take(value);
    if chars_before <= room.chars && ends.shown_size() <= room.shown {
        ends.put(value);
        return None;
    }
    let mut cut = Cut { chars_before, strings: 0, items: 0 };
    if chars_before > room.chars {
        let most = rest_of(value, ends.need(), room.chars).saturating_sub(beside(value));
        if !Caps::NONE.fits(value, most) {
            Caps::widest(value, most).apply(value, &mut cut);
        }
    }
    ends.cut(room.chars.saturating_sub(cost(value)), room.shown, &mut cut);
    ends.put(value);
    Some(cut)
}

/// The part of `limit` that `rest` gets if the tail fields need this much. Tail fields may take the larger
/// part, unless too little would be left for the rest; they always get a quarter.
fn rest_of(rest: &Value, ends: usize, limit: usize) -> usize {
    let mut left = limit;
    Caps::TELLING.spend(rest, &mut left);
    let telling = (limit - left).min(limit - ends.min(limit / 4));
    telling.max(limit - ends.min(limit / 5 * 3))
}

/// The text, or its beginning and a line with the full length: `limit` characters including that line.
pub(crate) fn fit_text(text: &str, limit: usize, all: usize) -> Cow<'_, str> {
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let end = if text.ends_with('\n') { "\n" } else { "" };
    let note = format!("{CUT} (cut: {all} characters in all){end}");
    match limit.checked_sub(note.chars().count() + 1) {
        None => Cow::Owned(shortened(text, limit)),
        Some(room) => {
            let head = first(text, room);
            let line_end = head.rfind('\n').filter(|at| *at >= head.len() / 2);
            let head = &head[..line_end.unwrap_or_else(|| word_end(text, head.len()))];
            Cow::Owned(format!("{}\n{note}", head.trim_end()))
        }
    }
}

const CUT: char = '…';

/// At most `cap` characters ending in `…`, cut after a line or word if possible.
pub(crate) fn shortened(text: &str, cap: usize) -> String {
    let Some(room) = cap.checked_sub(1) else { return String::new() };
    let head = first(text, room);
    let late = head.len() - head.len() / 4;
    let line_end = head.rfind('\n').filter(|at| *at >= late).map(|at| at + 1);
    format!("{}{CUT}", &head[..line_end.unwrap_or_else(|| word_end(text, head.len()))])
}

/// The end of the last whole word before `end`, unless it is too far away.
fn word_end(text: &str, end: usize) -> usize {
    if text[end..].starts_with(char::is_whitespace) {
        return end;
    }
    let mut late = text[..end].char_indices().rev().take(40).take_while(|(at, _)| *at >= end / 2);
    late.find(|(_, c)| c.is_whitespace()).map_or(end, |(at, c)| at + c.len_utf8())
}

/// The first `count` characters.
pub(crate) fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
#[path = "../../../tests/reply/budget_tests.rs"]
mod tests;
