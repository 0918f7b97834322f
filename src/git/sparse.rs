//! Directories that are tracked and not checked out, as a whole: the index
//! names their tree and none of their files.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use super::ignored_changes::above;
use super::index::{self, IndexError};
use super::object::{Format, Oid};
use super::runner::Git;
use super::state::State;
use crate::host::files;

/// Such directories, each with the tree that it stands for. Paths end in `/`.
#[derive(Debug, Default)]
pub(super) struct Sparse(Vec<(Vec<u8>, Oid)>);

/// Writes down those of an index.
pub(super) fn keep(index: &[u8], format: Format, to: &Path) -> Result<(), super::snapshot::Trouble> {
    let mut bytes = Vec::new();
    let read: Result<(), IndexError> = index::read(index, format, |entry| {
        if index::is_sparse(entry) {
            bytes.extend(format!("{} ", entry.oid).into_bytes());
            bytes.extend(entry.path);
            bytes.push(0);
        }
    });
    read?;
    Ok(files::put(to, bytes)?)
}

impl Sparse {
    /// Those of an index, as far as it can be read.
    pub(super) fn of(index: &[u8], format: Format) -> Self {
        let mut all = Vec::new();
        let _ = index::read(index, format, |entry| {
            if index::is_sparse(entry) {
                all.push((entry.path.to_owned(), entry.oid));
            }
        });
        Self(all)
    }

    /// What was written down; nothing where there was nothing to write.
    pub(super) fn read(from: &Path) -> io::Result<Self> {
        let bytes = match files::read(from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read?,
        };
        let parsed = bytes.split(|&byte| byte == 0).filter_map(|record| {
            let at = memchr::memchr(b' ', record)?;
            Some((record[at + 1..].to_owned(), Oid::from_hex(std::str::from_utf8(&record[..at]).ok()?)?))
        });
        Ok(Self(parsed.collect()))
    }

    /// What is tracked of `paths` in such directories. Only those directories
    /// are read that have one of them.
    pub(super) fn tracked<'p>(
        &self,
        paths: impl Iterator<Item = &'p Vec<u8>>,
        git: &Git,
        until: Duration,
    ) -> HashMap<Vec<u8>, State> {
        if self.0.is_empty() {
            return HashMap::new();
        }
        let wanted: HashSet<&[u8]> = paths.flat_map(|path| above(path)).collect();
        let touched = self.0.iter().filter(|(dir, _)| wanted.contains(dir.as_slice()));
        let mut all = HashMap::new();
        for (dir, tree) in touched {
            let args = ["ls-tree", "-r", "-z", "--full-tree", &tree.to_string()];
            let said = git.ask_objects(&args, Vec::new(), until).unwrap_or_default();
            for record in said.split(|&byte| byte == 0) {
                if let Some((name, state)) = parsed(record) {
                    all.insert([dir, name].concat(), state);
                }
            }
        }
        all
    }
}

/// `<mode> <type> <object>\t<path>`
fn parsed(record: &[u8]) -> Option<(&[u8], State)> {
    let tab = memchr::memchr(b'\t', record)?;
    let text = std::str::from_utf8(&record[..tab]).ok()?;
    let [mode, _, oid] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
    let mode = u32::from_str_radix(mode, 8).ok()?;
    let oid = Some(Oid::from_hex(oid)?);
    let state = State { mode, oid, readable: true, stat: None, sha256: None, counted: None };
    Some((&record[tab + 1..], state))
}
