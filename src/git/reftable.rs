//! Reads references from a reftable, without git.
//!
//! A reftable is a stack of tables, newest last. Each starts with blocks of sorted references; the
//! logs and indexes that follow are not read.

use std::collections::HashMap;
use std::path::Path;

use crate::git::object::Oid;
use crate::git::repository::{LARGEST_REFS, Reference, bounded};

const LARGEST_LIST: u64 = 1 << 20;
/// Git merges tables long before there are so many.
const MOST_TABLES: usize = 1_000;

pub(super) type References = HashMap<String, Reference>;

/// The references of the stack in `dir`; `None` if it cannot be read.
pub(super) fn read(dir: &Path) -> Option<References> {
    // Git may merge tables meanwhile; the list then names others.
    (0..3).find_map(|_| stack(dir))
}

fn stack(dir: &Path) -> Option<References> {
    let list = String::from_utf8(bounded(&dir.join("tables.list"), LARGEST_LIST).ok()?).ok()?;
    let mut references = References::new();
    let mut left = LARGEST_REFS;
    for name in list.lines().take(MOST_TABLES) {
        if name.is_empty() || name.contains('/') || name.starts_with('.') {
            return None;
        }
        let bytes = bounded(&dir.join(name), left).ok()?;
        left -= bytes.len() as u64;
        table(&bytes, &mut |name, reference| {
            match reference {
                Some(reference) => references.insert(name.to_owned(), reference),
                None => references.remove(name),
            };
        })?;
    }
    Some(references)
}

/// Calls `each` with the records of one table; a record without a reference is a deletion.
fn table(bytes: &[u8], each: &mut impl FnMut(&str, Option<Reference>)) -> Option<()> {
    let version = bytes.strip_prefix(b"REFT")?.first()?;
    let (header, footer, oid) = match version {
        1 => (24, 68, 20),
        2 if bytes.get(24..28)? == b"sha1" => (28, 72, 20),
        2 if bytes.get(24..28)? == b"s256" => (28, 72, 32),
        _ => return None,
    };
    let end = bytes.len().checked_sub(footer)?;
    let aligned = number(bytes.get(5..8)?);
    let mut at = 0;
    loop {
        // The first block starts in the header and includes its length.
        let start = if at == 0 { header } else { at };
        if start >= end || bytes[start] != b'r' {
            return Some(());
        }
        let over = at.checked_add(number(bytes.get(start + 1..start + 4)?)).filter(|over| *over <= end)?;
        let restarts = number(bytes.get(over.checked_sub(2)?..over)?);
        let records = over.checked_sub(2 + 3 * restarts)?;
        Block { bytes: bytes.get(start + 4..records)?, oid }.records(each)?;
        let padded = aligned > 0 && bytes.get(over).is_none_or(|byte| *byte == 0);
        at = if padded { (at + aligned).max(over) } else { over };
    }
}

struct Block<'a> {
    bytes: &'a [u8],
    oid: usize,
}

impl Block<'_> {
    fn records(mut self, each: &mut impl FnMut(&str, Option<Reference>)) -> Option<()> {
        let mut name = Vec::new();
        while !self.bytes.is_empty() {
            let (shared, rest) = (self.varint()?, self.varint()?);
            name.truncate(shared);
            name.extend_from_slice(self.take(rest >> 3)?);
            // The update index.
            self.varint()?;
            let reference = match rest & 7 {
                0 => None,
                1 => Some(Reference::At(self.oid()?)),
                2 => {
                    let tag = self.oid()?;
                    self.oid()?;
                    Some(Reference::At(tag))
                }
                3 => {
                    let length = self.varint()?;
                    Some(Reference::To(std::str::from_utf8(self.take(length)?).ok()?.to_owned()))
                }
                _ => return None,
            };
            // A name that is not UTF-8 is no branch that we can report.
            if let Ok(name) = std::str::from_utf8(&name) {
                each(name, reference);
            }
        }
        Some(())
    }

    fn oid(&mut self) -> Option<Oid> {
        let length = self.oid;
        Oid::from_bytes(self.take(length)?)
    }

    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = value.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
        }
        Some(value)
    }
}

/// A big-endian number of up to three bytes.
fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |value, byte| value << 8 | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A table of one block, as git 2.47 writes it: `HEAD`, a deleted branch and two branches.
    fn sample() -> Vec<u8> {
        let mut records = Vec::new();
        let mut record = |shared: u8, suffix: &str, kind: u8, value: &[u8]| {
            records.extend([shared, u8::try_from(suffix.len()).unwrap() << 3 | kind]);
            records.extend(suffix.as_bytes());
            records.push(0);
            records.extend(value);
        };
        record(0, "HEAD", 3, b"\x0frefs/heads/main");
        record(0, "refs/heads/gone", 0, b"");
        record(11, "main", 1, &[0xab; 20]);
        record(5, "tags/v1", 2, &[&[1; 20][..], &[2; 20]].concat());
        let mut bytes = b"REFT\x01\x00\x10\x00".to_vec();
        bytes.extend([0; 16]);
        let length = 24 + 4 + records.len() + 3 + 2;
        bytes.push(b'r');
        bytes.extend(&u32::try_from(length).unwrap().to_be_bytes()[1..]);
        bytes.extend(records);
        bytes.extend([0, 0, 28, 0, 1]);
        bytes.extend([0; 68]);
        bytes
    }

    fn told(bytes: &[u8]) -> Option<Vec<String>> {
        let mut told = Vec::new();
        table(bytes, &mut |name, reference| {
            told.push(match reference {
                None => format!("{name} is gone"),
                Some(Reference::At(oid)) => format!("{name} at {}", &oid.to_string()[..4]),
                Some(Reference::To(other)) => format!("{name} to {other}"),
            });
        })?;
        Some(told)
    }

    #[test]
    fn names_share_their_beginnings() {
        let expected = [
            "HEAD to refs/heads/main",
            "refs/heads/gone is gone",
            "refs/heads/main at abab",
            "refs/tags/v1 at 0101",
        ];
        assert_eq!(told(&sample()).unwrap(), expected);
    }

    #[test]
    fn a_later_table_counts() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).is_none());
        std::fs::write(dir.path().join("1.ref"), sample()).unwrap();
        std::fs::write(dir.path().join("tables.list"), "1.ref\n").unwrap();
        assert_eq!(read(dir.path()).unwrap().len(), 3);
        std::fs::write(dir.path().join("tables.list"), "1.ref\n2.ref\n").unwrap();
        assert!(read(dir.path()).is_none());
        std::fs::write(dir.path().join("tables.list"), "../1.ref\n").unwrap();
        assert!(read(dir.path()).is_none());
    }

    proptest! {
        #[test]
        fn a_damaged_table_is_refused_or_read_and_never_more(at in 0usize..300, byte in any::<u8>(), cut in 0usize..300) {
            let mut bytes = sample();
            let length = bytes.len();
            bytes[at % length] = byte;
            let _ = told(&bytes);
            bytes.truncate(cut);
            let _ = told(&bytes);
        }
    }
}
