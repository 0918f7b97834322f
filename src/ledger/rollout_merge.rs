//! Adds to a run's ledger what Codex's record of the thread knows beyond the events: the directory of each
//! command, and commands that no event reported.
//!
//! Without a record, all commands are assumed to have started in the run's directory. Where a record can no
//! longer be trusted, the directory is unknown if any command is known to have started elsewhere.

use std::io::Write;
use std::path::Path;

use crate::agents::{CommandFingerprint, RolloutCommand, Unreported};
use crate::evidence::{CommandEnd, CommandOutcome, LedgerEntry, Printed, Span, judge};
use crate::host::files;
use crate::ledger::codex_rollout;
use crate::ledger::codex_rollout::RolloutCommands;
use crate::ledger::{read, transcript_text};
use crate::model::{ItemStatus, Request, Timestamp};
use crate::runs::RunDir;
use crate::text::plain;

/// How many commands a warning names.
const MOST_NAMED: usize = 3;
const LONGEST_COMMAND: usize = 80;

/// A finished run.
pub(crate) struct RolloutMerge<'a> {
    pub(crate) dir: &'a RunDir,
    pub(crate) request: &'a Request,
    pub(crate) environment: &'a [(String, String)],
    pub(crate) thread: Option<&'a str>,
    pub(crate) started_at: Timestamp,
}

impl RolloutMerge<'_> {
    /// Rewrites the ledger where the record knows more, and returns a warning about commands without an
    /// event.
    pub(crate) fn merge(&self) -> Option<String> {
        let thread = self.thread.filter(|_| self.request.agent.abilities().keeps_rollouts)?;
        let RolloutCommands { all, known, unreported } =
            codex_rollout::record(self.environment, thread, self.started_at)?;
        let is_elsewhere = all.iter().any(|ran| ran.directory != self.request.cwd);
        if !is_elsewhere && unreported.is_empty() {
            return None;
        }
        let mut entries = read::entries(self.dir);
        let ended = |entry: &&LedgerEntry| entry.outcome != CommandOutcome::Unfinished;
        let marks: Vec<CommandFingerprint> = entries
            .iter()
            .filter(ended)
            .map(|entry| CommandFingerprint::of(&entry.line, entry.exit_code))
            .collect();
        // If the record lacks commands that the events have, its other commands prove nothing.
        let unreported = if all.len() < marks.len() { Vec::new() } else { unreported };
        if is_elsewhere {
            self.place(&mut entries, &matched(&marks, &all[..known]));
        }
        for one in unreported.iter().rev() {
            let before = entries.iter().position(|entry| entry.number as usize > one.after || !ended(&entry));
            entries.insert(before.unwrap_or(entries.len()), self.entry(one));
        }
        entries.iter_mut().zip(1..).for_each(|(entry, number)| entry.number = number);
        // If writing fails, only the record's additions are lost.
        let _ = read::rewrite(self.dir, &entries);
        warning(&unreported)
    }

    /// Enters the directory of each command, and judges the output again where it differs.
    fn place(&self, entries: &mut [LedgerEntry], directories: &[&Path]) {
        let root = self.request.cwd.to_string_lossy();
        let ended = entries.iter_mut().filter(|entry| entry.outcome != CommandOutcome::Unfinished);
        for (at, entry) in ended.enumerate() {
            let directory =
                directories.get(at).map(|directory| directory.to_string_lossy()).unwrap_or_default();
            if directory == entry.directory {
                continue;
            }
            let text = entry.output.map(|span| read::text_in_span(self.dir, span)).unwrap_or_default();
            let printed = Printed { text: &text, is_whole: !entry.output_cut, span: entry.output };
            let status = match entry.outcome {
                CommandOutcome::Refused => ItemStatus::Declined,
                CommandOutcome::Passed | CommandOutcome::Unknown => ItemStatus::Completed,
                CommandOutcome::Failed | CommandOutcome::Unfinished => ItemStatus::Failed,
            };
            let end = CommandEnd {
                number: entry.number,
                item: &entry.item,
                line: &entry.line,
                directory: &directory,
                root: &root,
                started_at: entry.started_at,
                ended_at: entry.ended_at,
                exit_code: entry.exit_code,
                status,
            };
            *entry = judge(&end, printed);
        }
    }

    /// The entry of a command that no event reported; its output is appended to the transcript.
    fn entry(&self, one: &Unreported) -> LedgerEntry {
        let (root, line) = (self.request.cwd.to_string_lossy(), one.command());
        let directory = match one.directory.as_os_str().is_empty() {
            true => self.request.cwd.clone(),
            false => self.request.cwd.join(&one.directory),
        };
        let end = CommandEnd {
            number: 0,
            item: "",
            line: &line,
            directory: &directory.to_string_lossy(),
            root: &root,
            started_at: None,
            ended_at: Some(one.ended_at),
            exit_code: Some(one.exit_code),
            status: ItemStatus::Failed,
        };
        judge(&end, Printed { text: &one.text, is_whole: one.is_whole, span: self.append(one) })
    }

    fn append(&self, one: &Unreported) -> Option<Span> {
        let path = self.dir.transcript();
        let before = std::fs::metadata(&path).ok()?.len();
        let head = format!("{} (Codex has no event of it)\n", transcript_text::command(&one.words));
        let end = if one.text.ends_with('\n') { "" } else { "\n" };
        let whole = format!(
            "{head}{}{end}{}\n",
            one.text,
            transcript_text::ended(ItemStatus::Failed, Some(one.exit_code))
        );
        files::create_log(&path).ok()?.write_all(whole.as_bytes()).ok()?;
        let start = before + head.len() as u64;
        Some(read::span_with_lines(self.dir, start, start + one.text.len() as u64))
            .filter(|_| !one.text.is_empty())
    }
}

/// The directory of each command, up to the first that the record lacks or that differs. A command still
/// running at the end is in the record alone.
fn matched<'a>(marks: &[CommandFingerprint], ran: &'a [RolloutCommand]) -> Vec<&'a Path> {
    let both = marks.iter().zip(ran).take_while(|(mark, ran)| **mark == ran.mark);
    both.map(|(_, ran)| ran.directory.as_path()).collect()
}

/// The warning about commands that the events leave out.
fn warning(unreported: &[Unreported]) -> Option<String> {
    let told = |one: &Unreported| {
        format!("`{}` (exit code {})", plain::line(&one.words, LONGEST_COMMAND), one.exit_code)
    };
    let named: Vec<String> = unreported.iter().take(MOST_NAMED).map(told).collect();
    let what = match unreported.len() {
        0 => return None,
        1 => "a command that failed, as if the sandbox had refused it",
        _ => "commands that failed, as if the sandbox had refused them",
    };
    let more = match unreported.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("Codex has no event of {what}: {}{more}", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agents::testing::request;
    use crate::ledger::test_rollouts::{THREAD, home, home_of, line};
    use crate::model::AgentName;

    fn ran(home: &Path, since: i64) -> Vec<RolloutCommand> {
        let environment = [("CODEX_HOME".to_owned(), home.to_str().unwrap().to_owned())];
        codex_rollout::record(&environment, THREAD, Timestamp::from_millis(since)).unwrap().all
    }

    #[track_caller]
    fn check(ran: &[RolloutCommand], events: &[(&str, i64)], expected: &[&str]) {
        let mark = |(words, code): &(&str, i64)| {
            CommandFingerprint::of(&format!("/bin/bash -lc '{words}'"), Some(*code))
        };
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
        // Commands that the record lacks stay unknown.
        let all = [("make test", 2), ("make test", 0), ("sleep 9", -1), ("ls", 0)];
        check(&ran, &all, &["/a", "/b", "/c"]);
        // From the first difference on, the record is ignored.
        check(&ran, &[("make test", 0), ("make test", 2)], &[]);
        check(&ran, &[("make test", 2), ("make", 0), ("make test", 0)], &["/a"]);
    }

    #[test]
    fn a_record_is_merged_where_it_tells_more_than_the_events() {
        let request = Request { agent: AgentName::Codex, ..request() };
        let root = request.cwd.to_string_lossy().into_owned();
        let merged = |record: &str, commands: &[&str]| {
            let run = tempfile::tempdir().unwrap();
            let dir = RunDir::at(run.path().into());
            let ended = commands.iter().zip(1..).map(|(line, number)| {
                let end = CommandEnd {
                    number,
                    item: "1",
                    line: &format!("/bin/bash -lc '{line}'"),
                    directory: &root,
                    root: &root,
                    started_at: None,
                    ended_at: None,
                    exit_code: Some(0),
                    status: ItemStatus::Completed,
                };
                judge(&end, Printed::default())
            });
            read::rewrite(&dir, &ended.collect::<Vec<_>>()).unwrap();
            std::fs::write(dir.transcript(), "$ make\n").unwrap();
            let (home, _) = home_of(record);
            let environment = [("CODEX_HOME".to_owned(), home.path().to_str().unwrap().to_owned())];
            let (thread, started_at) = (Some(THREAD), Timestamp::from_millis(2));
            let (dir, request, environment) = (&dir, &request, &environment[..]);
            let warned = RolloutMerge { dir, request, environment, thread, started_at }.merge();
            let entries = read::entries(dir);
            let told =
                entries.iter().map(|entry| (entry.directory.clone(), entry.outcome)).collect::<Vec<_>>();
            (told, warned.is_some(), std::fs::read_to_string(dir.transcript()).unwrap())
        };
        let [elsewhere, here] = ["/a", root.as_str()].map(|cwd| line(&("make", 0, cwd, 5)));
        let passed = |directory: &str| (directory.to_owned(), CommandOutcome::Passed);
        assert_eq!(merged("", &["make"]).0, [passed(&root)]);
        assert_eq!(merged(&here, &["make"]).0, [passed(&root)]);
        assert_eq!(merged(&elsewhere, &["make"]).0, [passed("/a")]);
        // The directory of a command that the record lacks is unknown.
        assert_eq!(merged(&elsewhere, &["make", "ls"]).0, [passed("/a"), passed("")]);
        let call = json!({ "type": "function_call", "name": "exec_command", "call_id": "a", "arguments": r#"{"cmd":"make"}"# });
        let output = "Process exited with code 1\nOutput:\nPermission denied\n";
        let answer = json!({ "type": "function_call_output", "call_id": "a", "output": output });
        let written =
            |payload| format!("{}\n", json!({ "timestamp": "2026-11-16T11:00:00Z", "payload": payload }));
        let silent = [written(call), written(answer)].concat();
        let (told, warned, transcript) = merged(&silent, &[]);
        assert!(warned && told == [(root.clone(), CommandOutcome::Failed)], "{told:?}");
        assert_eq!(transcript, "$ make\n$ make (Codex has no event of it)\nPermission denied\n[exit 1]\n");
        // The record has none of the run's commands, so one without an event proves nothing.
        assert!(!merged(&silent, &["make"]).1);
    }
}
