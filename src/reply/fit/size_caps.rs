//! Decides how far the texts and lists of a reply are shortened, and measures their size.
//!
//! Lists of file names are shortened first, then texts, then other lists. Strings that are useless when cut
//! stay whole. Counts beside a list still say how many items are missing.

use serde_json::{Map, Value};

use crate::reply::fit::budget::{Cut, first, shortened};

/// Lists of names, each with the field that counts the missing ones.
const COUNTED: [(&[&str], &str); 5] = [
    (
        &[
            "modified_files",
            "added_files",
            "deleted_files",
            "renamed_files",
            "mode_changed_files",
            "type_changed_files",
            "submodules",
        ],
        "left_out",
    ),
    (&["artifacts"], "artifacts_left_out"),
    (&["commits"], "commits_left_out"),
    (&["ignored"], "ignored_left_out"),
    (&["failed_tests"], "failed_tests_left_out"),
];

/// Longer strings and longer arrays are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caps {
    string: usize,
    items: usize,
    /// For lists of names with a count beside them.
    names: usize,
}

impl Caps {
    pub(crate) const NONE: Caps = Caps { string: usize::MAX, items: usize::MAX, names: usize::MAX };
    /// The shortest cut that still carries meaning.
    pub(crate) const TELLING: Caps = Caps { string: 200, items: 5, names: 5 };
    /// The steps, in order: shorter lists of names, shorter strings, shorter lists, and finally whatever is
    /// needed.
    pub(crate) const FLOORS: [Caps; 5] = [
        Caps { names: 10, ..Self::NONE },
        Caps { string: 200, items: usize::MAX, names: 10 },
        Self::TELLING,
        Caps { string: 40, items: 5, names: 5 },
        Caps { string: 40, items: 0, names: 0 },
    ];

    /// The widest caps that make `value` fit, or the narrowest.
    pub(crate) fn widest(value: &Value, limit: usize) -> Self {
        let fits = |caps: Caps| caps.fits(value, limit);
        let Some(at) = Self::FLOORS.iter().position(|floor| fits(*floor)) else {
            return Self::FLOORS[Self::FLOORS.len() - 1];
        };
        let floor = Self::FLOORS[at];
        let above = if at == 0 { Self::NONE } else { Self::FLOORS[at - 1] };
        // Nothing in a value that fits is longer than the limit.
        let names = largest(floor.names, above.names.min(limit), |names| fits(Caps { names, ..floor }));
        let floor = Caps { names, ..floor };
        let items = largest(floor.items, above.items.min(limit), |items| fits(Caps { items, ..floor }));
        let floor = Caps { items, ..floor };
        let string = largest(floor.string, limit, |string| fits(Caps { string, ..floor }));
        Caps { string, ..floor }
    }

    /// The caps for the member of this name.
    fn within(self, name: &str) -> Self {
        let is_names = COUNTED.iter().any(|(lists, _)| lists.contains(&name));
        Self { items: if is_names { self.names } else { self.items }, ..self }
    }

    pub(crate) fn fits(self, value: &Value, limit: usize) -> bool {
        let mut left = limit;
        self.spend(value, &mut left)
    }

    /// Subtracts the size of `value` from what is left, and returns whether it fit. Stops reading when it
    /// does not.
    pub(crate) fn spend(self, value: &Value, left: &mut usize) -> bool {
        match value {
            Value::Null => pay(4, left),
            Value::Bool(is_true) => pay(if *is_true { 4 } else { 5 }, left),
            Value::Number(number) => pay(number.to_string().len(), left),
            Value::String(string) if self.cuts(string) => {
                pay_string(first(string, self.string.saturating_sub(1)), left) && pay(1, left)
            }
            Value::String(string) => pay_string(string, left),
            Value::Array(items) => {
                let kept = &items[..items.len().min(self.items)];
                pay(2 + kept.len().saturating_sub(1), left) && kept.iter().all(|item| self.spend(item, left))
            }
            Value::Object(members) => {
                let mut all = members.iter();
                pay(2 + members.len().saturating_sub(1), left)
                    && all.all(|(name, member)| {
                        pay_string(name, left) && pay(1, left) && self.within(name).spend(member, left)
                    })
            }
        }
    }

    pub(crate) fn apply(self, value: &mut Value, cut: &mut Cut) {
        match value {
            Value::String(string) if self.cuts(string) => {
                *string = shortened(string, self.string);
                cut.strings += 1;
            }
            Value::Array(items) => {
                cut.items += items.len().saturating_sub(self.items);
                items.truncate(self.items);
                items.iter_mut().for_each(|item| self.apply(item, cut));
            }
            Value::Object(members) => {
                let before = COUNTED.map(|(lists, _)| listed(members, lists));
                for (name, member) in members.iter_mut() {
                    self.within(name).apply(member, cut);
                }
                for ((lists, count), before) in COUNTED.into_iter().zip(before) {
                    let gone = before - listed(members, lists);
                    if gone > 0 {
                        let known = members.get(count).and_then(Value::as_u64).unwrap_or_default();
                        members.insert(count.to_owned(), (known + gone as u64).into());
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn cuts(self, string: &str) -> bool {
        // A string never has fewer bytes than characters.
        string.len() > self.string && string.chars().nth(self.string).is_some() && !is_whole(string)
    }
}

/// Strings without spaces up to this length are treated as ids.
const LONGEST_ID: usize = 512;

/// Whether a string is useless when cut.
pub(crate) fn is_whole(string: &str) -> bool {
    let is_path = string.starts_with('/') && !string.contains('\n');
    let is_id = is_path || !string.contains(char::is_whitespace);
    is_id && string.chars().nth(LONGEST_ID).is_none()
}

/// The largest number from `low` to `high` that satisfies the condition, which holds for `low` and for no
/// number above the result.
fn largest(mut low: usize, high: usize, holds: impl Fn(usize) -> bool) -> usize {
    let mut above = high.max(low).saturating_add(1);
    while above - low > 1 {
        let middle = low + (above - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            above = middle;
        }
    }
    low
}

/// The size in characters of JSON.
pub(crate) fn cost(value: &Value) -> usize {
    let mut left = usize::MAX;
    Caps::NONE.spend(value, &mut left);
    usize::MAX - left
}

/// The size of a string, without its quotes.
pub(crate) fn cost_of(string: &str) -> usize {
    string.chars().map(price).sum()
}

pub(crate) fn pay(price: usize, left: &mut usize) -> bool {
    let rest = left.checked_sub(price);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// The size of a quoted string with its escapes.
fn pay_string(string: &str, left: &mut usize) -> bool {
    pay(2, left) && string.chars().all(|c| pay(price(c), left))
}

/// The size of one character of a string.
pub(crate) fn price(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..'\u{20}' => 6,
        _ => 1,
    }
}

/// Space for the counts that a cut adds beside its lists.
pub(crate) fn beside(value: &Value) -> usize {
    match value {
        Value::Object(members) => {
            let counts = COUNTED.iter().filter(|(lists, _)| listed(members, lists) > 0);
            let own: usize = counts.map(|(_, count)| count.len() + 14).sum();
            own + members.values().map(beside).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(beside).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// How many items these lists have.
fn listed(members: &Map<String, Value>, lists: &[&str]) -> usize {
    lists.iter().filter_map(|name| members.get(*name)?.as_array()).map(Vec::len).sum()
}
