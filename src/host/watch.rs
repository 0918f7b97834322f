//! Sleeping until a file changes.
//!
//! The watch is made only while somebody waits. When the user's notification
//! instances are used up, a short sleep takes its place: waiting then costs a
//! little, but it still works.

use std::io;
use std::path::Path;
use std::time::Duration;

/// How long one sleep takes where the system gives no notifications.
const POLL: Duration = Duration::from_millis(40);

#[derive(Debug)]
pub(crate) struct Watch {
    #[cfg(target_os = "linux")]
    inotify: Option<std::os::fd::OwnedFd>,
}

/// Why a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    Changed,
    TimedOut,
}

#[cfg(target_os = "linux")]
impl Watch {
    pub(crate) fn new() -> Self {
        use rustix::fs::inotify::{CreateFlags, init};
        Self { inotify: init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok() }
    }

    /// Wakes when something in the directory appears or is released, or when
    /// the file is written or closed by a writer.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let Some(inotify) = &self.inotify else { return Ok(()) };
        let flags = WatchFlags::MOVED_TO
            | WatchFlags::CREATE
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY
            | WatchFlags::DELETE_SELF;
        match add_watch(inotify, path, flags) {
            Ok(_) => Ok(()),
            // Out of watches: go on by polling.
            Err(rustix::io::Errno::NOSPC | rustix::io::Errno::NOMEM) => {
                self.inotify = None;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn sleep(&mut self, at_most: Duration) -> Woken {
        use rustix::event::{PollFd, PollFlags, poll};
        let Some(inotify) = &self.inotify else { return poll_sleep(at_most) };
        let mut fds = [PollFd::new(inotify, PollFlags::IN)];
        let limit = rustix::event::Timespec {
            tv_sec: i64::try_from(at_most.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: at_most.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&limit)) {
            Ok(0) | Err(_) => Woken::TimedOut,
            Ok(_) => {
                self.drain();
                Woken::Changed
            }
        }
    }

    /// One look at the files serves any number of notices.
    fn drain(&self) {
        let mut buffer = [0_u8; 4096];
        if let Some(inotify) = &self.inotify {
            while rustix::io::read(inotify, &mut buffer).is_ok_and(|n| n > 0) {}
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub(crate) fn new() -> Self {
        Self {}
    }

    pub(crate) fn add(&mut self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn sleep(&mut self, at_most: Duration) -> Woken {
        poll_sleep(at_most)
    }
}

fn poll_sleep(at_most: Duration) -> Woken {
    std::thread::sleep(at_most.min(POLL));
    if at_most > POLL { Woken::Changed } else { Woken::TimedOut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::files::{self, Durability};
    use crate::host::lock::{Lock, is_held};

    #[test]
    fn a_rename_into_the_directory_wakes_and_asking_for_a_lock_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(&dir.path().join("run.lock")).unwrap();
        let mut watch = Watch::new();
        watch.add(dir.path()).unwrap();
        assert!(is_held(&dir.path().join("run.lock")).unwrap());
        assert_eq!(watch.sleep(Duration::ZERO), Woken::TimedOut);
        files::write(&dir.path().join("result.json"), b"{}", Durability::Whole).unwrap();
        assert_eq!(watch.sleep(Duration::from_secs(5)), Woken::Changed);
        assert_eq!(watch.sleep(Duration::ZERO), Woken::TimedOut);
        drop(lock);
        assert_eq!(watch.sleep(Duration::from_secs(5)), Woken::Changed, "a freed lock wakes");
    }
}
