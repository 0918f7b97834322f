//! Locks for cleanup and for marks.
//!
//! The modification time of the cleanup lock is the time of the last complete cleanup; the file is
//! empty before the first one. Marks have a lock of their own, so that setting one does not wait
//! for compression.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::host::Home;
use crate::host::Lock;
use crate::host::{clock, files};
use crate::model::Timestamp;

/// How often a complete cleanup runs, over all processes.
const EVERY: Duration = Duration::from_secs(60 * 60);
/// Interval between attempts to take the lock.
const TRY: Duration = Duration::from_millis(20);

/// Held during a cleanup.
#[derive(Debug)]
pub(crate) struct CleanupLock(Lock);

impl CleanupLock {
    /// Takes the lock. `None` if it stays held for all of `patience`.
    pub(crate) fn begin(home: &Home, patience: Duration) -> io::Result<Option<Self>> {
        Ok(take(&home.cleanup_lock(), patience)?.map(Self))
    }

    /// Records that a complete cleanup is running.
    pub(crate) fn note(&self, now: Timestamp) -> io::Result<()> {
        let since_epoch = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(0));
        self.0.file().set_len(1)?;
        self.0.file().set_modified(SystemTime::UNIX_EPOCH + since_epoch)
    }
}

/// Held while setting a mark or removing unmarked outputs.
#[derive(Debug)]
pub(crate) struct MarkLock(#[expect(dead_code, reason = "held")] Lock);

impl MarkLock {
    /// Takes the lock. `None` if it stays held for all of `patience`.
    pub(crate) fn begin(home: &Home, patience: Duration) -> io::Result<Option<Self>> {
        Ok(take(&home.marks_lock(), patience)?.map(Self))
    }
}

fn take(path: &Path, patience: Duration) -> io::Result<Option<Lock>> {
    let until = clock::monotonic() + patience;
    loop {
        if let Some(lock) = Lock::take(path)? {
            return Ok(Some(lock));
        }
        if clock::monotonic() >= until {
            return Ok(None);
        }
        std::thread::sleep(TRY);
    }
}

/// The time of the last complete cleanup.
pub(crate) fn last_cleaned(home: &Home) -> Option<Timestamp> {
    fs::symlink_metadata(home.cleanup_lock())
        .ok()
        .filter(|found| found.len() > 0)
        .map(|found| files::modified(&found))
}

/// Time until the next cleanup; zero if it is due.
pub(crate) fn until_due(last: Option<Timestamp>, now: Timestamp) -> Duration {
    match last {
        // A time in the future means that the clock was set back.
        Some(last) if last <= now => EVERY.saturating_sub(Duration::from_millis(now.millis_since(last))),
        Some(_) | None => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::env::{self, Env};

    #[track_caller]
    fn check(last: Option<i64>, now: i64, due_in: u64) {
        let at = |second: i64| Timestamp::from_millis(second * 1000);
        assert_eq!(until_due(last.map(at), at(now)), Duration::from_secs(due_in));
    }

    #[test]
    fn it_is_done_once_an_hour() {
        check(None, 10_000, 0);
        check(Some(10_000), 10_000, 3600);
        check(Some(10_000), 10_060, 3540);
        check(Some(10_000), 13_600, 0);
        check(Some(10_000), 99_999, 0);
    }

    #[test]
    fn a_clock_that_was_set_back_holds_nothing_up() {
        check(Some(10_001), 10_000, 0);
    }

    #[test]
    fn one_cleans_up_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("home");
        let home = Home::open(&Env::of(&[(env::HOME, root.to_str().unwrap())])).unwrap();
        assert_eq!(last_cleaned(&home), None);
        let first = CleanupLock::begin(&home, Duration::ZERO).unwrap().unwrap();
        assert!(CleanupLock::begin(&home, Duration::from_millis(30)).unwrap().is_none());
        assert_eq!(last_cleaned(&home), None, "nobody has cleaned up yet");
        let moment = Timestamp::from_millis(1_794_735_000_123);
        first.note(moment).unwrap();
        drop(first);
        assert_eq!(last_cleaned(&home), Some(moment));
        assert!(CleanupLock::begin(&home, Duration::ZERO).unwrap().is_some());
        assert_eq!(last_cleaned(&home), Some(moment), "taking the lock is no cleanup");
    }
}
