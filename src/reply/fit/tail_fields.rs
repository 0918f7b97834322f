//! The fields of a reply whose ends matter most: a run's output, its last words and its last events.
//!
//! They are taken out before the rest is shortened, and then cut once to the space that the rest leaves.
//! Streams keep both ends; tails and events keep their last part.

use serde_json::Value;

use crate::reply::agent_answer;
use crate::reply::event_digest;
use crate::reply::fit::budget::Cut;
use crate::reply::fit::shorten_stream::ends_of;
use crate::reply::fit::size_caps::{Caps, cost};

/// Where a reply about one run may hold that run.
const ROOTS: [&str; 3] = ["/data/result", "/data", ""];

const EVENTS: &str = "/events/items";

/// Below the run: the path, which part is kept, and the title in the text.
const PLACES: [(&str, Keep, Option<&str>); 6] = [
    ("/answer", Keep::Both, Some("answer")),
    ("/output/stdout", Keep::Both, Some("stdout")),
    ("/output/stderr", Keep::Both, Some("stderr")),
    (EVENTS, Keep::Last, Some("events")),
    ("/metadata/error_context/partial_results/last_output", Keep::Last, None),
    ("/metadata/error_context/partial_results/last_events", Keep::Last, None),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Keeps the beginning and the end.
    Both,
    /// Keeps the end.
    Last,
}

/// The fields taken out of one reply.
#[derive(Debug)]
pub(crate) struct Ends {
    root: &'static str,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    place: &'static str,
    keep: Keep,
    /// Whether the text shows it.
    told: bool,
    value: Value,
    cut: bool,
}

/// What the text shows under `title`, if the structured content has it.
pub(crate) fn shown_body(structured: &Value, title: &str) -> Option<String> {
    let (place, ..) = PLACES.iter().find(|(_, _, told)| *told == Some(title))?;
    match structured.pointer(&format!("{}{place}", root(structured)?))? {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) if *place == EVENTS => Some(event_digest::lines(items)),
        other => Some(agent_answer::body(other)),
    }
}

fn root(structured: &Value) -> Option<&'static str> {
    let is_run = |root: &str| structured.pointer(&format!("{root}/output")).is_some_and(Value::is_object);
    ROOTS.into_iter().find(|root| is_run(root))
}

impl Ends {
    /// Takes the fields out of `structured`; empty ones stay.
    pub(crate) fn take(structured: &mut Value) -> Self {
        let Some(root) = root(structured) else { return Self { root: "", parts: Vec::new() } };
        let mut parts = Vec::new();
        for (place, keep, title) in PLACES {
            let value = match structured.pointer_mut(&format!("{root}{place}")) {
                Some(Value::String(text)) => Value::String(std::mem::take(text)),
                Some(Value::Array(items)) => Value::Array(std::mem::take(items)),
                Some(_) | None => continue,
            };
            parts.push(Part { place, keep, told: title.is_some(), value, cut: false });
        }
        Self { root, parts }
    }

    /// Their size in characters of JSON beyond that of empty fields.
    pub(crate) fn need(&self) -> usize {
        self.parts.iter().map(Part::need).sum()
    }

    /// The size of those that the text also shows. It is the same in the text.
    pub(crate) fn shown_size(&self) -> usize {
        self.parts.iter().filter(|part| part.told).map(Part::need).sum()
    }

    /// Cuts them to `room` characters in total, and those in the text to `shown`.
    pub(crate) fn cut(&mut self, room: usize, shown: usize, cut: &mut Cut) {
        let untold = self.need() - self.shown_size();
        // Fields that the text does not show mostly repeat what it shows.
        let most = room.saturating_sub(untold.min(room / 8)).min(shown);
        let used = share(self.parts.iter_mut().filter(|part| part.told).collect(), most, cut);
        share(self.parts.iter_mut().filter(|part| !part.told).collect(), room.saturating_sub(used), cut);
    }

    /// Puts the fields back, and marks streams that were cut.
    pub(crate) fn put(self, structured: &mut Value) {
        let Self { root, parts } = self;
        for Part { place, value, cut, .. } in parts {
            if let Some(there) = structured.pointer_mut(&format!("{root}{place}")) {
                *there = value;
            }
            if cut
                && place.starts_with("/output/")
                && let Some(truncated) = structured.pointer_mut(&format!("{root}/output/truncated"))
            {
                *truncated = true.into();
            }
        }
    }
}

/// Cuts the fields to `room` in total, and returns their size.
fn share(parts: Vec<&mut Part>, room: usize, cut: &mut Cut) -> usize {
    let needs: Vec<usize> = parts.iter().map(|part| part.need()).collect();
    let mut used = 0;
    for (part, most) in parts.into_iter().zip(shares(&needs, room)) {
        part.fit(most, cut);
        used += part.need();
    }
    used
}

/// Shares `room`: everyone gets the same, and what some leave over goes to the others.
pub(crate) fn shares(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| needs[*at]);
    let (mut left, mut given) = (room, vec![0; needs.len()]);
    for (done, at) in order.iter().enumerate() {
        given[*at] = needs[*at].min(left / (needs.len() - done));
        left -= given[*at];
    }
    given
}

impl Part {
    /// Without the quotes or brackets.
    fn need(&self) -> usize {
        cost(&self.value) - 2
    }

    fn fit(&mut self, most: usize, cut: &mut Cut) {
        if self.need() <= most {
            return;
        }
        match &mut self.value {
            Value::String(text) => {
                *text = ends_of(text, self.keep, most);
                cut.strings += 1;
                self.cut = self.keep == Keep::Both;
            }
            Value::Array(items) => {
                cut.items += items.len();
                keep_last(items, most, cut);
                cut.items -= items.len();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
        }
    }
}

/// The last `items` that fit into `most` characters; if one alone is too long, as much of it as fits.
fn keep_last(items: &mut Vec<Value>, most: usize, cut: &mut Cut) {
    let mut left = most + 1;
    let fits = |item: &&Value| {
        let rest = left.checked_sub(cost(item) + 1);
        left = rest.unwrap_or_default();
        rest.is_some()
    };
    let kept = items.iter().rev().take_while(fits).count();
    if kept > 0 {
        items.drain(..items.len() - kept);
        return;
    }
    let last = items.pop();
    items.clear();
    if let Some(mut last) = last {
        Caps::widest(&last, most).apply(&mut last, cut);
        if cost(&last) <= most {
            items.push(last);
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/reply/tail_fields_tests.rs"]
mod tests;
