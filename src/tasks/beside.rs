//! What the record that an agent keeps of its thread adds to its events: where its commands ran, and
//! commands that no event tells of.
//!
//! Where a record is missing, all commands are taken to have started in the run's directory. From where
//! it cannot be believed, they started nobody knows where, if some are known to have started elsewhere at
//! all.

use std::path::Path;

use crate::agents::{self, Mark, Ran, Reader, Unreported};
use crate::evidence::{Gathered, Printed};
use crate::model::{AgentName, Event, ItemStatus, Request, Timestamp};
use crate::progress::plain;
use crate::prompts;
use crate::runs::RunDir;
use crate::tasks::record::Moments;
use crate::tasks::reread::each_line;
use crate::tasks::rollout::{self, MOST_COMMANDS, Record};

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
        rollout::record(self.environment, thread, self.started_at)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use serde_json::json;

    use super::*;
    use crate::agents::testing::request;
    use crate::tasks::testing::{THREAD, home, home_of, line};

    fn ran(home: &Path, since: i64) -> Vec<Ran> {
        let environment = [("CODEX_HOME".to_owned(), home.to_str().unwrap().to_owned())];
        rollout::record(&environment, THREAD, Timestamp::from_millis(since)).unwrap().all
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
        let ran = ran(home.path(), 2);
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
}
