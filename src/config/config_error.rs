//! Describes configuration errors by line and key.

use serde::Deserialize;

use crate::config::{Config, KEYS};

/// Minimum similarity for a suggested key.
const ALIKE: f64 = 0.8;

/// Describes a parse error with its line and key.
pub(super) fn describe(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let place = line.map_or(String::new(), |line| format!("line {line}: "));
    let message = error.message().replace('\n', " ");
    let Ok(table) = text.parse::<toml::Table>() else { return format!("{place}{message}") };
    let wrong: Vec<(&String, String)> =
        table.iter().filter_map(|(name, value)| Some((name, refused(name, value)?))).collect();
    let Some((name, why)) = wrong.first() else { return format!("{place}{message}") };
    // If several keys are wrong, the reported one need not be the parser's first.
    let place = if wrong.len() == 1 { place } else { line_of(text, name) };
    format!("{place}{why}")
}

/// The error of a file with only this key.
fn refused(name: &str, value: &toml::Value) -> Option<String> {
    let alone: toml::Table = std::iter::once((name.to_owned(), value.clone())).collect();
    let error = Config::deserialize(alone).err()?;
    if KEYS.iter().any(|key| key.name.split('.').next() == Some(name)) {
        return Some(format!("`{name}`: {}", in_words(&error.message().replace('\n', " "))));
    }
    let near = nearest(name).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Some(format!("unknown key `{name}`{near}"))
}

fn line_of(text: &str, name: &str) -> String {
    let is_it = |line: &str| line.split('=').next().is_some_and(|key| key.trim() == name);
    text.lines().position(is_it).map(|at| format!("line {}: ", at + 1)).unwrap_or_default()
}

/// Replaces Rust's names of number types.
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
