//! Sleeps until a file changes.
//!
//! Falls back to polling if the user's inotify instances are used up.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::host::clock;

/// Polling interval without inotify.
const POLL: Duration = Duration::from_millis(40);

/// Longest poll: releasing a lock does not change the file's modification time.
const POLL_AT_MOST: Duration = Duration::from_millis(480);

/// Sent instead of a watch number if the queue overflowed.
const TOO_MANY: i32 = -1;

#[derive(Debug)]
pub(crate) struct Watch {
    inotify: Option<OwnedFd>,
    /// The watched paths and their watch numbers.
    paths: BTreeMap<PathBuf, i32>,
}

/// Why a sleep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    Changed,
    TimedOut,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { inotify: notifications(), paths: BTreeMap::new() }
    }

    #[cfg(test)]
    fn without_notifications() -> Self {
        Self { inotify: None, paths: BTreeMap::new() }
    }

    /// Wakes when a file is renamed into or closed in the directory `path`, or when the file `path`
    /// is written or closed.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        let number = match self.inotify.as_ref().map_or(Ok(0), |inotify| watch_path(inotify, path)) {
            // Out of watches: continue by polling.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::ENOMEM)) => {
                self.inotify = None;
                0
            }
            other => other?,
        };
        self.paths.insert(path.to_owned(), number);
        Ok(())
    }

    pub(crate) fn remove(&mut self, path: &Path) {
        if let (Some(number), Some(inotify)) = (self.paths.remove(path), &self.inotify) {
            forget_path(inotify, number);
        }
    }

    pub(crate) fn sleep(&mut self, at_most: Duration) -> Woken {
        let until = clock::monotonic() + at_most;
        loop {
            let left = until.saturating_sub(clock::monotonic());
            let Some(inotify) = &self.inotify else { return self.poll(left) };
            let limit = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut [PollFd::new(inotify, PollFlags::IN)], Some(&limit)) {
                Ok(0) | Err(_) => return Woken::TimedOut,
                Ok(_) if self.concerns_us(inotify) => return Woken::Changed,
                Ok(_) => {}
            }
        }
    }

    /// Takes all notices, since one look at the files serves them all. Removing a watch sends a
    /// notice too, which does not count.
    fn concerns_us(&self, inotify: &OwnedFd) -> bool {
        let mut any = false;
        let is_ours = |number| number == TOO_MANY || self.paths.values().any(|known| *known == number);
        take_notices(inotify, |number| any |= is_ours(number));
        any
    }

    fn poll(&self, at_most: Duration) -> Woken {
        let times = || self.paths.keys().map(|path| path.metadata().and_then(|found| found.modified()).ok());
        let before: Vec<_> = times().collect();
        let mut left = at_most.min(POLL_AT_MOST);
        while left > Duration::ZERO {
            std::thread::sleep(left.min(POLL));
            left = left.saturating_sub(POLL);
            if times().ne(before.iter().copied()) {
                return Woken::Changed;
            }
        }
        Woken::TimedOut
    }
}

impl Drop for Watch {
    /// Closing takes the kernel some 15 ms, so a thread does it.
    fn drop(&mut self) {
        if let Some(inotify) = self.inotify.take() {
            let _ = std::thread::Builder::new().name("closer".into()).spawn(move || drop(inotify));
        }
    }
}

#[cfg(target_os = "linux")]
fn notifications() -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, init};
    init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
}

#[cfg(not(target_os = "linux"))]
fn notifications() -> Option<OwnedFd> {
    None
}

#[cfg(target_os = "linux")]
fn watch_path(inotify: &OwnedFd, path: &Path) -> io::Result<i32> {
    use rustix::fs::inotify::{WatchFlags, add_watch};
    // In a directory only finished files count: growing output must not wake anybody.
    let changed = if path.is_dir() { WatchFlags::MOVED_TO } else { WatchFlags::MODIFY };
    Ok(add_watch(inotify, path, changed | WatchFlags::CLOSE_WRITE)?)
}

#[cfg(target_os = "linux")]
fn forget_path(inotify: &OwnedFd, number: i32) {
    // The watch of a removed file is gone already.
    let _ = rustix::fs::inotify::remove_watch(inotify, number);
}

/// Calls `notice` with the watch number of each notice.
#[cfg(target_os = "linux")]
fn take_notices(inotify: &OwnedFd, mut notice: impl FnMut(i32)) {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = rustix::fs::inotify::Reader::new(inotify, &mut buffer);
    while let Ok(event) = reader.next() {
        notice(event.wd());
    }
}

#[cfg(not(target_os = "linux"))]
fn watch_path(_inotify: &OwnedFd, _path: &Path) -> io::Result<i32> {
    Ok(0)
}

#[cfg(not(target_os = "linux"))]
fn forget_path(_inotify: &OwnedFd, _number: i32) {}

#[cfg(not(target_os = "linux"))]
fn take_notices(_inotify: &OwnedFd, _notice: impl FnMut(i32)) {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::host::files::{self, Durability};
    use crate::host::lock::{Lock, is_held};

    #[test]
    fn without_notifications_a_rename_is_seen_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let mut watch = Watch::without_notifications();
        watch.add(dir.path()).unwrap();
        assert_eq!(watch.sleep(Duration::from_millis(1)), Woken::TimedOut);
        // Whenever the sleep begins, a change follows it.
        let (path, stop) = (dir.path().to_owned(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let writer = std::thread::spawn(move || {
            for number in (0..).take_while(|_| !stopped.load(Ordering::Relaxed)) {
                files::write(&path.join(format!("{number}.json")), b"{}", Durability::Whole).unwrap();
            }
        });
        let woken = watch.sleep(Duration::from_secs(60));
        stop.store(true, Ordering::Relaxed);
        writer.join().unwrap();
        assert_eq!(woken, Woken::Changed);
    }

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

    #[test]
    fn what_is_watched_no_more_wakes_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("one"), dir.path().join("other"));
        let [first, second] = [&one, &other].map(|path| Lock::take(path).unwrap());
        let mut watch = Watch::new();
        watch.add(&one).unwrap();
        watch.add(&other).unwrap();
        watch.remove(&one);
        drop(first);
        assert_eq!(watch.sleep(Duration::from_millis(20)), Woken::TimedOut);
        drop(second);
        assert_eq!(watch.sleep(Duration::from_secs(5)), Woken::Changed);
        std::fs::remove_file(&other).unwrap();
        assert_eq!(watch.sleep(Duration::from_secs(5)), Woken::Changed, "a removed file wakes");
        watch.remove(&other);
    }
}
