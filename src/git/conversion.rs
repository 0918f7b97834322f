//! Asks git how it converts files on the way in: line ends and encodings. Uses the attributes of
//! the tree and runs no filter program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::index_file;
use crate::git::line_ends::{self, LeftAlone};
use crate::git::object::{Format, Oid};
use crate::git::runner::{Git, PendingAnswer, quoted};
use crate::git::snapshot::TreeBefore;
use crate::host::BoundedRunError;

/// How often git may crash on a file before it is not asked again.
const MOST_DEATHS: usize = 100;

/// What is needed to ask git about the files of a tree.
#[derive(Debug)]
pub(super) struct Conversion<'a> {
    pub(super) git: &'a Git,
    pub(super) root: &'a Path,
    /// Our copy of the index.
    pub(super) index: PathBuf,
    /// Indexes that may hold the stored form of a file; the first that exists counts.
    pub(super) deciding: Vec<PathBuf>,
    pub(super) format: Format,
    pub(super) until: Duration,
    pub(super) reach: ConversionScope,
}

/// Which files may be converted, by settings and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConversionScope {
    /// None, as far as is known.
    Nothing,
    /// Files whose bytes show it, such as those with CRLF.
    Seen,
    /// Any file: an encoding does not show in the bytes.
    Anything,
}

impl TreeBefore {
    /// How files are converted, given the current `paths`.
    pub(super) fn conversion<'p>(
        &self,
        mut paths: impl Iterator<Item = &'p [u8]>,
        deciding: Vec<PathBuf>,
        until: Duration,
    ) -> Conversion<'_> {
        let reach = if self.has_encodings() || paths.any(crate::git::filters::is_list) {
            ConversionScope::Anything
        } else if self.may_convert() {
            ConversionScope::Seen
        } else {
            ConversionScope::Nothing
        };
        Conversion {
            git: &self.git,
            root: &self.repository.root,
            index: self.index(),
            deciding,
            format: self.store.format(),
            until,
            reach,
        }
    }

    /// Whether settings or attributes may make git convert a file.
    pub(super) fn may_convert(&self) -> bool {
        let converts = |setting: &String| {
            ["core.autocrlf=true", "core.autocrlf=input"].contains(&setting.as_str())
                || setting.starts_with("core.attributesFile=")
        };
        self.has_attributes(std::iter::empty()) || self.git.settings().iter().any(converts)
    }
}

impl Conversion<'_> {
    /// Git's ids of the files at `paths`, in order; `None` if it has none. The list may be shorter
    /// than `paths`.
    pub(super) fn ids(&self, paths: &[&[u8]]) -> Vec<Option<Oid>> {
        let args = ["hash-object", "--stdin-paths"].map(OsStr::new);
        named(paths, |input| self.git.begin(&args, self.root, &self.index, input, self.until))
    }

    /// Like [`ids`](Self::ids), and git stores the converted content for us.
    pub(super) fn kept(&self, paths: &[&[u8]]) -> Vec<Option<Oid>> {
        let args = ["hash-object", "-w", "--stdin-paths"].map(OsStr::new);
        named(paths, |input| self.git.begin_to_write(&args, self.root, &self.index, input, self.until))
    }

    /// Which of `paths` git would convert but leaves alone because it stores them with CRLF.
    pub(super) fn left_alone<'p>(&self, paths: &[&'p [u8]]) -> LeftAlone<'p> {
        if paths.is_empty() {
            return LeftAlone::default();
        }
        let indexes = self.deciding.iter().filter_map(|path| index_file::load(path).ok());
        let Some(index) = indexes.into_iter().find(|bytes| !bytes.is_empty()) else {
            return LeftAlone::default();
        };
        line_ends::left_alone(self, paths, &index)
    }
}

fn lines(paths: &[&[u8]]) -> Vec<u8> {
    let line = |path: &&[u8]| [quoted(path), b"\n".to_vec()].concat();
    paths.iter().flat_map(line).collect()
}

/// Hashes the files at `paths`. Git aborts at the first file that it cannot read; it is then asked
/// again about the rest.
fn named(
    paths: &[&[u8]],
    begin: impl Fn(Vec<u8>) -> Result<PendingAnswer, BoundedRunError>,
) -> Vec<Option<Oid>> {
    let mut ids = Vec::new();
    for _ in 0..MOST_DEATHS {
        let left = &paths[ids.len()..];
        if left.is_empty() {
            break;
        }
        let Ok(question) = begin(lines(left)) else { break };
        let (output, ended) = question.finish_anyhow();
        ids.extend(parsed(&output, left.len()).into_iter().map(Some));
        match ended {
            Err(BoundedRunError::Failed { .. }) if ids.len() < paths.len() => ids.push(None),
            // No time left, or nothing left to ask.
            Ok(()) | Err(_) => break,
        }
    }
    ids
}

/// One id per complete line, at most `count`.
fn parsed(output: &[u8], count: usize) -> Vec<Oid> {
    let whole = output.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let ids = whole.map_while(|line| Oid::from_hex(std::str::from_utf8(line).ok()?));
    ids.take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::object::blob_name;
    use crate::git::testing::{conversion, world};
    use crate::host::clock;

    #[test]
    fn a_file_that_git_dies_of_costs_no_other_its_name() {
        let (dir, git) = world(&["a", "c", "e"]);
        let root = dir.path().join("tree");
        let until = clock::monotonic() + Duration::from_secs(60);
        let name = |text: &str| Some(blob_name(Format::Sha1, text.as_bytes()));
        let expected = [name("a\r\n"), None, name("c\r\n"), None, name("e\r\n")];
        let paths: [&[u8]; 5] = [b"a", b"b", b"c", b"d", b"e"];
        assert_eq!(conversion(&git, &root, until).ids(&paths), expected);
        assert_eq!(conversion(&git, &root, until).kept(&paths), expected);
    }

    #[test]
    fn an_answer_is_read_as_far_as_it_goes() {
        let name = "0a".repeat(20);
        let oid = Oid::from_hex(&name).unwrap();
        for (output, count, expected) in [
            (format!("{name}\n{name}\n"), 2, vec![oid, oid]),
            (format!("{name}\n"), 2, vec![oid]),
            (format!("{name}\n{name}\n"), 1, vec![oid]),
            (format!("{name}\n{name}"), 2, vec![oid]),
            (format!("{name}\nnonsense\n{name}\n"), 3, vec![oid]),
            (String::new(), 0, vec![]),
        ] {
            assert_eq!(parsed(output.as_bytes(), count), expected, "{output}");
        }
    }
}
