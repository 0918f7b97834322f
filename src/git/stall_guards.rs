//! Gets git going when it stalls on what an agent left: a pipe in place of a rule file or object,
//! which git opens and waits for, or extremely long rules.
//!
//! Git cannot be told to skip them. A pipe that git waits for is opened for writing and closed
//! again, which git sees as an empty file. Nobody else notices. The search starts only when git is
//! silent.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use crate::host::SilentProgram;
use crate::host::{clock, processes};

/// Files that git reads in every directory.
const RULES: [&[u8]; 2] = [b".gitignore", b".gitattributes"];
/// Larger rule files are not waited for once git takes long.
const LARGEST_RULES: u64 = 1 << 20;
/// After this time git may be working on such a file.
const LONG: Duration = Duration::from_secs(1);
const LISTEN: Duration = Duration::from_millis(60);
/// Shorter once a pipe was found, because there may be more.
const LISTEN_TO_PIPES: Duration = Duration::from_millis(2);
/// Limits of the search.
const MOST_ENTRIES: usize = 1_000_000;
const LONGEST: Duration = Duration::from_secs(2);

/// Watches one git process.
#[derive(Debug)]
pub(super) struct StallGuard {
    root: PathBuf,
    objects: PathBuf,
    found: Option<StallCauses>,
}

#[derive(Debug, Default)]
struct StallCauses {
    pipes: Vec<PathBuf>,
    /// Relative to the root.
    large: Option<PathBuf>,
}

impl StallGuard {
    pub(super) fn new(root: &Path, objects: &Path) -> Self {
        Self { root: root.to_owned(), objects: objects.to_owned(), found: None }
    }

    /// Called while git is silent. Returns how long to wait before the next call.
    pub(super) fn on_silence(&mut self, silent: SilentProgram) -> Result<Duration, String> {
        if silent.since < LONG && !processes::is_asleep(silent.pid) {
            return Ok(LISTEN);
        }
        let found = self.found.get_or_insert_with(|| look(&self.root, &self.objects));
        if let Some(large) = found.large.as_ref().filter(|_| silent.since >= LONG) {
            return Err(format!("the rules in `{}` are too long", large.display()));
        }
        found.pipes.iter().for_each(|pipe| release(pipe));
        Ok(if found.pipes.is_empty() { LISTEN } else { LISTEN_TO_PIPES })
    }
}

/// Releases whoever waits for a writer of `pipe`.
fn release(pipe: &Path) {
    // Fails, as intended, if nobody waits.
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let _ = openat(CWD, pipe, flags, Mode::empty());
}

fn look(root: &Path, objects: &Path) -> StallCauses {
    let mut found = StallCauses::default();
    let until = clock::monotonic() + LONGEST;
    let mut left = MOST_ENTRIES;
    let mut open = VecDeque::from([(objects.to_owned(), false), (root.to_owned(), true)]);
    while let Some((path, in_tree)) = open.pop_front() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let Ok(entries) = openat(CWD, &path, flags, Mode::empty()).and_then(Dir::new) else { continue };
        if clock::monotonic() > until {
            break;
        }
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if left == 0 {
                return found;
            }
            left -= 1;
            let at = || path.join(OsStr::from_bytes(name));
            let is_rules = in_tree && RULES.contains(&name);
            match entry.file_type() {
                _ if matches!(name, b"." | b"..") || in_tree && name == b".git" => {}
                FileType::Directory => open.push_back((at(), in_tree)),
                _ if is_rules => found.note(&at(), root),
                FileType::Fifo | FileType::Symlink if !in_tree => found.note(&at(), root),
                _ => {}
            }
        }
    }
    found
}

impl StallCauses {
    /// Records a file that git reads, or a link to one.
    fn note(&mut self, path: &Path, root: &Path) {
        let Ok(stat) = statat(CWD, path, AtFlags::empty()) else { return };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Fifo => self.pipes.push(path.to_owned()),
            FileType::RegularFile if stat.st_size.unsigned_abs() > LARGEST_RULES => {
                self.large = path.strip_prefix(root).ok().map(Path::to_owned);
            }
            _ => {}
        }
    }
}
