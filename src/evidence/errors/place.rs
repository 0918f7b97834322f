//! A place in a file, as tools write it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::scan::Scan;
use crate::git::{Found, WorkTree};

/// A longer path is none that a person wrote.
const LONGEST_PATH: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Location {
    pub(crate) file: String,
    pub(crate) line: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) column: Option<u64>,
}

impl Location {
    pub(super) fn new(file: &str, line: u64, column: Option<u64>) -> Option<Self> {
        let file = file.strip_prefix("file://").unwrap_or(file);
        let file = file.strip_prefix("./").unwrap_or(file);
        let fits = !file.is_empty() && file.len() <= LONGEST_PATH && line > 0;
        fits.then(|| Self { file: file.to_owned(), line, column })
    }

    /// `src/a.rs:12:5`, with nothing after it.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (place, rest) = Self::leading(text)?;
        rest.is_empty().then_some(place)
    }

    /// The place that `text` begins with, and what stands after it.
    ///
    /// The number is the first that follows a colon: what comes after may have colons of its own.
    pub(super) fn leading(text: &str) -> Option<(Self, &str)> {
        let mut from = 0;
        loop {
            let colon = from + text[from..].find(':')?;
            let mut scan = Scan::new(&text[colon + 1..]);
            let Some(line) = scan.number() else {
                from = colon + 1;
                continue;
            };
            let mut rest = scan.rest();
            let mut column = None;
            if let Some(after) = rest.strip_prefix(':') {
                let mut scan = Scan::new(after);
                if let Some(number) = scan.number() {
                    (column, rest) = (Some(number), scan.rest());
                }
            }
            return Some((Self::new(&text[..colon], line, column)?, rest));
        }
    }

    /// Whether it is of the project itself rather than of what it stands on.
    pub(super) fn is_own(&self) -> bool {
        const FOREIGN: [&str; 12] = [
            "node:",
            "/node_modules/",
            "node_modules/",
            "/site-packages/",
            "/dist-packages/",
            "/lib/python",
            "/rustc/",
            "/.cargo/registry/",
            "/library/std/",
            "/library/core/",
            "/usr/local/go/src/",
            "/go/pkg/mod/",
        ];
        // Node's own, as it named them once. Other languages have folders of the project called so.
        let is_of_node = self.file.starts_with("internal/") && self.has_end(&[".js"]);
        !is_of_node
            && !self.file.starts_with(['<', '['])
            && !FOREIGN.iter().any(|part| self.file.contains(part))
    }

    pub(super) fn has_end(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.file.ends_with(end))
    }
}

/// Whether there is such a file below a directory.
pub(super) fn is_there(directory: &str, file: &str) -> bool {
    let tree = WorkTree::open(Path::new(directory));
    tree.is_ok_and(|mut tree| matches!(tree.look(file.as_bytes()), Found::File(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, u64, Option<u64>, &str)>) {
        let found = Location::leading(text);
        let found =
            found.as_ref().map(|(place, rest)| (place.file.as_str(), place.line, place.column, *rest));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_place_is_a_file_a_line_and_maybe_a_column() {
        check("./src/a.c:12:5: error: x", Some(("src/a.c", 12, Some(5), ": error: x")));
        check("Main.java:7: error: a: 1", Some(("Main.java", 7, None, ": error: a: 1")));
        check("file:///a/b.js:1:2", Some(("/a/b.js", 1, Some(2), "")));
        check("C:\\a.c:3: x", Some(("C:\\a.c", 3, None, ": x")));
        check("no place here: none", None);
        check(":12: x", None);
    }
}
