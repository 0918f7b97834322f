//! Looks at a working tree by descriptor, one directory after the other: no
//! link on the way is followed, so nothing outside is ever read.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};
use sha2::{Digest, Sha256};

use super::object::{BlobHasher, Format, Oid, blob_name, hex};

/// Seconds and nanoseconds since the epoch.
pub(crate) type Time = (i64, u32);

/// What a file looks like without being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// As git writes it: 100644, 100755 or 120000.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    pub(crate) ino: u64,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    File(Stat),
    Directory,
    /// Nothing, or nothing that git would know: a pipe, a socket, a device.
    Nothing,
}

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) oid: Oid,
    /// Absent where it was too large to be held.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) size: u64,
    /// Of large files only; of others it is made from the bytes when needed.
    sha256: Option<String>,
}

impl Content {
    pub(crate) fn sha256(&self) -> Option<String> {
        self.sha256.clone().or_else(|| self.bytes.as_deref().map(super::object::sha256))
    }
}

#[derive(Debug)]
pub(crate) struct WorkTree {
    root: OwnedFd,
    /// The directories from the root to where we looked last.
    open: Vec<(Vec<u8>, OwnedFd)>,
}

impl WorkTree {
    pub(crate) fn open(root: &Path) -> io::Result<Self> {
        let root = openat(CWD, root, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self { root, open: Vec::new() })
    }

    pub(crate) fn look(&mut self, path: &[u8]) -> Found {
        let Some((dir, name)) = self.place(path) else { return Found::Nothing };
        statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map_or(Found::Nothing, |found| told(&found))
    }

    /// Reads the file or link at `path`, all of it up to `most` bytes; of a
    /// larger one only the names are made, unless `still` says to stop.
    pub(crate) fn read(
        &mut self,
        path: &[u8],
        format: Format,
        most: u64,
        still: impl Fn() -> bool,
    ) -> io::Result<Content> {
        let (dir, name) = self.place(path).ok_or(io::ErrorKind::NotFound)?;
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
    fn place<'p>(&mut self, path: &'p [u8]) -> Option<(std::os::fd::BorrowedFd<'_>, &'p OsStr)> {
        let cut = path.iter().rposition(|&byte| byte == b'/');
        let (dir, name) = cut.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
        let steps: Vec<&[u8]> =
            if dir.is_empty() { Vec::new() } else { dir.split(|&byte| byte == b'/').collect() };
        let odd = |step: &&[u8]| matches!(*step, b"" | b"." | b"..");
        if steps.iter().chain([&name]).any(odd) {
            return None;
        }
        let shared = self.open.iter().zip(&steps).take_while(|((open, _), step)| open == *step).count();
        self.open.truncate(shared);
        for step in &steps[shared..] {
            let above = self.open.last().map_or(self.root.as_fd(), |(_, dir)| dir.as_fd());
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let next = openat(above, OsStr::from_bytes(step), flags, Mode::empty()).ok()?;
            self.open.push((step.to_vec(), next));
        }
        Some((self.open.last().map_or(self.root.as_fd(), |(_, dir)| dir.as_fd()), OsStr::from_bytes(name)))
    }
}

fn told(found: &rustix::fs::Stat) -> Found {
    let mode = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if found.st_mode & 0o100 != 0 => 0o100755,
        FileType::RegularFile => 0o100644,
        FileType::Symlink => 0o120000,
        FileType::Directory => return Found::Directory,
        _ => return Found::Nothing,
    };
    Found::File(Stat {
        mode,
        size: u64::try_from(found.st_size).unwrap_or(0),
        mtime: (found.st_mtime, u32::try_from(found.st_mtime_nsec).unwrap_or(0)),
        ctime: (found.st_ctime, u32::try_from(found.st_ctime_nsec).unwrap_or(0)),
        ino: found.st_ino,
    })
}

fn whole(format: Format, bytes: Vec<u8>) -> Content {
    let (oid, size) = (blob_name(format, &bytes), bytes.len() as u64);
    Content { oid, bytes: Some(bytes), size, sha256: None }
}

fn contents(mut file: File, format: Format, most: u64, still: impl Fn() -> bool) -> io::Result<Content> {
    let size = file.metadata()?.len();
    if size <= most {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
        // One that grows under our eyes is as long as it was when we opened it.
        file.take(size).read_to_end(&mut bytes)?;
        return Ok(whole(format, bytes));
    }
    let (mut name, mut sum) = (BlobHasher::new(format, size), Sha256::new());
    let mut chunk = vec![0; 256 << 10];
    let mut left = size;
    while left > 0 {
        if !still() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let part = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        match file.read(&mut chunk[..part])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                name.update(&chunk[..n]);
                sum.update(&chunk[..n]);
                left -= n as u64;
            }
        }
    }
    Ok(Content { oid: name.finish(), bytes: None, size, sha256: Some(hex(&sum.finalize())) })
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
        assert_eq!(tree.look(b"link/secret"), Found::Nothing);
        assert_eq!(tree.look(b"real/../link/secret"), Found::Nothing);
        assert_eq!(tree.look(b"../outside/d/secret"), Found::Nothing);
        assert_eq!(tree.look(b"/etc/passwd"), Found::Nothing);
        assert_eq!(tree.look(b"real"), Found::Directory);
        assert!(tree.read(b"link/secret", Format::Sha1, 9, || true).is_err());
        let link = tree.read(b"link", Format::Sha1, 9, || true).unwrap();
        assert_eq!(link.bytes.as_deref(), Some(b"../outside/d".as_slice()));
        assert!(matches!(tree.look(b"real/file"), Found::File(Stat { mode: 0o100644, size: 3, .. })));
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
