//! Directories that are tracked and not checked out, as a whole: the index
//! names their tree and none of their files.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

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
    Ok(fs::write(to, bytes)?)
}

impl Sparse {
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
        paths: impl Iterator<Item = &'p Vec<u8>> + Clone,
        git: &Git,
        until: Duration,
    ) -> HashMap<Vec<u8>, State> {
        let touched = self.0.iter().filter(|(dir, _)| paths.clone().any(|path| path.starts_with(dir)));
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
    let state = State { mode, oid: Some(Oid::from_hex(oid)?), readable: true, stat: None, sha256: None };
    Some((&record[tab + 1..], state))
}
