//! Cleans up captures and terminals: removes old ones, compresses large ones, and reports what is
//! left.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::host::Home;
use crate::host::files;
use crate::model::Timestamp;
use crate::storage::cleanup_lock::{CleanupLock, MarkLock};
use crate::storage::file_names::{self, FileRole};
use crate::storage::retention::{CleanupAction, RetentionPolicy, fate};
use crate::storage::survey::{OutputKind, StoredOutput, directories, plain_files, survey};
use crate::storage::{compress, pin, remove_unchanged};
use crate::terminals;

/// Setting a mark never takes longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Totals for one kind of output, and what cleanup did about it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OutputTotals {
    pub(crate) count: u64,
    pub(crate) files: u64,
    pub(crate) bytes: u64,
    pub(crate) oldest: Option<Timestamp>,
    pub(crate) pinned: u64,
    pub(crate) live: u64,
    /// Expired ones, and how many of them were removed.
    pub(crate) expired: u64,
    pub(crate) removed: u64,
    /// Compressible ones, and how many of them were compressed.
    pub(crate) compressible: u64,
    pub(crate) compressed: u64,
    /// By removal and compression.
    pub(crate) bytes_saved: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Storage {
    pub(crate) captures: OutputTotals,
    pub(crate) terminals: OutputTotals,
}

impl Storage {
    /// Total number of expired outputs.
    pub(crate) fn expired(&self) -> u64 {
        self.captures.expired + self.terminals.expired
    }

    fn of(&mut self, kind: OutputKind) -> &mut OutputTotals {
        match kind {
            OutputKind::Capture => &mut self.captures,
            OutputKind::Terminal => &mut self.terminals,
        }
    }
}

impl OutputTotals {
    /// Counts an existing output.
    fn add(&mut self, output: &StoredOutput, files: u64, bytes: u64) {
        self.count += 1;
        self.files += files;
        self.bytes += bytes;
        let written = output.kept.written_at;
        self.oldest = Some(self.oldest.map_or(written, |oldest| oldest.min(written)));
        self.pinned += u64::from(output.kept.pinned);
        self.live += u64::from(output.kept.live);
    }

    fn judge(&mut self, fate: CleanupAction) {
        self.expired += u64::from(fate == CleanupAction::Remove);
        self.compressible += u64::from(fate == CleanupAction::Compress);
    }
}

/// Reports what exists and what a cleanup would do. Changes nothing.
pub(crate) fn look(home: &Home, policy: RetentionPolicy, now: Timestamp) -> Storage {
    let mut storage = Storage::default();
    for output in survey(home) {
        let stock = storage.of(output.kind);
        stock.judge(fate(output.kept, policy, now));
        stock.add(&output, output.files, output.bytes);
    }
    storage
}

/// Cleans up. An output that cannot be cleaned up stays and does not stop the rest.
pub(crate) fn sweep(home: &Home, policy: RetentionPolicy, now: Timestamp, _alone: &CleanupLock) -> Storage {
    let Ok(Some(marking)) = MarkLock::begin(home, PATIENCE) else { return look(home, policy, now) };
    settle(home, policy, now);
    let mut storage = Storage::default();
    // Remove first: compression needs space.
    let (old, others): (Vec<_>, Vec<_>) =
        survey(home).into_iter().partition(|output| fate(output.kept, policy, now) == CleanupAction::Remove);
    for output in old {
        let stock = storage.of(output.kind);
        stock.judge(CleanupAction::Remove);
        if remove(home, &output).is_ok_and(|removed| removed) {
            stock.removed += 1;
            stock.bytes_saved += output.bytes;
        } else {
            stock.add(&output, output.files, output.bytes);
        }
    }
    // Compression takes time and respects marks set meanwhile, so release the lock.
    drop(marking);
    for mut output in others {
        output.kept.pinned |= pin::is_marked(&output);
        let fate = fate(output.kept, policy, now);
        let stock = storage.of(output.kind);
        stock.judge(fate);
        match fate {
            CleanupAction::Compress => match compress::compress(&output.dir, &output.long) {
                Ok(Some(packed)) => {
                    // A compressed version that existed before was replaced.
                    let replaced = output.packed.as_ref().map_or(0, fs::Metadata::len);
                    let bytes = output.bytes - output.kept.plain_bytes - replaced + packed;
                    stock.compressed += 1;
                    stock.bytes_saved += output.bytes.saturating_sub(bytes);
                    stock.add(&output, output.files - u64::from(output.packed.is_some()), bytes);
                }
                Ok(None) | Err(_) => stock.add(&output, output.files, output.bytes),
            },
            CleanupAction::Stay
                if output.plain.is_some() && output.packed.is_some() && !output.kept.pinned =>
            {
                let packed = output.packed.as_ref().map_or(0, fs::Metadata::len);
                let path = output.dir.join(format!("{}{}", output.long, file_names::PACKED));
                let gone = u64::from(fs::remove_file(path).is_ok());
                stock.bytes_saved += packed * gone;
                stock.add(&output, output.files - gone, output.bytes - packed * gone);
            }
            CleanupAction::Remove | CleanupAction::Stay => stock.add(&output, output.files, output.bytes),
        }
    }
    storage
}

/// Removes an output. Returns `false` if it was written again meanwhile.
fn remove(home: &Home, output: &StoredOutput) -> io::Result<bool> {
    match output.kind {
        OutputKind::Capture => {
            if let Some(plain) = &output.plain
                && !remove_unchanged::remove(&output.dir, &output.long, plain)?
            {
                return Ok(false);
            }
            if output.packed.is_some() {
                fs::remove_file(output.dir.join(format!("{}{}", output.long, file_names::PACKED)))?;
            }
        }
        OutputKind::Terminal => {
            // The rename hides it at once, even if we die before it is deleted.
            let gone = home.terminals().join(format!("{}{}", output.name, file_names::GONE));
            fs::rename(&output.dir, &gone)?;
            fs::remove_dir_all(&gone)?;
        }
    }
    Ok(true)
}

/// Completes interrupted operations and removes leftover files.
fn settle(home: &Home, policy: RetentionPolicy, now: Timestamp) {
    let captures = home.captures();
    for (name, metadata) in plain_files(&captures) {
        let Some((base, part)) = file_names::capture(&name) else { continue };
        let there = |name: &str| captures.join(name).symlink_metadata().is_ok();
        let of_nothing = || !there(base) && !there(&format!("{base}{}", file_names::PACKED));
        // Writing a file never takes this long.
        let old = || u128::from(now.millis_since(files::modified(&metadata))) >= policy.age.as_millis();
        let done = match part {
            FileRole::Aside => remove_unchanged::put_back(&captures.join(base)),
            FileRole::Unfinished => fs::remove_file(captures.join(&name)),
            FileRole::Pin if of_nothing() => fs::remove_file(captures.join(&name)),
            FileRole::Temporary if old() => fs::remove_file(captures.join(&name)),
            FileRole::Plain | FileRole::Packed | FileRole::Pin | FileRole::Temporary => Ok(()),
        };
        // The next cleanup tries again.
        let _ = done;
    }
    let recorded = home.terminals();
    for name in directories(&recorded) {
        let dir = recorded.join(&name);
        if name.strip_suffix(file_names::GONE).is_some_and(file_names::is_terminal) {
            let _ = fs::remove_dir_all(&dir);
        } else if file_names::is_terminal(&name) {
            settle_terminal(&dir);
        }
    }
}

fn settle_terminal(dir: &Path) {
    let beside = |suffix: &str| dir.join(format!("{}{suffix}", terminals::OUTPUT));
    if beside(file_names::ASIDE).symlink_metadata().is_ok() {
        let _ = remove_unchanged::put_back(&dir.join(terminals::OUTPUT));
    }
    let _ = fs::remove_file(beside(file_names::UNFINISHED));
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::SystemTime;

    use flate2::read::GzDecoder;

    use super::*;
    use crate::host::clock;
    use crate::host::env::{self, Env};
    use crate::storage::captures::Captures;

    const POLICY: RetentionPolicy = RetentionPolicy { age: Duration::from_secs(3600), compress: true };

    fn home(dir: &tempfile::TempDir) -> Home {
        let root = dir.path().join("home");
        Home::open(&Env::of(&[(env::HOME, root.to_str().unwrap())])).unwrap()
    }

    fn clean(home: &Home) -> Storage {
        let cleaning = CleanupLock::begin(home, Duration::from_secs(60)).unwrap().unwrap();
        sweep(home, POLICY, clock::now(), &cleaning)
    }

    fn packed(path: &Path) -> PathBuf {
        PathBuf::from(format!("{}.gz", path.display()))
    }

    /// What a reader finds that accepts either version.
    fn read(path: &Path) -> Vec<u8> {
        let unpacked = || {
            let mut text = Vec::new();
            GzDecoder::new(File::open(packed(path))?).read_to_end(&mut text)?;
            io::Result::Ok(text)
        };
        fs::read(path).or_else(|_| unpacked()).or_else(|_| fs::read(path)).unwrap()
    }

    #[test]
    fn a_text_said_again_while_it_is_old_is_not_lost() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let captures = Captures::of(&home);
        let mut removed = 0;
        for _ in 0..300 {
            let path = captures.keep("said again", "tool").unwrap().path;
            let old = Timestamp::EARLIEST.as_millis().unsigned_abs();
            let written = SystemTime::UNIX_EPOCH + Duration::from_millis(old);
            File::options().write(true).open(&path).unwrap().set_modified(written).unwrap();
            let (cleaned, path) = thread::scope(|scope| {
                let cleaner = scope.spawn(|| clean(&home));
                let path = captures.keep("said again", "tool").unwrap().path;
                (cleaner.join().unwrap(), path)
            });
            removed += cleaned.captures.removed;
            assert_eq!(fs::read(&path).unwrap(), b"said again");
            assert_eq!(fs::read_dir(home.captures()).unwrap().count(), 1);
        }
        assert!(removed < 300, "none was said in time");
    }

    #[test]
    fn nobody_waits_with_a_mark_until_something_is_compressed() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let path =
            Captures::of(&home).keep(&"a line of a long text\n".repeat(2_000_000), "tool").unwrap().path;
        let unfinished = PathBuf::from(format!("{}.gz.tmp", path.display()));
        thread::scope(|scope| {
            let cleaner = scope.spawn(|| clean(&home));
            while !unfinished.exists() {
                assert!(!cleaner.is_finished());
                thread::yield_now();
            }
            assert!(MarkLock::begin(&home, Duration::ZERO).unwrap().is_some());
            assert!(CleanupLock::begin(&home, Duration::ZERO).unwrap().is_none());
            assert_eq!(cleaner.join().unwrap().captures.compressed, 1);
        });
    }

    #[test]
    fn a_text_said_again_while_it_is_compressed_can_always_be_read() {
        let dir = tempfile::tempdir().unwrap();
        let home = home(&dir);
        let captures = Captures::of(&home);
        let text = "a line of a long text\n".repeat(60_000);
        let path = captures.keep(&text, "tool").unwrap().path;
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    clean(&home);
                }
            });
            for _ in 0..100 {
                captures.keep(&text, "tool").unwrap();
                assert!(read(&path) == text.as_bytes());
            }
            done.store(true, Ordering::Relaxed);
        });
        let cleaned = clean(&home);
        assert!(read(&path) == text.as_bytes());
        let found = fs::metadata(packed(&path)).unwrap().len();
        assert_eq!((cleaned.captures.count, cleaned.captures.files, cleaned.captures.bytes), (1, 1, found));
        assert_eq!(fs::read_dir(home.captures()).unwrap().count(), 1);
    }
}
