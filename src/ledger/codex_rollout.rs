//! Finds and reads the rollout file in which Codex records a thread.
//!
//! If a record is damaged, too long to read whole, or at some point has other commands than the run, only the
//! part before that is trusted.

use std::fs;
use std::fs::File;
use std::io;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::agents::{
    RolloutCommand, RolloutLine, Unreported, UnreportedFinder, is_older_than, is_rollout_of, rollout_folders,
};
use crate::host::open_beneath;
use crate::model::Timestamp;
use crate::supervisor::LineSplitter;

/// How much is read of the end of a record. The record of a resumed thread also holds everything before.
const MOST_BYTES: u64 = 64 << 20;
/// At most this many commands are read.
pub(crate) const MOST_COMMANDS: usize = 10_000;
/// At most this many files of a folder are looked at.
const MOST_FILES: usize = 20_000;

/// The commands in the thread's record since `since`, if there is a record.
pub(crate) fn record(
    environment: &[(String, String)],
    thread: &str,
    since: Timestamp,
) -> Option<RolloutCommands> {
    let file = rollout(&codex_home(environment)?, thread)?;
    read_since(file, MOST_BYTES, thread, since).ok()?
}

/// The commands in a record that ended since a given time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RolloutCommands {
    pub(crate) all: Vec<RolloutCommand>,
    /// How many of the first commands are known to be complete, with none missing before them. A gap would
    /// assign a command the directory of another one with the same words.
    pub(crate) known: usize,
    /// Commands that no event reported.
    pub(crate) unreported: Vec<Unreported>,
}

fn codex_home(environment: &[(String, String)]) -> Option<PathBuf> {
    let value = |name: &str| {
        let scan = environment.iter().find(|(key, value)| key == name && !value.is_empty());
        scan.map(|(_, value)| PathBuf::from(value))
    };
    let home = value("CODEX_HOME").or_else(|| Some(value("HOME")?.join(".codex")));
    home.filter(|home| home.is_absolute())
}

/// The record of a thread.
fn rollout(home: &Path, thread: &str) -> Option<File> {
    for folder in rollout_folders(thread) {
        let Ok(entries) = fs::read_dir(home.join(&folder)) else { continue };
        let names = entries.take(MOST_FILES).flatten().map(|entry| entry.file_name());
        let mut scan = names.filter_map(|name| Some(name.to_str()?.to_owned()));
        if let Some(name) = scan.find(|name| is_rollout_of(thread, name)) {
            return open_beneath::open(home, &Path::new(&folder).join(name)).ok();
        }
    }
    None
}

/// Reads the commands in the last `most` bytes of a record; `None` if the clock was set back between them.
fn read_since(
    mut file: File,
    most: u64,
    thread: &str,
    since: Timestamp,
) -> io::Result<Option<RolloutCommands>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let known = if length <= most { None } else { Some(0) };
    let (ran, silence) = (Vec::new(), UnreportedFinder::default());
    let mut scan = RolloutScan { since, known, is_in_order: true, ran, silence };
    let (mut lines, mut skipped) = (LineSplitter::default(), 0);
    let (mut chunk, mut file) = (vec![0; 256 << 10], file.take(most));
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            n => lines.feed(&chunk[..n], |line| scan.note(line, thread)),
        }
        // The skipped line began in this chunk.
        if lines.skipped() != std::mem::replace(&mut skipped, lines.skipped()) {
            scan.note_missing();
        }
    }
    lines.finish(|line| scan.note(line, thread));
    // An unread line may be the event of one of them.
    let unreported = if scan.known.is_none() { scan.silence.finish() } else { Vec::new() };
    let known = scan.known.unwrap_or(scan.ran.len());
    Ok(scan.is_in_order.then_some(RolloutCommands { all: scan.ran, known, unreported }))
}

/// Collects commands while a record is read.
struct RolloutScan {
    since: Timestamp,
    /// How many commands came before the first that may be missing.
    known: Option<usize>,
    is_in_order: bool,
    ran: Vec<RolloutCommand>,
    silence: UnreportedFinder,
}

impl RolloutScan {
    fn note(&mut self, line: &[u8], thread: &str) {
        match RolloutLine::read(line, thread) {
            RolloutLine::Ended(ran) if ran.ended_at < self.since => self.note_older(),
            RolloutLine::Ended(ran) => {
                self.silence.note_reported(&ran.id);
                if self.ran.len() <= MOST_COMMANDS {
                    self.ran.push(ran);
                }
            }
            RolloutLine::Nothing => self.silence.note(line, self.since, self.ran.len()),
            RolloutLine::Unclear => self.note_missing(),
        }
        // Whatever was missed before an older line is older, too.
        if self.known.is_some() && is_older_than(self.since, line) {
            self.note_older();
            self.known = None;
        }
    }

    fn note_missing(&mut self) {
        self.known.get_or_insert(self.ran.len());
    }

    /// A record is in chronological order unless the clock was set back.
    fn note_older(&mut self) {
        self.is_in_order &= self.ran.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::ledger::test_rollouts::{THREAD, home, home_of, line};

    fn ran(home: &Path, since: i64) -> Option<Vec<RolloutCommand>> {
        let file = rollout(home, THREAD)?;
        read_since(file, MOST_BYTES, THREAD, Timestamp::from_millis(since)).unwrap().map(|record| record.all)
    }

    /// How many commands since `since` are known from the last `most` bytes of a record.
    fn known(record: &str, most: usize, since: i64) -> Option<usize> {
        let (home, _) = home_of(record);
        let file = rollout(home.path(), THREAD).unwrap();
        read_since(file, most as u64, THREAD, Timestamp::from_millis(since))
            .unwrap()
            .map(|record| record.known)
    }

    #[test]
    fn of_the_end_of_a_record_all_is_known_since_something_older() {
        let [old, red, green] =
            [("ls", 0, "/x", 1), ("make", 2, "/a", 5), ("make", 0, "/b", 6)].map(|c| line(&c));
        let record = [old.as_str(), &red, &green, &green].concat();
        assert_eq!(known(&record, record.len(), 2), Some(3));
        // The old line is cut, or not read at all.
        for most in (0..record.len()).step_by(9) {
            assert_eq!(known(&record, most, 2), Some(0), "{most}");
        }
        let record = ["what came before\n", &record].concat();
        assert_eq!(known(&record, record.len() - 1, 2), Some(3));
        let record = ["what came before\n{\"timestamp\":\"1970-01-01T00:00:00Z\"}\n", &red, &green].concat();
        assert_eq!(known(&record, record.len() - 1, 2), Some(2));
    }

    #[test]
    fn a_line_that_is_not_read_may_be_a_command_of_the_run() {
        let [old, red, green] =
            [("ls", 0, "/x", 1), ("make", 2, "/a", 5), ("make", 0, "/b", 6)].map(|c| line(&c));
        let nowhere = |at| line(&("make", 2, "nowhere", at));
        let long = format!("{}\n", "x".repeat(17 << 20));
        for unread in [nowhere(5).as_str(), &long] {
            assert_eq!(known(&[unread, &red, &green].concat(), 64 << 20, 2), Some(0));
            assert_eq!(known(&[&red, unread, &green].concat(), 64 << 20, 2), Some(1));
            assert_eq!(known(&[&red, &green, unread].concat(), 64 << 20, 2), Some(2));
            // A line followed by one older than the run is not from the run.
            assert_eq!(known(&[unread, &old, &red, &green].concat(), 64 << 20, 2), Some(2));
        }
        assert_eq!(known(&[nowhere(1), red, green].concat(), 64 << 20, 2), Some(2));
    }

    #[test]
    fn of_a_clock_that_was_set_back_nothing_is_known() {
        let record =
            [("make", 2, "/a", 5), ("make", 0, "/b", 1), ("make", 0, "/b", 3)].map(|c| line(&c)).concat();
        assert_eq!(known(&record, record.len(), 2), None);
        assert_eq!(known(&record, record.len(), 1), Some(3));
        let record = ["x".repeat(17 << 20), "\n".into(), record].concat();
        assert_eq!(known(&record, record.len(), 2), None);
    }

    #[test]
    fn a_record_is_read_only_where_it_is_a_file_of_its_own() {
        let (home, file) = home(&[("ls", 0, "/a", 5)]);
        assert_eq!(ran(home.path(), 0).unwrap().len(), 1);
        let elsewhere = home.path().join("elsewhere");
        fs::rename(&file, &elsewhere).unwrap();
        assert_eq!(ran(home.path(), 0), None);
        symlink(&elsewhere, &file).unwrap();
        assert_eq!(ran(home.path(), 0), None);
        assert!(rollout(&home.path().join("none"), THREAD).is_none());
    }

    #[test]
    fn codex_has_its_home_where_the_run_had_it() {
        let set = |values: &[(&str, &str)]| {
            let values: Vec<_> = values.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
            codex_home(&values)
        };
        assert_eq!(set(&[("HOME", "/h"), ("CODEX_HOME", "/c")]), Some("/c".into()));
        assert_eq!(set(&[("HOME", "/h"), ("CODEX_HOME", "")]), Some("/h/.codex".into()));
        assert_eq!(set(&[("CODEX_HOME", "here")]), None);
        assert_eq!(set(&[]), None);
    }
}
