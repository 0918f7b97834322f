//! A place in a file, as tools print it.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::evidence::command_line::cleaned;
use crate::evidence::line_scanner::Scan;
use crate::git::{PathEntry, WorkTree};

/// Nobody writes longer paths.
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

    /// The place that `text` begins with, and the text after it.
    ///
    /// The number is the first one after a colon; the rest may contain colons too.
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

    /// Whether it belongs to the project rather than to its dependencies.
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
        // The paths of Node's own modules in older versions. Other languages have project directories with
        // these names.
        let is_of_node = self.file.starts_with("internal/") && self.has_end(&[".js"]);
        !is_of_node
            && !self.file.starts_with(['<', '['])
            && !FOREIGN.iter().any(|part| self.file.contains(part))
    }

    pub(super) fn has_end(&self, ends: &[&str]) -> bool {
        ends.iter().any(|end| self.file.ends_with(end))
    }
}

/// Where a command ran, and what paths are relative to.
#[derive(Debug, Clone, Copy)]
pub(in crate::evidence) struct Place<'a> {
    /// The run's directory.
    pub(in crate::evidence) root: &'a str,
    pub(in crate::evidence) directory: &'a str,
}

impl Place<'_> {
    /// `file` relative to the run's directory; `None` if it does not exist or is ambiguous.
    pub(super) fn seen(self, file: &str) -> Option<String> {
        let root = Path::new(self.root);
        // An absolute path is unambiguous.
        if file.starts_with('/') {
            return below(root, Path::new(file));
        }
        // Java names packages, and cargo and jest name files relative to a project root that may be further
        // up.
        let sources: &[&str] = match file.rsplit('.').next() {
            Some("java") => &["", "src", "src/main/java", "src/test/java"],
            Some("kt") => &["", "src/main/kotlin", "src/test/kotlin", "src/main/java"],
            Some("scala") => &["", "src/main/scala", "src/test/scala"],
            _ => &[""],
        };
        let from = [Path::new(self.directory), root];
        let all = from.iter().flat_map(|from| sources.iter().map(move |source| from.join(source).join(file)));
        let mut there: Vec<String> =
            all.filter_map(|path| below(root, &path)).filter(|path| is_there(root, path)).collect();
        there.dedup();
        // A file below the command's directory is preferred to one below the root.
        there.truncate(1);
        there.pop()
    }

    /// `file` as named, whether or not it exists.
    pub(super) fn named(self, file: &str) -> Option<String> {
        below(Path::new(self.root), &Path::new(self.directory).join(file))
    }
}

/// A path relative to `root`, if it is below it.
fn below(root: &Path, path: &Path) -> Option<String> {
    Some(cleaned(path).strip_prefix(root).ok()?.to_str()?.to_owned()).filter(|path| !path.is_empty())
}

/// Whether this file exists below a directory, without links in its path.
fn is_there(root: &Path, file: &str) -> bool {
    let tree = WorkTree::open(root);
    tree.is_ok_and(|mut tree| matches!(tree.look(file.as_bytes()), PathEntry::File(_)))
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
