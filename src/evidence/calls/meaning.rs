//! What the next words of a call mean, by the lists of how its program is called.

use super::manners::{Manner, Meaning};

impl Manner {
    /// The other name of what has two.
    pub(super) fn alias(&self, word: &str) -> Option<&'static str> {
        self.aliases.iter().find(|(alias, _)| *alias == word).map(|(_, name)| *name)
    }

    /// What the next words mean, and how many of them belong together.
    pub(super) fn meaning(&self, rest: &[String]) -> Option<(Meaning, usize)> {
        let lists =
            [(Meaning::Shown, self.shown), (Meaning::Demand, self.demands), (Meaning::Ease, self.eases)];
        // What is listed for itself counts before what begins like many.
        let best = lists
            .iter()
            .flat_map(|(meaning, list)| list.split_ascii_whitespace().map(move |entry| (*meaning, entry)));
        best.filter_map(|(meaning, entry)| takes(entry, rest).map(|count| (entry.len(), meaning, count)))
            .max_by_key(|(length, _, _)| *length)
            .map(|(_, meaning, count)| (meaning, count))
    }
}

/// How many of the next words an entry of a list is for.
fn takes(entry: &str, rest: &[String]) -> Option<usize> {
    let (head, mark) = entry.split_at(entry.len() - 1);
    let word = rest.first()?.as_str();
    let next = rest.get(1).map(String::as_str);
    let has_value = |count: usize| next.map(|_| count);
    if let Some((option, value)) = entry.split_once('+') {
        let next = next.filter(|_| word == option).map(|next| next.strip_prefix("./").unwrap_or(next))?;
        let fits = value.strip_suffix('*').map_or(next == value, |head| next.starts_with(head));
        return fits.then_some(2);
    }
    match mark {
        // Behind a comma it is for another program: `-Wl,-z`.
        "*" => (word.starts_with(head) && !word.contains(',')).then_some(1),
        "~" => match next {
            _ if word != head => None,
            Some("true" | "false") => Some(2),
            _ => Some(1),
        },
        "=" => match word.strip_prefix(head)? {
            "" => has_value(2),
            rest => rest.starts_with('=').then_some(1),
        },
        "_" => match word.strip_prefix(head)? {
            "" => has_value(2),
            _ => Some(1),
        },
        "?" => match word.strip_prefix(head)? {
            "" if next.is_some_and(is_number) => Some(2),
            "" => Some(1),
            rest => (is_number(rest) || rest.starts_with(['$', '`'])).then_some(1),
        },
        _ => (word == entry).then_some(1),
    }
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}
