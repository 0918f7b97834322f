//! Sparse directories: the index names their tree but none of their files.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::git::file_state::State;
use crate::git::ignored_changes::parent_dirs;
use crate::git::index;
use crate::git::index::IndexError;
use crate::git::object::{Format, Oid};
use crate::git::snapshot::TreeBefore;
use crate::host::files;

/// Sparse directories and their trees. Paths end in `/`.
#[derive(Debug, Default)]
pub(super) struct Sparse(Vec<(Vec<u8>, Oid)>);

/// Saves the sparse directories of an index.
pub(super) fn keep(
    index: &[u8],
    format: Format,
    to: &Path,
) -> Result<(), crate::git::snapshot::SnapshotError> {
    let mut bytes = Vec::new();
    let read: Result<(), IndexError> = index::read(index, format, |entry| {
        if index::is_sparse(entry) {
            bytes.extend(format!("{} ", entry.oid).into_bytes());
            bytes.extend(entry.path);
            bytes.push(0);
        }
    });
    read?;
    Ok(files::write_in_place(to, bytes)?)
}

impl Sparse {
    /// The sparse directories of an index, as far as it can be read.
    pub(super) fn of(index: &[u8], format: Format) -> Self {
        let mut all = Vec::new();
        let _ = index::read(index, format, |entry| {
            if index::is_sparse(entry) {
                all.push((entry.path.to_owned(), entry.oid));
            }
        });
        Self(all)
    }

    /// Loads saved directories; none if nothing was saved.
    pub(super) fn read(from: &Path) -> io::Result<Self> {
        let bytes = match files::read(from) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            read => read?,
        };
        let parse = bytes.split(|&byte| byte == 0).filter_map(|record| {
            let at = memchr::memchr(b' ', record)?;
            Some((record[at + 1..].to_owned(), Oid::from_hex(std::str::from_utf8(&record[..at]).ok()?)?))
        });
        Ok(Self(parse.collect()))
    }

    /// Which of `paths` are tracked in sparse directories; `None` if git cannot say. Reads all
    /// affected directories at once.
    pub(super) fn tracked<'p>(
        &self,
        paths: impl Iterator<Item = &'p Vec<u8>>,
        before: &TreeBefore,
        until: Duration,
    ) -> Option<HashMap<Vec<u8>, State>> {
        if self.0.is_empty() {
            return Some(HashMap::new());
        }
        let wanted: HashSet<&[u8]> = paths.flat_map(|path| parent_dirs(path)).collect();
        let mut touched = self.0.iter().filter(|(dir, _)| wanted.contains(dir.as_slice())).peekable();
        if touched.peek().is_none() {
            return Some(HashMap::new());
        }
        let tree = before.store.tree(touched.map(|(dir, tree)| (dir.as_slice(), 0o40000, *tree))).ok()?;
        before.store.show().ok()?;
        let args = ["ls-tree", "-r", "-z", "--full-tree", &tree.to_string()];
        let output = before.git.ask_objects(&args, Vec::new(), until).ok()?;
        let records = output.split(|&byte| byte == 0).filter_map(parse);
        Some(records.map(|(path, state)| (path.to_owned(), state)).collect())
    }
}

/// The content of sparse directories that differ before and after.
#[derive(Debug, Default)]
pub(super) struct Differing {
    pub(super) then: HashMap<Vec<u8>, State>,
    pub(super) now: HashMap<Vec<u8>, State>,
}

impl Sparse {
    /// What differs between these directories and `now`; `None` if git cannot say.
    pub(super) fn differing(&self, now: &Sparse, before: &TreeBefore, until: Duration) -> Option<Differing> {
        let (old, new): (HashSet<_>, HashSet<_>) = (self.0.iter().collect(), now.0.iter().collect());
        if old == new {
            return Some(Differing::default());
        }
        let tree = |one: &HashSet<&(Vec<u8>, Oid)>, other: &HashSet<&(Vec<u8>, Oid)>| {
            let own = one.difference(other);
            before.store.tree(own.map(|(dir, tree)| (dir.as_slice(), 0o40000, *tree))).ok()
        };
        let (then, now) = (tree(&old, &new)?.to_string(), tree(&new, &old)?.to_string());
        before.store.show().ok()?;
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", &then, &now];
        compared(&before.git.ask_objects(&args, Vec::new(), until).ok()?)
    }
}

/// Records of `:<mode> <mode> <object> <object> <status>` and the path.
fn compared(output: &[u8]) -> Option<Differing> {
    let mut fields = output.split(|&byte| byte == 0).filter(|field| !field.is_empty());
    let mut found = Differing::default();
    while let Some(head) = fields.next() {
        let text = std::str::from_utf8(head.strip_prefix(b":")?).ok()?;
        let [old_mode, new_mode, old, new, _] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
        let path = fields.next()?;
        for (side, mode, oid) in [(&mut found.then, old_mode, old), (&mut found.now, new_mode, new)] {
            let mode = u32::from_str_radix(mode, 8).ok()?;
            if mode != 0 {
                side.insert(path.to_owned(), State::outside(mode, Oid::from_hex(oid)?));
            }
        }
    }
    Some(found)
}

/// `<mode> <type> <object>\t<path>`
fn parse(record: &[u8]) -> Option<(&[u8], State)> {
    let tab = memchr::memchr(b'\t', record)?;
    let text = std::str::from_utf8(&record[..tab]).ok()?;
    let [mode, _, oid] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
    let mode = u32::from_str_radix(mode, 8).ok()?;
    Some((&record[tab + 1..], State::outside(mode, Oid::from_hex(oid)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_difference_are_told() {
        let (one, two, none) = ("0a".repeat(20), "0b".repeat(20), "00".repeat(20));
        let output = format!(
            ":100644 100755 {one} {two} M\0k/1\0:000000 100644 {none} {two} A\0k/\n2\0:120000 000000 {one} {none} D\0l\0"
        );
        let found = compared(output.as_bytes()).unwrap();
        let at = |mode: u32, oid: &str| State::outside(mode, Oid::from_hex(oid).unwrap());
        let then = [(b"k/1".to_vec(), at(0o100644, &one)), (b"l".to_vec(), at(0o120000, &one))];
        let now = [(b"k/1".to_vec(), at(0o100755, &two)), (b"k/\n2".to_vec(), at(0o100644, &two))];
        assert_eq!((found.then, found.now), (HashMap::from(then), HashMap::from(now)));
        assert!(compared(b"nonsense\0x\0").is_none());
    }
}
