//! Where the commands of a run ran, where its agent keeps that beside its events, and what they
//! tell once that is known.
//!
//! A record that is missing, too long, damaged or of other commands tells nothing: all commands are
//! taken to have started in the run's directory then.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::agents::{self, Ran, Reader, is_rollout_of, rollout_folders};
use crate::evidence::Gathered;
use crate::host::beneath;
use crate::model::{AgentName, Event, Request, Timestamp};
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

impl Over<'_> {
    /// What its commands told, each where it ran; `None` where none is known to have run elsewhere
    /// than in the run's directory.
    pub(super) fn gathered(&self) -> Option<Gathered> {
        let thread = self.thread.filter(|_| self.request.agent == AgentName::Codex)?;
        let ran = read(rollout(&codex_home(self.environment)?, thread)?, thread, self.started_at).ok()?;
        let cwd = &self.request.cwd;
        ran.iter().any(|ran| ran.directory != *cwd).then_some(())?;
        let directories = matched(&self.commands()?, &ran)?;
        self.gather(&directories)
    }

    fn reader(&self) -> Box<dyn Reader> {
        agents::agent(self.request.agent).reader(self.request, &prompts::render(self.request))
    }

    /// The commands that came to their end, by its events.
    fn commands(&self) -> Option<Vec<(String, Option<i64>)>> {
        let (mut reader, mut commands) = (self.reader(), Vec::new());
        let read = each_line(&self.dir.events(), |line| {
            for event in reader.line(line).events {
                if let Event::CommandEnded { command, exit_code, .. } = event
                    && commands.len() <= MOST_COMMANDS
                {
                    commands.push((command, exit_code));
                }
            }
        });
        read.ok().filter(|()| commands.len() <= MOST_COMMANDS).map(|()| commands)
    }

    /// Reads the events once more, now that the directory of each command is known.
    fn gather(&self, directories: &[&Path]) -> Option<Gathered> {
        let mut gathered = Gathered::new(&self.request.cwd, self.request.project());
        let (mut reader, mut moments) = (self.reader(), self.moments.iter());
        let mut directories = directories.iter();
        let mut is_whole = true;
        let read = each_line(&self.dir.events(), |line| {
            let reading = reader.line(line);
            let printed = reading.output.as_ref().map(|output| output.text.as_str());
            for event in &reading.events {
                let Some(at) = moments.next() else {
                    is_whole = false;
                    return;
                };
                let ends = matches!(event, Event::CommandEnded { .. });
                let directory = ends.then(|| directories.next()).flatten();
                gathered.note_in(directory.copied(), event, printed, at);
            }
        });
        (read.is_ok() && is_whole && moments.next().is_none()).then_some(gathered)
    }
}

/// The directory of each of `commands`, as far as the record has them; `None` where it has others.
fn matched<'a>(commands: &[(String, Option<i64>)], ran: &'a [Ran]) -> Option<Vec<&'a Path>> {
    let mut both = commands.iter().zip(ran);
    // What was still running at the end is in the record alone.
    both.all(|((command, exit_code), ran)| ran.is(command, *exit_code))
        .then(|| ran.iter().take(commands.len()).map(|ran| ran.directory.as_path()).collect())
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
fn read(mut file: File, thread: &str, since: Timestamp) -> io::Result<Vec<Ran>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST_BYTES)))?;
    let (mut lines, mut found) = (Lines::default(), Vec::new());
    let mut each = |line: &[u8]| {
        let ran = Ran::read(line, thread).filter(|ran| ran.ended_at >= since);
        found.extend(ran.filter(|_| found.len() <= MOST_COMMANDS));
    };
    let (mut chunk, mut file) = (vec![0; 256 << 10], file.take(MOST_BYTES));
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            n => lines.feed(&chunk[..n], &mut each),
        }
    }
    lines.finish(each);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    const THREAD: &str = "01a1e42f-f448-77f1-aa66-5b7e5d109407";
    const FOLDER: &str = "sessions/2026/11/16";

    /// A home with the record of commands: words, exit code, directory, end.
    fn home(commands: &[(&str, i64, &str, i64)]) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FOLDER).join(format!("rollout-2026-11-16T11-48-30-{THREAD}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let line = |(words, exit_code, cwd, completed_at_ms): &(&str, i64, &str, i64)| {
            let command = ["/bin/bash", "-lc", words];
            let item =
                json!({ "type": "CommandExecution", "command": command, "cwd": cwd, "exit_code": exit_code });
            let payload = json!({ "type": "item_completed", "thread_id": THREAD, "item": item, "completed_at_ms": completed_at_ms });
            format!(
                "{{\"type\":\"world_state\"}}\n{}\nno json\n",
                json!({ "type": "event_msg", "payload": payload })
            )
        };
        fs::write(&file, commands.iter().map(line).collect::<String>()).unwrap();
        (home, file)
    }

    fn ran(home: &Path, since: i64) -> Option<Vec<Ran>> {
        read(rollout(home, THREAD)?, THREAD, Timestamp::from_millis(since)).ok()
    }

    #[track_caller]
    fn check(ran: &[Ran], events: &[(&str, i64)], expected: Option<&[&str]>) {
        let events: Vec<_> =
            events.iter().map(|(words, code)| (format!("/bin/bash -lc '{words}'"), Some(*code))).collect();
        let expected = expected.map(|all| all.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(matched(&events, ran), expected, "{events:?}");
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
        check(&ran, &[("make test", 2), ("make test", 0)], Some(&["/a", "/b"]));
        check(&ran, &[], Some(&[]));
        // Of what the record does not have, nothing is known.
        let all = [("make test", 2), ("make test", 0), ("sleep 9", -1), ("ls", 0)];
        check(&ran, &all, Some(&["/a", "/b", "/c"]));
        for events in [
            &[("make test", 0), ("make test", 2)][..],
            &[("make test", 2), ("make", 0)],
            &[("old", 0), ("make test", 2), ("make test", 0)],
        ] {
            check(&ran, events, None);
        }
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
