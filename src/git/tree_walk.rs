//! Examines a working tree by descriptor, directory by directory. Follows no links, so nothing
//! outside is ever read.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::git::file_state::Counted;
use crate::git::object::{BlobHasher, Format, Oid, blob_name, hex};

/// A NUL in this many first bytes makes a file binary.
const FIRST: u64 = 8000;

/// Seconds and nanoseconds since the epoch.
pub(crate) type Time = (i64, u32);

/// The metadata of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// As in git: 100644, 100755 or 120000.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    pub(crate) ino: u64,
}

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathEntry {
    File(Stat),
    Directory,
    /// Nothing, or nothing that git tracks: a pipe, a socket, a device.
    Nothing,
    /// It cannot be examined.
    Unseen,
}

/// The content of a file.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) oid: Oid,
    /// Absent if it was too large to hold.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) size: u64,
    /// Of large files only; otherwise computed from the bytes on demand.
    sha256: Option<String>,
    pub(crate) counted: Option<Counted>,
}

impl Content {
    pub(crate) fn sha256(&self) -> Option<String> {
        self.sha256.clone().or_else(|| self.bytes.as_deref().map(crate::git::object::sha256))
    }
}

#[derive(Debug)]
pub(crate) struct WorkTree {
    root: OwnedFd,
    /// The upper directories on the path examined last.
    open: Vec<(Vec<u8>, OwnedFd)>,
    /// A directory below all of these, with its path.
    deep: Option<(Vec<u8>, OwnedFd)>,
}

/// A tree may be deeper than the number of available descriptors.
const MOST_OPEN: usize = 64;

impl WorkTree {
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let root = openat(CWD, root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, open: Vec::new(), deep: None })
    }

    pub(crate) fn look(&mut self, path: &[u8]) -> PathEntry {
        let found = self.place(path).and_then(|(dir, name)| statat(dir, name, AtFlags::SYMLINK_NOFOLLOW));
        found.map_or_else(absent, |found| entry_of(&found))
    }

    /// Reads the file or link at `path` if it has up to `most` bytes. A larger file is only hashed,
    /// while `still` returns true.
    pub(crate) fn read(
        &mut self,
        path: &[u8],
        format: Format,
        most: u64,
        still: impl Fn() -> bool,
    ) -> io::Result<Content> {
        let (dir, name) = self.place(path)?;
        let found = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => {
                let bytes = readlinkat(dir, name, Vec::new())?.into_bytes();
                Ok(whole(format, bytes))
            }
            FileType::RegularFile => {
                let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                let file = File::from(openat(dir, name, flags, Mode::empty())?);
                if !file.metadata()?.is_file() {
                    return Err(io::ErrorKind::InvalidInput.into());
                }
                contents(file, format, most, still)
            }
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// The directory that holds `path`, and the name in it.
    fn place<'p>(&mut self, path: &'p [u8]) -> Result<(BorrowedFd<'_>, &'p OsStr), Errno> {
        let cut = path.iter().rposition(|&byte| byte == b'/');
        let (dir, name) = cut.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        let steps: Vec<&[u8]> =
            if dir.is_empty() { Vec::new() } else { dir.split(|&byte| byte == b'/').collect() };
        let odd = |step: &&[u8]| matches!(*step, b"" | b"." | b"..");
        if steps.iter().chain([&name]).any(odd) {
            return Err(Errno::NOENT);
        }
        let (upper, lower) = steps.split_at(steps.len().min(MOST_OPEN));
        let shared = self.open.iter().zip(upper).take_while(|((open, _), step)| open == *step).count();
        self.open.truncate(shared);
        for step in &upper[shared..] {
            let above = self.open.last().map_or(self.root.as_fd(), |(_, dir)| dir.as_fd());
            let next = enter(above, step)?;
            self.open.push((step.to_vec(), next));
        }
        let known = self.deep.as_ref().is_some_and(|(at, _)| at == dir);
        if !lower.is_empty() && !known {
            let mut next: Option<OwnedFd> = None;
            for step in lower {
                let above = self.open.last().map_or(self.root.as_fd(), |(_, dir)| dir.as_fd());
                next = Some(enter(next.as_ref().map_or(above, AsFd::as_fd), step)?);
            }
            self.deep = next.map(|next| (dir.to_vec(), next));
        }
        let last = if lower.is_empty() { self.open.last() } else { self.deep.as_ref() };
        Ok((last.map_or(self.root.as_fd(), |(_, dir)| dir.as_fd()), OsStr::from_bytes(name)))
    }
}

fn enter(above: BorrowedFd<'_>, step: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(above, OsStr::from_bytes(step), flags, Mode::empty())
}

/// Whether an error means that nothing is there, or that it is unknown.
fn absent(error: Errno) -> PathEntry {
    match error {
        // No link on the way is followed, and no name can be longer.
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG => PathEntry::Nothing,
        _ => PathEntry::Unseen,
    }
}

fn entry_of(found: &rustix::fs::Stat) -> PathEntry {
    let mode = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if found.st_mode & 0o100 != 0 => 0o100755,
        FileType::RegularFile => 0o100644,
        FileType::Symlink => 0o120000,
        FileType::Directory => return PathEntry::Directory,
        _ => return PathEntry::Nothing,
    };
    PathEntry::File(Stat {
        mode,
        size: u64::try_from(found.st_size).unwrap_or(0),
        mtime: (found.st_mtime, u32::try_from(found.st_mtime_nsec).unwrap_or(0)),
        ctime: (found.st_ctime, u32::try_from(found.st_ctime_nsec).unwrap_or(0)),
        ino: found.st_ino,
    })
}

fn whole(format: Format, bytes: Vec<u8>) -> Content {
    let (oid, size) = (blob_name(format, &bytes), bytes.len() as u64);
    Content { oid, bytes: Some(bytes), size, sha256: None, counted: None }
}

/// As git counts: text after the last newline is a line too.
pub(super) fn counted(bytes: &[u8]) -> Counted {
    let first = usize::try_from(FIRST).unwrap_or(usize::MAX).min(bytes.len());
    if memchr::memchr(0, &bytes[..first]).is_some() {
        return Counted::Binary;
    }
    let ends = memchr::memchr_iter(b'\n', bytes).count() as u64;
    Counted::Text { lines: ends + u64::from(bytes.last().is_some_and(|last| *last != b'\n')) }
}

fn contents(mut file: File, format: Format, most: u64, still: impl Fn() -> bool) -> io::Result<Content> {
    let size = file.metadata()?.len();
    if size <= most {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // If the file grows meanwhile, read its original length.
        file.take(size).read_to_end(&mut bytes)?;
        return Ok(whole(format, bytes));
    }
    let (mut name, mut sum) = (BlobHasher::new(format, size), Sha256::new());
    let mut chunk = vec![0; 256 << 10];
    let mut left = size;
    let (mut binary, mut lines, mut last) = (false, 0, b'\n');
    while left > 0 {
        if !still() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        match file.read(&mut chunk[..part])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                // The part that git checks for NULs.
                let first = usize::try_from(FIRST.saturating_sub(size - left)).unwrap_or(0).min(n);
                binary |= memchr::memchr(0, &chunk[..first]).is_some();
                lines += memchr::memchr_iter(b'\n', &chunk[..n]).count() as u64;
                last = chunk[n - 1];
                name.update(&chunk[..n]);
                sum.update(&chunk[..n]);
                left -= n as u64;
            }
        }
    }
    let lines = lines + u64::from(last != b'\n');
    let counted = if binary { Counted::Binary } else { Counted::Text { lines } };
    let sha256 = Some(hex(&sum.finalize()));
    Ok(Content { oid: name.finish(), bytes: None, size, sha256, counted: Some(counted) })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_behind_a_link_is_not_there() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("outside/d")).unwrap();
        fs::create_dir_all(dir.path().join("tree/real")).unwrap();
        fs::write(dir.path().join("outside/d/secret"), "x").unwrap();
        fs::write(dir.path().join("tree/real/file"), "hi\n").unwrap();
        symlink("../outside/d", dir.path().join("tree/link")).unwrap();
        let mut tree = WorkTree::open(&dir.path().join("tree")).unwrap();
        assert_eq!(tree.look(b"link/secret"), PathEntry::Nothing);
        assert_eq!(tree.look(b"real/../link/secret"), PathEntry::Nothing);
        assert_eq!(tree.look(b"../outside/d/secret"), PathEntry::Nothing);
        assert_eq!(tree.look(b"/etc/passwd"), PathEntry::Nothing);
        assert_eq!(tree.look(b"real"), PathEntry::Directory);
        assert!(tree.read(b"link/secret", Format::Sha1, 9, || true).is_err());
        let link = tree.read(b"link", Format::Sha1, 9, || true).unwrap();
        assert_eq!(link.bytes.as_deref(), Some(b"../outside/d".as_slice()));
        assert!(matches!(tree.look(b"real/file"), PathEntry::File(Stat { mode: 0o100644, size: 3, .. })));
    }

    #[test]
    fn only_what_is_surely_not_there_is_gone() {
        for error in [Errno::NOENT, Errno::NOTDIR, Errno::LOOP] {
            assert_eq!(absent(error), PathEntry::Nothing);
        }
        for error in [Errno::ACCESS, Errno::MFILE, Errno::IO] {
            assert_eq!(absent(error), PathEntry::Unseen);
        }
    }

    #[test]
    fn a_deep_tree_is_seen_to_its_bottom_with_few_descriptors() {
        let dir = tempfile::tempdir().unwrap();
        let deep = vec!["d"; 300].join("/");
        fs::create_dir_all(dir.path().join(&deep)).unwrap();
        for name in ["a", "b"] {
            fs::write(dir.path().join(&deep).join(name), "1").unwrap();
        }
        let mut tree = WorkTree::open(dir.path()).unwrap();
        for name in ["a", "b"] {
            let path = format!("{deep}/{name}");
            assert!(matches!(tree.look(path.as_bytes()), PathEntry::File(Stat { size: 1, .. })));
        }
        assert_eq!(tree.open.len(), MOST_OPEN);
        assert_eq!(tree.look(format!("{deep}/none/x").as_bytes()), PathEntry::Nothing);
        assert_eq!(tree.look(b"d"), PathEntry::Directory);
    }

    #[test]
    fn a_large_file_has_the_same_names_and_is_not_held() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), vec![b'x'; 600_000]).unwrap();
        let mut tree = WorkTree::open(dir.path()).unwrap();
        let held = tree.read(b"f", Format::Sha1, 600_000, || true).unwrap();
        let named = tree.read(b"f", Format::Sha1, 599_999, || true).unwrap();
        assert_eq!((held.oid, held.sha256()), (named.oid, named.sha256()));
        assert!(held.bytes.is_some() && named.bytes.is_none());
        assert!(tree.read(b"f", Format::Sha1, 1, || false).is_err());
    }
}
