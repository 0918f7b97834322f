//! Parses git's index: which files are tracked and their recorded metadata.
//!
//! Done without git, because git trusts bits that an agent can set ("assume unchanged", "skip
//! worktree"), and because it is faster.

use crate::git::object::{Format, Oid};
use crate::git::tree_walk::{Stat, Time};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub(crate) path: &'a [u8],
    pub(crate) mode: u32,
    pub(crate) oid: Oid,
    stat: IndexedStat,
    /// Not 0 while a merge is unfinished.
    pub(crate) stage: u8,
    /// Deliberately not checked out.
    pub(crate) skipped: bool,
    /// An intent to add, without content yet.
    pub(crate) intended: bool,
}

/// The metadata recorded in the index, in its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IndexedStat {
    ctime: (u32, u32),
    mtime: (u32, u32),
    ino: u32,
    size: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("the index is damaged")]
    Damaged,
    #[error("the index has version {0}, which is not known here")]
    Version(u32),
    /// For example a split index, whose larger part is in another file.
    #[error("the index has an extension that is not known here")]
    Extension,
}

impl Entry<'_> {
    pub(crate) fn size(&self) -> u32 {
        self.stat.size
    }

    fn write(&self, into: &mut Vec<u8>) {
        let start = into.len();
        let IndexedStat { ctime, mtime, ino, size } = self.stat;
        for number in [ctime.0, ctime.1, mtime.0, mtime.1, 0, ino, self.mode, 0, 0, size] {
            into.extend(number.to_be_bytes());
        }
        into.extend(self.oid.as_bytes());
        let length = u16::try_from(self.path.len()).unwrap_or(0xfff).min(0xfff);
        let extended = u16::from(self.skipped) << 14 | u16::from(self.intended) << 13;
        into.extend((length | u16::from(self.stage) << 12 | u16::from(extended != 0) << 14).to_be_bytes());
        if extended != 0 {
            into.extend(extended.to_be_bytes());
        }
        into.extend(self.path);
        into.extend(vec![0; 8 - (into.len() - start) % 8]);
    }

    /// Whether the file is unchanged, as far as metadata shows. `written` is the time of the index.
    pub(crate) fn is_clean(&self, stat: &Stat, written: Time) -> bool {
        let same = |seen: (u32, u32), now: Time| {
            // Some programs write no fraction of a second.
            seen.0 == now.0 as u32 && (seen.1 == now.1 || seen.1 == 0)
        };
        // A file that changed in the same tick as the index was written looks unchanged.
        let racy = if self.stat.mtime.1 == 0 || written.1 == 0 {
            i64::from(self.stat.mtime.0) >= i64::from(written.0 as u32)
        } else {
            (self.stat.mtime.0, self.stat.mtime.1) >= (written.0 as u32, written.1)
        };
        !racy
            && same(self.stat.mtime, stat.mtime)
            && same(self.stat.ctime, stat.ctime)
            && self.stat.ino == stat.ino as u32
            && self.stat.size == stat.size as u32
    }
}

/// No system allows longer or deeper paths.
const LONGEST_PATH: usize = 4096;
const DEEPEST_PATH: usize = 1000;
/// Total length of all paths. Version 4 stores only their endings, but readers expand them.
const MOST_PATHS: usize = 256 << 20;

/// Whether git would write such a path. A sparse directory ends in a slash; a replacement entry in
/// a split index is empty.
fn is_path(path: &[u8]) -> bool {
    let names = || path.strip_suffix(b"/").unwrap_or(path).split(|&byte| byte == b'/');
    let is_name = |name: &[u8]| !matches!(name, b"" | b"." | b".." | b".git");
    path.is_empty() || path.len() <= LONGEST_PATH && names().count() <= DEEPEST_PATH && names().all(is_name)
}

/// Calls `each` with every entry, ordered by path.
pub(crate) fn read(bytes: &[u8], format: Format, each: impl FnMut(&Entry<'_>)) -> Result<(), IndexError> {
    read_all(bytes, format, each).map(|_| ())
}

/// Like [`read`]. Also returns whether the index may contain whole directories.
fn read_all(
    bytes: &[u8],
    format: Format,
    mut each: impl FnMut(&Entry<'_>),
) -> Result<Directories, IndexError> {
    if bytes.is_empty() {
        return Ok(Directories::Never);
    }
    let mut rest = Rest(bytes.get(..bytes.len().saturating_sub(format.bytes())).unwrap_or_default());
    if rest.take(4)? != b"DIRC" {
        return Err(IndexError::Damaged);
    }
    let version = rest.u32()?;
    if !(2..=4).contains(&version) {
        return Err(IndexError::Version(version));
    }
    let count = rest.u32()?;
    let mut path = Vec::new();
    let mut room = MOST_PATHS;
    for _ in 0..count {
        let before = rest.0.len();
        let ctime = (rest.u32()?, rest.u32()?);
        let mtime = (rest.u32()?, rest.u32()?);
        let _dev = rest.u32()?;
        let ino = rest.u32()?;
        let mode = rest.u32()?;
        let (_uid, _gid) = (rest.u32()?, rest.u32()?);
        let size = rest.u32()?;
        let oid = Oid::from_bytes(rest.take(format.bytes())?).ok_or(IndexError::Damaged)?;
        let flags = rest.u16()?;
        let extended = if flags & 0x4000 != 0 { rest.u16()? } else { 0 };
        if version == 4 {
            let kept = path.len().checked_sub(rest.offset()?).ok_or(IndexError::Damaged)?;
            path.truncate(kept);
            path.extend_from_slice(rest.text()?);
        } else {
            path.clear();
            path.extend_from_slice(rest.text()?);
            // Padded with NULs to a multiple of eight, including the one that ends the path.
            let used = before - rest.0.len() - 1;
            rest.take(8 - used % 8 - 1)?;
        }
        room = room.checked_sub(path.len()).filter(|_| is_path(&path)).ok_or(IndexError::Damaged)?;
        let stat = IndexedStat { ctime, mtime, ino, size };
        let stage = u8::try_from(flags >> 12 & 3).unwrap_or(0);
        let (skipped, intended) = (extended & 0x4000 != 0, extended & 0x2000 != 0);
        each(&Entry { path: &path, mode, oid, stat, stage, skipped, intended });
    }
    extensions(rest)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directories {
    Never,
    /// Whether or not there are any at the moment.
    Allowed,
}

/// An entry for a whole directory that is not checked out.
pub(crate) fn is_sparse(entry: &Entry<'_>) -> bool {
    entry.mode & 0o170000 == 0o040000
}

/// The index without sparse directories and extensions; `None` if there can be no sparse directory.
///
/// Git would expand the directories and update the times of the user's objects.
pub(crate) fn without_sparse(bytes: &[u8], format: Format) -> Result<Option<Vec<u8>>, IndexError> {
    let (mut count, mut left_out) = (0_u32, false);
    let directories = read_all(bytes, format, |entry| {
        left_out |= is_sparse(entry);
        count += u32::from(!is_sparse(entry));
    })?;
    if !left_out && directories == Directories::Never {
        return Ok(None);
    }
    let mut plain = Vec::with_capacity(bytes.len());
    read(bytes, format, |entry| {
        if !is_sparse(entry) {
            entry.write(&mut plain);
        }
    })?;
    let mut whole = [b"DIRC".as_slice(), &3_u32.to_be_bytes(), &count.to_be_bytes()].concat();
    whole.extend(plain);
    let sum = crate::git::object::sum(format, &whole);
    whole.extend(sum);
    Ok(Some(whole))
}

/// An extension in lower case changes the meaning of the entries.
fn extensions(mut rest: Rest<'_>) -> Result<Directories, IndexError> {
    let mut directories = Directories::Never;
    while !rest.0.is_empty() {
        let name = rest.take(4)?;
        let length = usize::try_from(rest.u32()?).map_err(|_| IndexError::Damaged)?;
        rest.take(length)?;
        // `sdir`: entries may be whole directories, as their mode shows.
        match name {
            b"sdir" => directories = Directories::Allowed,
            _ if name[0].is_ascii_lowercase() => return Err(IndexError::Extension),
            _ => {}
        }
    }
    Ok(directories)
}

struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], IndexError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(IndexError::Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16, IndexError> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32, IndexError> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads up to a NUL and skips it.
    fn text(&mut self) -> Result<&'a [u8], IndexError> {
        let end = memchr::memchr(0, self.0).ok_or(IndexError::Damaged)?;
        let text = self.take(end)?;
        self.take(1)?;
        Ok(text)
    }

    /// A variable-length number, as in packs.
    fn offset(&mut self) -> Result<usize, IndexError> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value =
                value.checked_add(1).and_then(|value| value.checked_mul(128)).ok_or(IndexError::Damaged)?
                    | usize::from(byte & 0x7f);
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An index of version 2 with one entry.
    fn one(path: &[u8], mtime: u32) -> Vec<u8> {
        let mut bytes = [b"DIRC".as_slice(), &[0, 0, 0, 2, 0, 0, 0, 1]].concat();
        for number in [9_u32, 8, mtime, 7, 0, 5, 0o100644, 0, 0, 3] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend([1; 20]);
        bytes.extend((path.len() as u16).to_be_bytes());
        bytes.extend(path);
        let length = bytes.len() - 12;
        bytes.extend(vec![0; 8 - length % 8]);
        bytes.extend([0; 20]);
        bytes
    }

    fn stat(mtime: Time) -> Stat {
        Stat { mode: 0o100644, size: 3, mtime, ctime: (9, 8), ino: 5 }
    }

    #[test]
    fn an_entry_is_read_whatever_the_length_of_its_path() {
        for length in 1..20 {
            let path = vec![b'a'; length];
            let mut seen = 0;
            read(&one(&path, 10), Format::Sha1, |entry| {
                assert_eq!((entry.path, entry.mode, entry.size()), (path.as_slice(), 0o100644, 3));
                seen += 1;
            })
            .unwrap();
            assert_eq!(seen, 1);
        }
    }

    #[test]
    fn a_path_that_git_would_not_write_is_damage() {
        let found = |path: &[u8]| read(&one(path, 10), Format::Sha1, |_| {});
        for path in [&b"a"[..], b"", b"a/b", b"a/", b".gitignore", b"a/.github/b", &b"a/".repeat(999)] {
            assert!(found(path).is_ok(), "{}", path.escape_ascii());
        }
        let (long, deep) = (vec![b'a'; LONGEST_PATH + 1], b"a/".repeat(DEEPEST_PATH + 1));
        for path in [&b"/a"[..], b"a//b", b"./a", b"a/../b", b"a/.git/config", b".git", &long, &deep] {
            assert!(
                matches!(found(path), Err(IndexError::Damaged)),
                "{}",
                path[..9.min(path.len())].escape_ascii()
            );
        }
    }

    #[test]
    fn short_entries_do_not_stand_for_endless_paths() {
        let count = u32::try_from(MOST_PATHS / LONGEST_PATH).unwrap();
        let found = |count: u32| {
            let mut bytes = [b"DIRC".as_slice(), &4_u32.to_be_bytes(), &count.to_be_bytes()].concat();
            for at in 0..count {
                bytes.extend([0; 24]);
                bytes.extend(0o100644_u32.to_be_bytes());
                bytes.extend([0; 12]);
                bytes.extend([1; 20]);
                bytes.extend([0x0f, 0xff]);
                bytes.push(if at == 0 { 0 } else { 8 });
                bytes.extend(if at == 0 { vec![b'a'; LONGEST_PATH - 8] } else { Vec::new() });
                bytes.extend(format!("{at:08}\0").into_bytes());
            }
            bytes.extend([0; 20]);
            read(&bytes, Format::Sha1, |_| {})
        };
        assert_eq!(found(count), Ok(()));
        assert_eq!(found(count + 1), Err(IndexError::Damaged));
    }

    #[test]
    fn a_file_is_clean_when_nothing_moved_and_the_index_is_younger() {
        read(&one(b"a", 10), Format::Sha1, |entry| {
            assert!(entry.is_clean(&stat((10, 7)), (10, 8)));
            assert!(!entry.is_clean(&stat((10, 7)), (10, 7)), "changed in the same tick");
            assert!(!entry.is_clean(&stat((10, 7)), (10, 0)), "a clock of seconds");
            assert!(entry.is_clean(&stat((10, 7)), (11, 0)));
            assert!(!entry.is_clean(&stat((10, 9)), (11, 0)));
            assert!(!entry.is_clean(&Stat { size: 4, ..stat((10, 7)) }, (11, 0)));
            assert!(!entry.is_clean(&Stat { ino: 6, ..stat((10, 7)) }, (11, 0)));
        })
        .unwrap();
    }

    #[test]
    fn what_is_no_index_is_told() {
        let at = |bytes: &[u8]| read(bytes, Format::Sha1, |_| {});
        assert_eq!(at(b""), Ok(()));
        assert_eq!(at(b"short"), Err(IndexError::Damaged));
        let mut other = one(b"a", 1);
        other[7] = 9;
        assert_eq!(at(&other), Err(IndexError::Version(9)));
        let mut more = one(b"a", 1);
        let end = more.len() - 20;
        more.splice(end..end, *b"link\0\0\0\0");
        assert_eq!(at(&more), Err(IndexError::Extension));
    }

    #[test]
    fn an_index_without_whole_directories_is_the_same_otherwise() {
        assert_eq!(without_sparse(&one(b"a", 10), Format::Sha1), Ok(None));
        let mut sparse = one(b"dir/", 10);
        sparse[12 + 24..12 + 28].copy_from_slice(&0o40000_u32.to_be_bytes());
        let plain = without_sparse(&sparse, Format::Sha1).unwrap().unwrap();
        assert_eq!(plain.len(), 12 + 20);
        let mut written = Vec::new();
        read(&one(b"some/path", 10), Format::Sha1, |entry| entry.write(&mut written)).unwrap();
        assert_eq!(written, one(b"some/path", 10)[12..12 + written.len()]);
        assert_eq!(written.len() % 8, 0);
    }

    proptest! {
        /// Only has to terminate without a panic.
        #[test]
        fn any_bytes_are_read_to_an_end(mut bytes in prop::collection::vec(any::<u8>(), 0..400), version in 2u8..5) {
            if bytes.len() > 12 {
                bytes[..8].copy_from_slice(&[b'D', b'I', b'R', b'C', 0, 0, 0, version]);
            }
            let _ = read(&bytes, Format::Sha1, |_| {});
        }
    }
}
