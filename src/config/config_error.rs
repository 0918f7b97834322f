//! What is wrong with a configuration, in words that name the key.

use serde::Deserialize;

use crate::config::{Config, KEYS};

/// Names that are less alike than this were hardly meant.
const ALIKE: f64 = 0.8;

/// What the reader of the file complains of, with its line and its key.
pub(super) fn told(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let place = line.map_or(String::new(), |line| format!("line {line}: "));
    let message = error.message().replace('\n', " ");
    let Ok(table) = text.parse::<toml::Table>() else { return format!("{place}{message}") };
    let wrong: Vec<(&String, String)> =
        table.iter().filter_map(|(name, value)| Some((name, refused(name, value)?))).collect();
    let Some((name, why)) = wrong.first() else { return format!("{place}{message}") };
    // Of several, the one that is told need not be the one that was met first.
    let place = if wrong.len() == 1 { place } else { line_of(text, name) };
    format!("{place}{why}")
}

/// What is wrong with a file that has this key alone.
fn refused(name: &str, value: &toml::Value) -> Option<String> {
    let alone: toml::Table = std::iter::once((name.to_owned(), value.clone())).collect();
    let error = Config::deserialize(alone).err()?;
    if KEYS.iter().any(|key| key.name == name) {
        return Some(format!("`{name}`: {}", in_words(&error.message().replace('\n', " "))));
    }
    let near = nearest(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("unknown key `{name}`{near}"))
}

fn line_of(text: &str, name: &str) -> String {
    let is_it = |line: &str| line.split('=').next().is_some_and(|key| key.trim() == name);
    text.lines().position(is_it).map(|at| format!("line {}: ", at + 1)).unwrap_or_default()
}

/// Without the names that only Rust has for numbers.
fn in_words(message: &str) -> String {
    ["u32", "u64", "usize"].iter().fold(message.to_owned(), |message, kind| {
        message.replace(&format!("expected {kind}"), "expected a whole number, 0 or more")
    })
}

fn nearest(name: &str) -> Option<&'static str> {
    let scored = KEYS.iter().map(|key| (strsim::jaro_winkler(&name.to_lowercase(), key.name), key.name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > ALIKE).then_some(best.1)
}
