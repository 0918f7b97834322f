//! What git makes of files on their way in: other line ends, another encoding.
//! Git itself is asked, with the attributes of the tree and with no program to
//! run for any of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::git::index_file;
use crate::git::line_ends;
use crate::git::line_ends::LeftAlone;
use crate::git::object::{Format, Oid};
use crate::git::runner::{Git, Question, quoted};
use crate::git::snapshot::Before;
use crate::host::BoundedRunError;

/// How many files git may die of before it is asked no more.
const MOST_DEATHS: usize = 100;

/// How to ask git about the files of a tree.
#[derive(Debug)]
pub(super) struct Conversion<'a> {
    pub(super) git: &'a Git,
    pub(super) root: &'a Path,
    /// Git's own copy of the index.
    pub(super) index: PathBuf,
    /// The one that says what git has of a file.
    pub(super) deciding: Vec<PathBuf>,
    pub(super) format: Format,
    pub(super) until: Duration,
    pub(super) reach: Reachability,
}

/// What may be converted at all, by settings and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reachability {
    /// Nothing, as far as is known.
    Nothing,
    /// Line ends, and what shows by its bytes that it may be.
    Seen,
    /// Anything: another encoding does not show.
    Anything,
}

impl Before {
    /// How files are converted, if those at `paths` are as they are now. The
    /// first of `deciding` that there is says what git has of them.
    pub(super) fn conversion<'p>(
        &self,
        mut paths: impl Iterator<Item = &'p [u8]>,
        deciding: Vec<PathBuf>,
        until: Duration,
    ) -> Conversion<'_> {
        let reach = if self.has_encodings() || paths.any(crate::git::filters::is_list) {
            Reachability::Anything
        } else if self.may_convert() {
            Reachability::Seen
        } else {
            Reachability::Nothing
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

    /// Whether settings or attributes may let git keep a file in another form.
    pub(super) fn may_convert(&self) -> bool {
        let converts = |setting: &String| {
            ["core.autocrlf=true", "core.autocrlf=input"].contains(&setting.as_str())
                || setting.starts_with("core.attributesFile=")
        };
        self.has_attributes(std::iter::empty()) || self.git.settings().iter().any(converts)
    }
}

impl Conversion<'_> {
    /// The names that git gives to the files at `paths`, in order; none where
    /// it cannot say. It may not come to the last of them.
    pub(super) fn names(&self, paths: &[&[u8]]) -> Vec<Option<Oid>> {
        let args = ["hash-object", "--stdin-paths"].map(OsStr::new);
        named(paths, |input| self.git.begin(&args, self.root, &self.index, input, self.until))
    }

    /// The same, and git keeps them for us in the form that they are converted to.
    pub(super) fn kept(&self, paths: &[&[u8]]) -> Vec<Option<Oid>> {
        let args = ["hash-object", "-w", "--stdin-paths"].map(OsStr::new);
        named(paths, |input| self.git.begin_to_write(&args, self.root, &self.index, input, self.until))
    }

    /// Of `paths`, those whose line ends git leaves alone though it would convert
    /// them: it has them with both bytes.
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

/// Names the files at `paths`. Git dies of the first that it cannot read; then
/// it is asked about those behind.
fn named(paths: &[&[u8]], begin: impl Fn(Vec<u8>) -> Result<Question, BoundedRunError>) -> Vec<Option<Oid>> {
    let mut names = Vec::new();
    for _ in 0..MOST_DEATHS {
        let left = &paths[names.len()..];
        if left.is_empty() {
            break;
        }
        let Ok(question) = begin(lines(left)) else { break };
        let (said, ended) = question.finish_anyhow();
        names.extend(parsed(&said, left.len()).into_iter().map(Some));
        match ended {
            Err(BoundedRunError::Failed(_)) if names.len() < paths.len() => names.push(None),
            // There is no time left, or nothing to ask.
            Ok(()) | Err(_) => break,
        }
    }
    names
}

/// One name per line, as far as there are whole ones, and no more than there were files.
fn parsed(said: &[u8], count: usize) -> Vec<Oid> {
    let whole = said.split_inclusive(|&byte| byte == b'\n').filter_map(|line| line.strip_suffix(b"\n"));
    let names = whole.map_while(|line| Oid::from_hex(std::str::from_utf8(line).ok()?));
    names.take(count).collect()
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
        assert_eq!(conversion(&git, &root, until).names(&paths), expected);
        assert_eq!(conversion(&git, &root, until).kept(&paths), expected);
    }

    #[test]
    fn an_answer_is_read_as_far_as_it_goes() {
        let name = "0a".repeat(20);
        let oid = Oid::from_hex(&name).unwrap();
        for (said, count, expected) in [
            (format!("{name}\n{name}\n"), 2, vec![oid, oid]),
            (format!("{name}\n"), 2, vec![oid]),
            (format!("{name}\n{name}\n"), 1, vec![oid]),
            (format!("{name}\n{name}"), 2, vec![oid]),
            (format!("{name}\nnonsense\n{name}\n"), 3, vec![oid]),
            (String::new(), 0, vec![]),
        ] {
            assert_eq!(parsed(said.as_bytes(), count), expected, "{said}");
        }
    }
}
