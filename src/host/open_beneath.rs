//! Opens files below a directory by descriptor, without following links, so that nothing swapped in
//! meanwhile can lead outside.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// Why a file was not opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeneathError {
    #[error("there is no such file")]
    Missing,
    /// A name that is absolute, empty or contains `..`.
    #[error("the name leads out of the directory")]
    Outside,
    #[error("there is a link on the way to it")]
    Link,
    /// A directory, pipe, socket or device, or a file with several hard links, which may belong to
    /// anybody.
    #[error("it is not a plain file of its own")]
    NotAFile,
    #[error(transparent)]
    Unreadable(io::Error),
}

/// How often a file with a second hard link is checked before it is refused.
const MOST_LOOKS: u32 = 4;
const MOMENT: Duration = Duration::from_millis(2);

/// The kernel gives up if a rename happens at the same time; ask again this often.
const MOST_TRIES: u32 = 128;

/// Opens the plain file at `name` below `root` for reading.
pub(crate) fn open(root: &Path, name: &Path) -> Result<File, BeneathError> {
    let plain = |part: Component| matches!(part, Component::Normal(_));
    if name.as_os_str().is_empty() || !name.components().all(plain) {
        return Err(BeneathError::Outside);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, root, flags, Mode::empty()).map_err(trouble)?;
    let mut tries = 0;
    loop {
        let file = File::from(descend(&root, name).map_err(trouble)?);
        let found = file.metadata().map_err(BeneathError::Unreadable)?;
        tries += 1;
        match found.nlink() {
            _ if !found.is_file() => return Err(BeneathError::NotAFile),
            // No hard link: the file was replaced after it was opened and is still ours.
            0 | 1 => return Ok(file),
            // A file of ours briefly has two links while it is put back.
            _ if tries < MOST_LOOKS => std::thread::sleep(MOMENT),
            _ => return Err(BeneathError::NotAFile),
        }
    }
}

/// Does not block on a pipe and does not make a terminal the controlling one.
const FOR_READING: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

#[cfg(target_os = "linux")]
fn descend(root: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};

    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..MOST_TRIES {
        match openat2(root, name, FOR_READING, Mode::empty(), resolve) {
            Err(Errno::AGAIN) => {}
            // An old kernel, or a sandbox that blocks the call.
            Err(Errno::NOSYS | Errno::PERM) => return step_by_step(root, name),
            opened => return opened,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(not(target_os = "linux"))]
fn descend(root: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    step_by_step(root, name)
}

/// Opens each part of the name with a call of its own.
fn step_by_step(root: &OwnedFd, name: &Path) -> Result<OwnedFd, Errno> {
    let mut parts = name.components().peekable();
    let mut above: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        let dir = above.as_ref().map_or(root.as_fd(), AsFd::as_fd);
        if parts.peek().is_none() {
            return openat(dir, part.as_os_str(), FOR_READING, Mode::empty());
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        above = Some(openat(dir, part.as_os_str(), flags, Mode::empty())?);
    }
    Err(Errno::NOENT)
}

fn trouble(errno: Errno) -> BeneathError {
    match errno {
        Errno::NOENT | Errno::NAMETOOLONG => BeneathError::Missing,
        Errno::XDEV | Errno::INVAL => BeneathError::Outside,
        // A link in place of a directory.
        Errno::LOOP | Errno::NOTDIR | Errno::AGAIN => BeneathError::Link,
        // A socket, or a pipe without a reader.
        Errno::NXIO | Errno::ISDIR | Errno::NODEV => BeneathError::NotAFile,
        other => BeneathError::Unreadable(other.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::text::test_rows;

    fn text(root: &Path, name: &str) -> Result<String, BeneathError> {
        let mut text = String::new();
        open(root, Path::new(name))?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    /// A home with a file, beside a file outside it.
    fn world() -> (tempfile::TempDir, std::path::PathBuf) {
        let world = tempfile::tempdir().unwrap();
        let home = world.path().join("home");
        fs::create_dir_all(home.join("runs/one")).unwrap();
        fs::write(home.join("runs/one/stdout.log"), "inside").unwrap();
        fs::write(world.path().join("secret"), "outside").unwrap();
        (world, home)
    }

    #[test]
    fn a_plain_file_below_is_opened_either_way() {
        let (_world, home) = world();
        assert_eq!(text(&home, "runs/one/stdout.log").unwrap(), "inside");
        let root = openat(CWD, &home, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let opened = step_by_step(&root, Path::new("runs/one/stdout.log")).unwrap();
        assert_eq!(io::read_to_string(File::from(opened)).unwrap(), "inside");
    }

    #[test]
    fn nothing_else_is() {
        let (world, home) = world();
        let secret = world.path().join("secret");
        symlink(&secret, home.join("link")).unwrap();
        symlink(world.path(), home.join("up")).unwrap();
        symlink("runs", home.join("inner")).unwrap();
        symlink("/proc/self/fd/0", home.join("magic")).unwrap();
        symlink("loop", home.join("loop")).unwrap();
        fs::hard_link(&secret, home.join("hard")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(home.join("socket")).unwrap();
        rustix::fs::mknodat(CWD, home.join("pipe"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        for [name] in test_rows::<[String; 1]>(include_str!("../../tests/data/not_beneath.jsonl")) {
            let name = name.as_str();
            let opened = open(&home, Path::new(name));
            // A slash at the end of a directory names the directory.
            assert!(opened.is_err(), "{name}");
            let root = openat(CWD, &home, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
            if let Ok(stepped) = step_by_step(&root, Path::new(name)) {
                // Parts that lead up are refused before either way is taken.
                let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
                let found = File::from(stepped).metadata().unwrap();
                assert!(!is_plain || !found.is_file() || found.nlink() > 1, "{name}");
            }
        }
    }

    #[test]
    fn a_link_that_is_swapped_in_meanwhile_leads_nowhere() {
        let (world, home) = world();
        let (dir, away) = (home.join("runs/one"), world.path().join("away"));
        fs::create_dir(&away).unwrap();
        fs::write(away.join("stdout.log"), "outside").unwrap();
        let spare = world.path().join("spare");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    fs::rename(&dir, &spare).unwrap();
                    symlink(&away, &dir).unwrap();
                    fs::remove_file(&dir).unwrap();
                    fs::rename(&spare, &dir).unwrap();
                }
                done.store(true, Ordering::Release);
            });
            let root = openat(CWD, &home, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
            let name = Path::new("runs/one/stdout.log");
            let mut inside = 0;
            while !done.load(Ordering::Acquire) {
                let ways = [open(&home, name).ok(), step_by_step(&root, name).ok().map(File::from)];
                for file in ways.into_iter().flatten() {
                    assert_eq!(io::read_to_string(file).unwrap(), "inside");
                    inside += 1;
                }
            }
            assert!(inside > 0);
        });
    }
}
