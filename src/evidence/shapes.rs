//! Command lines of many shapes around real programs, as they were run (`tests/histories/shapes.jsonl`): those
//! that fail are told, what is only asked is not, and neither is what does not fail any more.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::errors::left_by;

/// Commands one after the other, and what is to be said of them in the end.
#[derive(Debug, Deserialize)]
struct History {
    /// Words of the error that is told.
    told: Option<String>,
    #[serde(default)]
    silent: bool,
    /// Whether the first fails and is told, until the second.
    #[serde(default)]
    mended: bool,
    /// Lines with their exit code and all that they printed.
    commands: Vec<(String, i64, String)>,
}

impl History {
    /// The error that is left after the first commands.
    fn left(&self, count: usize) -> Option<(String, String)> {
        let rows =
            self.commands[..count].iter().map(|(line, code, text)| (line.as_str(), *code, text.as_str()));
        left_by(&rows.collect::<Vec<_>>())
    }

    /// What is wrong with what is said of it.
    fn wrong(&self) -> Option<String> {
        let left = self.left(self.commands.len());
        let is_right = match &self.told {
            Some(words) => left.as_ref().is_some_and(|(_, message)| message.contains(words)),
            None => left.is_none() && self.silent != (self.mended && self.left(1).is_some()),
        };
        (!is_right).then(|| format!("{:?} of {self:?}", left))
    }
}

#[test]
fn a_failure_is_told_in_whatever_line_it_stands_until_it_is_mended() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories/shapes.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let histories: Vec<History> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(histories.len() > 500);
    let wrong: Vec<String> = histories.iter().filter_map(History::wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
