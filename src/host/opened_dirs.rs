//! Opens the directories that a run may write to, so that none can be swapped before its agent
//! starts.
//!
//! A path can lead elsewhere right after it was checked; a descriptor cannot. The agent starts in
//! the open directory. Immediately before the exec, all paths are compared with the open
//! directories, because the agent itself uses the paths.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug)]
pub(crate) struct OpenedDirs {
    cwd: OpenedDir,
    others: Vec<OpenedDir>,
    links: Links,
}

/// Whether a path may lead elsewhere than when it was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be opened", path.display())]
pub(crate) struct OpenDirError {
    pub(crate) path: PathBuf,
    #[source]
    pub(crate) source: io::Error,
}

/// The error of a start that was refused because a path names another directory now.
const SWAPPED: i32 = libc::ESTALE;

impl OpenedDirs {
    pub(crate) fn open(cwd: &Path, others: &[PathBuf], links: Links) -> Result<Self, OpenDirError> {
        let open = |path: &Path| {
            OpenedDir::open(path, links).map_err(|source| OpenDirError { path: path.to_owned(), source })
        };
        let others = others.iter().map(|path| open(path)).collect::<Result<_, _>>()?;
        Ok(Self { cwd: open(cwd)?, others, links })
    }

    /// A path of the open directory, for programs that we start ourselves.
    pub(crate) fn cwd(&self) -> PathBuf {
        if cfg!(target_os = "linux") {
            PathBuf::from(format!("/proc/self/fd/{}", self.cwd.directory.as_raw_fd()))
        } else {
            self.cwd.path.clone()
        }
    }

    /// The first path that now names another directory.
    pub(crate) fn swapped(&self) -> Option<&Path> {
        self.held().find(|place| !place.is_named()).map(|place| place.path.as_path())
    }

    /// Makes `command` start in the open directory, or fail if a path now names another directory.
    pub(super) fn enter(&self, command: &mut Command) {
        let cwd = self.cwd.directory.as_raw_fd();
        let held: Vec<_> = self.held().map(|place| (place.name.clone(), place.identity)).collect();
        let hook = move || {
            // SAFETY: a system call on a descriptor that the parent holds open.
            if unsafe { libc::fchdir(cwd) } == -1 {
                return Err(io::Error::last_os_error());
            }
            match held.iter().all(|(name, identity)| identity_of(name) == Some(*identity)) {
                true => Ok(()),
                false => Err(io::Error::from_raw_os_error(SWAPPED)),
            }
        };
        // SAFETY: the hook calls nothing but async-signal-safe functions and allocates nothing.
        unsafe { command.pre_exec(hook) };
    }

    /// The directories whose paths must not change.
    fn held(&self) -> impl Iterator<Item = &OpenedDir> {
        let all = std::iter::once(&self.cwd).chain(&self.others);
        all.filter(|_| self.links == Links::Refused)
    }
}

/// Whether a program was not started because a path of its [`OpenedDirs`] now names another
/// directory.
pub(crate) fn is_swapped(error: &io::Error) -> bool {
    error.raw_os_error() == Some(SWAPPED)
}

#[derive(Debug)]
struct OpenedDir {
    path: PathBuf,
    name: CString,
    directory: File,
    identity: (u64, u64),
}

impl OpenedDir {
    fn open(path: &Path, links: Links) -> io::Result<Self> {
        let name = CString::new(path.as_os_str().as_bytes())?;
        let flags = libc::O_DIRECTORY | libc::O_CLOEXEC;
        #[cfg(target_os = "linux")]
        let flags = flags | libc::O_PATH;
        let directory = File::options().read(true).custom_flags(flags).open(path)?;
        let found = directory.metadata()?;
        let place = Self { path: path.to_owned(), name, directory, identity: (found.dev(), found.ino()) };
        // The descriptor knows its real location; the path may lead elsewhere and back.
        let real = if cfg!(target_os = "linux") {
            std::fs::read_link(format!("/proc/self/fd/{}", place.directory.as_raw_fd()))?
        } else {
            std::fs::canonicalize(path)?
        };
        match links == Links::Followed || (real == path && place.is_named()) {
            true => Ok(place),
            false => Err(io::Error::from_raw_os_error(SWAPPED)),
        }
    }

    fn is_named(&self) -> bool {
        identity_of(&self.name) == Some(self.identity)
    }
}

/// The device and inode of `name`. Safe between fork and exec.
#[expect(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn identity_of(name: &CString) -> Option<(u64, u64)> {
    let mut found = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: a string that ends with zero, and a place for the kernel to fill in.
    let known = unsafe { libc::stat(name.as_ptr(), found.as_mut_ptr()) } == 0;
    // SAFETY: the kernel has filled it in.
    known.then(|| unsafe { found.assume_init() }).map(|found| (found.st_dev as u64, found.st_ino as u64))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::host::spawn;

    struct Yard {
        _dir: tempfile::TempDir,
        root: PathBuf,
    }

    fn yard() -> Yard {
        let dir = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(dir.path()).unwrap();
        ["project", "more", "outside"].iter().for_each(|name| std::fs::create_dir(root.join(name)).unwrap());
        Yard { _dir: dir, root }
    }

    impl Yard {
        fn swap(&self, name: &str) {
            std::fs::rename(self.root.join(name), self.root.join("aside")).unwrap();
            symlink(self.root.join("outside"), self.root.join(name)).unwrap();
        }

        fn open(&self, links: Links) -> Result<OpenedDirs, OpenDirError> {
            OpenedDirs::open(&self.root.join("project"), &[self.root.join("more")], links)
        }
    }

    /// The directory in which a program starts.
    fn begins(ground: &OpenedDirs) -> io::Result<PathBuf> {
        let mut command = spawn::program("/bin/pwd");
        command.arg("-P");
        ground.enter(&mut command);
        let output = command.output()?;
        Ok(PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end()))
    }

    #[test]
    fn a_program_begins_in_the_directory_that_was_opened() {
        for links in [Links::Followed, Links::Refused] {
            let yard = yard();
            let ground = yard.open(links).unwrap();
            assert_eq!(begins(&ground).unwrap(), yard.root.join("project"));
            assert_eq!(std::fs::canonicalize(ground.cwd()).unwrap(), yard.root.join("project"));
            assert_eq!(ground.swapped(), None);
        }
    }

    #[test]
    fn no_program_begins_once_a_directory_was_swapped() {
        for name in ["project", "more"] {
            let yard = yard();
            let ground = yard.open(Links::Refused).unwrap();
            yard.swap(name);
            assert!(is_swapped(&begins(&ground).unwrap_err()), "{name}");
            assert_eq!(ground.swapped(), Some(yard.root.join(name).as_path()));
            assert!(is_swapped(&yard.open(Links::Refused).unwrap_err().source));
        }
    }

    #[test]
    fn where_links_are_followed_a_program_still_begins_in_what_was_opened() {
        let yard = yard();
        let ground = yard.open(Links::Followed).unwrap();
        yard.swap("project");
        assert_eq!(begins(&ground).unwrap(), yard.root.join("aside"));
        let ground = yard.open(Links::Followed).unwrap();
        assert_eq!(begins(&ground).unwrap(), yard.root.join("outside"));
    }
}
