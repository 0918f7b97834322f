//! What git makes of files on their way in: other line ends, another encoding.
//! Git itself is asked, with the attributes of the tree and with no program to
//! run for any of them.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::index_file;
use super::line_ends;
use super::object::{Format, Oid};
use super::runner::{Git, quoted};
use super::snapshot::Before;

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
    pub(super) reach: Reach,
}

/// What may be converted at all, by settings and attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
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
        let reach = if self.has_encodings() || paths.any(super::filters::is_list) {
            Reach::Anything
        } else if self.may_convert() {
            Reach::Seen
        } else {
            Reach::Nothing
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
    /// it cannot say.
    pub(super) fn names(&self, paths: &[&[u8]]) -> Vec<Option<Oid>> {
        if paths.is_empty() {
            return Vec::new();
        }
        let args = ["hash-object", "--stdin-paths"].map(OsStr::new);
        let said = self.git.ask(&args, self.root, &self.index, lines(paths), self.until);
        parsed(&said.unwrap_or_default(), paths.len())
    }

    /// The same, and git keeps them for us in the form that they are converted to.
    pub(super) fn kept(&self, paths: &[&[u8]]) -> Vec<Option<Oid>> {
        if paths.is_empty() {
            return Vec::new();
        }
        let args = ["hash-object", "-w", "--stdin-paths"].map(OsStr::new);
        let said = self.git.ask_to_write(&args, self.root, &self.index, lines(paths), self.until);
        parsed(&said.unwrap_or_default(), paths.len())
    }

    /// Of `paths`, those whose line ends git leaves alone though it would convert
    /// them: it has them with both bytes.
    pub(super) fn left_alone<'p>(&self, paths: &[&'p [u8]]) -> HashSet<&'p [u8]> {
        if paths.is_empty() {
            return HashSet::new();
        }
        let indexes = self.deciding.iter().filter_map(|path| index_file::load(path).ok());
        let Some(index) = indexes.into_iter().find(|bytes| !bytes.is_empty()) else { return HashSet::new() };
        line_ends::left_alone(self, paths, &index)
    }
}

fn lines(paths: &[&[u8]]) -> Vec<u8> {
    let line = |path: &&[u8]| [quoted(path), b"\n".to_vec()].concat();
    paths.iter().flat_map(line).collect()
}

/// One name per line, if there are as many as there were files.
fn parsed(said: &[u8], count: usize) -> Vec<Option<Oid>> {
    let names: Vec<Option<Oid>> = String::from_utf8_lossy(said).lines().map(Oid::from_hex).collect();
    if names.len() == count { names } else { vec![None; count] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_about_all_files_is_about_none() {
        let name = "0a".repeat(20);
        assert_eq!(parsed(format!("{name}\n").as_bytes(), 1), [Oid::from_hex(&name)]);
        assert_eq!(parsed(format!("{name}\n").as_bytes(), 2), [None, None]);
        assert_eq!(parsed(b"", 0), []);
    }
}
