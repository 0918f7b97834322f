//! Where the commands of a run ran, where its agent keeps that beside its events, and what they
//! tell once that is known. It also has commands that no event tells of.
//!
//! Where a record is missing, all commands are taken to have started in the run's directory. Of one that
//! is damaged, too long to be read whole, or has other commands from somewhere on, what comes before that
//! is believed; the rest started nobody knows where, if some are known to have started elsewhere at all.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::agents::{
    self, Mark, Ran, Reader, Silence, Told, Unreported, is_older_than, is_rollout_of, rollout_folders,
};
use crate::evidence::{Gathered, Printed};
use crate::host::beneath;
use crate::model::{AgentName, Event, ItemStatus, Request, Timestamp};
use crate::progress::plain;
use crate::prompts;
use crate::runs::RunDir;
use crate::supervisor::Lines;
use crate::tasks::record::Moments;
use crate::tasks::reread::each_line;

/// What is read of a record's end. Those of resumed threads hold all that came before, too.
const MOST_BYTES: u64 = 64 << 20;
/// More commands are not told apart.
const MOST_COMMANDS: usize = 10_000;
/// More files in a folder are not looked at.
const MOST_FILES: usize = 20_000;
/// Of commands that are named in a warning.
const MOST_NAMED: usize = 3;
const LONGEST_COMMAND: usize = 80;

/// A run that is over.
pub(super) struct Over<'a> {
    pub(super) dir: &'a RunDir,
    pub(super) request: &'a Request,
    pub(super) environment: &'a [(String, String)],
    pub(super) thread: Option<&'a str>,
    pub(super) started_at: Timestamp,
    /// When each of its events came.
    pub(super) moments: &'a Moments,
}

/// What a record adds to the events.
#[derive(Default)]
pub(super) struct Added {
    /// What the commands told, each where it ran; `None` where the record adds nothing to that.
    pub(super) gathered: Option<Gathered>,
    /// Commands that failed, and that no event tells of.
    pub(super) unreported: Vec<Unreported>,
}

impl Added {
    /// What the events leave out, for whoever reads them.
    pub(super) fn warning(&self) -> Option<String> {
        let told = |one: &Unreported| {
            format!("`{}` (exit code {})", plain::line(&one.words, LONGEST_COMMAND), one.exit_code)
        };
        let named: Vec<String> = self.unreported.iter().take(MOST_NAMED).map(told).collect();
        let what = match self.unreported.len() {
            0 => return None,
            1 => "a command that failed, as if the sandbox had refused it",
            _ => "commands that failed, as if the sandbox had refused them",
        };
        let more = match self.unreported.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!("Codex has no event of {what}: {}{more}", named.join(", ")))
    }
}

impl Over<'_> {
    pub(super) fn added(&self) -> Added {
        let Some(Record { all, known, unreported }) = self.record() else { return Added::default() };
        let is_elsewhere = all.iter().any(|ran| ran.directory != self.request.cwd);
        if !is_elsewhere && unreported.is_empty() {
            return Added::default();
        }
        let Some(marks) = self.marks() else { return Added::default() };
        // A record that leaves out what the events have says nothing by that of others.
        let unreported = if all.len() < marks.len() { Vec::new() } else { unreported };
        let directories = match is_elsewhere {
            true => matched(&marks, &all[..known]),
            false => vec![self.request.cwd.as_path(); marks.len()],
        };
        Added { gathered: self.gather(&directories, &unreported), unreported }
    }

    fn record(&self) -> Option<Record> {
        let thread = self.thread.filter(|_| self.request.agent == AgentName::Codex)?;
        let file = rollout(&codex_home(self.environment)?, thread)?;
        read(file, MOST_BYTES, thread, self.started_at).ok()?
    }

    fn reader(&self) -> Box<dyn Reader> {
        agents::agent(self.request.agent).reader(self.request, &prompts::render(self.request))
    }

    /// The commands that came to their end, by its events.
    fn marks(&self) -> Option<Vec<Mark>> {
        let (mut reader, mut marks) = (self.reader(), Vec::new());
        let read = each_line(&self.dir.events(), self.request.max_stream_bytes, |line| {
            for event in reader.line(line).events {
                if let Event::CommandEnded { command, exit_code, .. } = event
                    && marks.len() <= MOST_COMMANDS
                {
                    marks.push(Mark::of(&command, exit_code));
                }
            }
        });
        read.ok().filter(|()| marks.len() <= MOST_COMMANDS).map(|()| marks)
    }

    /// Reads the events once more, now that the directories of the first commands are known, and each
    /// command that is not among them in its place.
    fn gather(&self, directories: &[&Path], unreported: &[Unreported]) -> Option<Gathered> {
        let mut gathered = Gathered::new(&self.request.cwd, self.request.project());
        let (mut reader, mut moments) = (self.reader(), self.moments.iter());
        let (mut directories, mut unreported) = (directories.iter(), unreported.iter().peekable());
        let (mut ended, mut is_whole) = (0, true);
        let read = each_line(&self.dir.events(), self.request.max_stream_bytes, |line| {
            let reading = reader.line(line);
            let printed = reading.output.as_ref().map(|output| Printed::whole(&output.text));
            for event in &reading.events {
                let Some(at) = moments.next() else {
                    is_whole = false;
                    return;
                };
                while let Some(one) = unreported.next_if(|one| one.ended_at <= at && one.after <= ended) {
                    self.note_unreported(&mut gathered, one);
                }
                let ends = matches!(event, Event::CommandEnded { .. });
                ended += usize::from(ends);
                match ends.then(|| directories.next()) {
                    None => gathered.note_in(None, event, printed, at),
                    Some(Some(directory)) => gathered.note_in(Some(directory), event, printed, at),
                    Some(None) => gathered.note_somewhere(event, printed, at),
                }
            }
        });
        unreported.for_each(|one| self.note_unreported(&mut gathered, one));
        (read.is_ok() && is_whole && moments.next().is_none()).then_some(gathered)
    }

    fn note_unreported(&self, gathered: &mut Gathered, one: &Unreported) {
        let event = Event::CommandEnded {
            item: String::new(),
            command: one.command(),
            exit_code: Some(one.exit_code),
            output_bytes: one.text.len() as u64,
            status: ItemStatus::Failed,
        };
        let directory = self.request.cwd.join(&one.directory);
        let printed = Printed { text: &one.text, is_whole: one.is_whole };
        gathered.note_in(Some(&directory), &event, Some(printed), one.ended_at);
    }
}

/// The directory of each command, until the record has another or none. What was still running at the
/// end is in the record alone.
fn matched<'a>(marks: &[Mark], ran: &'a [Ran]) -> Vec<&'a Path> {
    let both = marks.iter().zip(ran).take_while(|(mark, ran)| **mark == ran.mark);
    both.map(|(_, ran)| ran.directory.as_path()).collect()
}

fn codex_home(environment: &[(String, String)]) -> Option<PathBuf> {
    let value = |name: &str| {
        let found = environment.iter().find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| PathBuf::from(value))
    };
    let home = value("CODEX_HOME").or_else(|| Some(value("HOME")?.join(".codex")));
    home.filter(|home| home.is_absolute())
}

/// The one record of a thread.
fn rollout(home: &Path, thread: &str) -> Option<File> {
    for folder in rollout_folders(thread) {
        let Ok(entries) = fs::read_dir(home.join(&folder)) else { continue };
        let names = entries.take(MOST_FILES).flatten().map(|entry| entry.file_name());
        let mut found = names.filter_map(|name| Some(name.to_str()?.to_owned()));
        if let Some(name) = found.find(|name| is_rollout_of(thread, name)) {
            return beneath::open(home, &Path::new(&folder).join(name)).ok();
        }
    }
    None
}

/// The commands of a record that ended since a moment.
#[derive(Debug, PartialEq, Eq)]
struct Record {
    all: Vec<Ran>,
    /// How many of the first are known to have none missing before them: each of the same words would
    /// get the directory of another.
    known: usize,
    /// Those that no event tells of.
    unreported: Vec<Unreported>,
}

/// Those in the last `most` bytes of a record; `None` where the clock was set back between them.
fn read(mut file: File, most: u64, thread: &str, since: Timestamp) -> io::Result<Option<Record>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let known = if length <= most { None } else { Some(0) };
    let (ran, silence) = (Vec::new(), Silence::default());
    let mut found = Found { since, known, is_in_order: true, ran, silence };
    let (mut lines, mut skipped) = (Lines::default(), 0);
    let (mut chunk, mut file) = (vec![0; 256 << 10], file.take(most));
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            n => lines.feed(&chunk[..n], |line| found.note(line, thread)),
        }
        // It begins where the chunk ends.
        if lines.skipped() != std::mem::replace(&mut skipped, lines.skipped()) {
            found.note_missing();
        }
    }
    lines.finish(|line| found.note(line, thread));
    // What was not read may be the event of one.
    let unreported = if found.known.is_none() { found.silence.finish() } else { Vec::new() };
    let known = found.known.unwrap_or(found.ran.len());
    Ok(found.is_in_order.then_some(Record { all: found.ran, known, unreported }))
}

/// The commands since a moment, as a record is read.
struct Found {
    since: Timestamp,
    /// How many were seen before one that may be missing.
    known: Option<usize>,
    is_in_order: bool,
    ran: Vec<Ran>,
    silence: Silence,
}

impl Found {
    fn note(&mut self, line: &[u8], thread: &str) {
        match Told::read(line, thread) {
            Told::Ended(ran) if ran.ended_at < self.since => self.note_older(),
            Told::Ended(ran) => {
                self.silence.note_reported(&ran.id);
                if self.ran.len() <= MOST_COMMANDS {
                    self.ran.push(ran);
                }
            }
            Told::Nothing => self.silence.note(line, self.since, self.ran.len()),
            Told::Unclear => self.note_missing(),
        }
        // What was not seen before an old line is older still.
        if self.known.is_some() && is_older_than(self.since, line) {
            self.note_older();
            self.known = None;
        }
    }

    fn note_missing(&mut self) {
        self.known.get_or_insert(self.ran.len());
    }

    /// A record is in the order of time, unless the clock was set back.
    fn note_older(&mut self) {
        self.is_in_order &= self.ran.is_empty();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use serde_json::json;

    use super::*;
    use crate::agents::testing::request;

    const THREAD: &str = "01a1e42f-f448-77f1-aa66-5b7e5d109407";
    const FOLDER: &str = "sessions/2026/11/16";

    /// A command of a record: words, exit code, directory, end.
    type Command<'a> = (&'a str, i64, &'a str, i64);

    fn line((words, exit_code, cwd, completed_at_ms): &Command) -> String {
        let command = ["/bin/bash", "-lc", words];
        let item = json!({ "type": "CommandExecution", "id": "c", "command": command, "cwd": cwd, "exit_code": exit_code });
        let payload = json!({ "type": "item_completed", "thread_id": THREAD, "item": item, "completed_at_ms": completed_at_ms });
        let timestamp = Timestamp::from_millis(*completed_at_ms);
        format!("{}\n", json!({ "timestamp": timestamp, "type": "event_msg", "payload": payload }))
    }

    fn home_of(record: &str) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FOLDER).join(format!("rollout-2026-11-16T11-48-30-{THREAD}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, record).unwrap();
        (home, file)
    }

    /// A home with the record of commands, among other lines.
    fn home(commands: &[Command]) -> (tempfile::TempDir, PathBuf) {
        let beside = |command| format!("{{\"type\":\"world_state\"}}\n{}no json\n", line(command));
        home_of(&commands.iter().map(beside).collect::<String>())
    }

    fn ran(home: &Path, since: i64) -> Option<Vec<Ran>> {
        let file = rollout(home, THREAD)?;
        read(file, MOST_BYTES, THREAD, Timestamp::from_millis(since)).unwrap().map(|record| record.all)
    }

    /// How many commands since `since` the last `most` bytes of a record are known to be.
    fn known(record: &str, most: usize, since: i64) -> Option<usize> {
        let (home, _) = home_of(record);
        let file = rollout(home.path(), THREAD).unwrap();
        read(file, most as u64, THREAD, Timestamp::from_millis(since)).unwrap().map(|record| record.known)
    }

    #[track_caller]
    fn check(ran: &[Ran], events: &[(&str, i64)], expected: &[&str]) {
        let mark = |(words, code): &(&str, i64)| Mark::of(&format!("/bin/bash -lc '{words}'"), Some(*code));
        let expected: Vec<&Path> = expected.iter().map(Path::new).collect();
        assert_eq!(matched(&events.iter().map(mark).collect::<Vec<_>>(), ran), expected, "{events:?}");
    }

    #[test]
    fn commands_are_known_by_their_words_and_their_order() {
        let (home, _) = home(&[
            ("old", 0, "/x", 1),
            ("make test", 2, "/a", 5),
            ("make test", 0, "/b", 6),
            ("sleep 9", -1, "/c", 7),
        ]);
        let ran = ran(home.path(), 2).unwrap();
        check(&ran, &[("make test", 2), ("make test", 0)], &["/a", "/b"]);
        check(&ran, &[], &[]);
        // Of what the record does not have, nothing is known.
        let all = [("make test", 2), ("make test", 0), ("sleep 9", -1), ("ls", 0)];
        check(&ran, &all, &["/a", "/b", "/c"]);
        // From where it has another, it is of no help.
        check(&ran, &[("make test", 0), ("make test", 2)], &[]);
        check(&ran, &[("make test", 2), ("make", 0), ("make test", 0)], &["/a"]);
        check(&ran, &[("old", 0), ("make test", 2), ("make test", 0)], &[]);
    }

    #[test]
    fn of_the_end_of_a_record_all_is_known_since_something_older() {
        let [old, red, green] =
            [("ls", 0, "/x", 1), ("make", 2, "/a", 5), ("make", 0, "/b", 6)].map(|c| line(&c));
        let record = [old.as_str(), &red, &green, &green].concat();
        assert_eq!(known(&record, record.len(), 2), Some(3));
        // The old one is not whole any more, or not there at all.
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
            // It is none where something follows that is older than the run.
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
    fn a_record_counts_where_it_tells_more_than_the_events() {
        let run = tempfile::tempdir().unwrap();
        let dir = RunDir::at(run.path().into());
        let request = Request { agent: AgentName::Codex, ..request() };
        let added = |record: &str| {
            let (home, _) = home_of(record);
            let environment = [("CODEX_HOME".to_owned(), home.path().to_str().unwrap().to_owned())];
            let (thread, started_at) = (Some(THREAD), Timestamp::from_millis(2));
            let (dir, request, environment) = (&dir, &request, &environment[..]);
            let moments = &Moments::default();
            let added = Over { dir, request, environment, thread, started_at, moments }.added();
            (added.gathered.is_some(), added.unreported.len())
        };
        let [elsewhere, here] = ["/a", request.cwd.to_str().unwrap()].map(|cwd| line(&("make", 0, cwd, 5)));
        let call = json!({ "type": "function_call", "name": "exec_command", "call_id": "a", "arguments": r#"{"cmd":"make"}"# });
        let output = "Process exited with code 1\nOutput:\nPermission denied\n";
        let answer = json!({ "type": "function_call_output", "call_id": "a", "output": output });
        let written =
            |payload| format!("{}\n", json!({ "timestamp": "2026-11-16T11:00:00Z", "payload": payload }));
        let silent = [written(call), written(answer)].concat();
        fs::write(dir.events(), "").unwrap();
        assert_eq!(added(""), (false, 0));
        assert_eq!(added(&here), (false, 0));
        assert_eq!(added(&elsewhere), (true, 0));
        assert_eq!(added(&silent), (true, 1));
        // It has none of the run's commands, so that one without an event says nothing.
        let item = json!({ "id": "1", "type": "command_execution", "command": "/bin/bash -lc 'make'",
                           "aggregated_output": "Permission denied\n", "exit_code": 1, "status": "failed" });
        fs::write(dir.events(), format!("{}\n", json!({ "type": "item.completed", "item": item }))).unwrap();
        assert_eq!(added(&silent).1, 0);
        fs::write(dir.events(), "").unwrap();
        // Nobody waits for what an agent put in the place of its events.
        fs::remove_file(dir.events()).unwrap();
        mknodat(CWD, dir.events(), FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert_eq!(added(&elsewhere), (false, 0));
        assert_eq!(added(&silent), (false, 0));
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
