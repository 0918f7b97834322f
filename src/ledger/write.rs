//! Writes a run's transcript and ledger as its events arrive. The ledger has one line for each command that
//! ended.
//!
//! The output depends on the events alone, so recovery can continue where a supervisor stopped. Memory does
//! not grow with what commands print.

use crate::evidence::{CommandEnd, Edits, LedgerEntry, Printed, Refusals, Span, judge};
use crate::ledger::transcript_text;
use crate::model::{Event, ItemStatus, Request, RunningCommand, Timestamp, Usage};
use crate::progress::Reducer;

/// Codex delivers about 1 MiB of a command's output and leaves out the middle.
const MOST_PRINTED: usize = 1_000_000;
/// Agents run only a few commands at once.
const MOST_RUNNING: usize = 64;

/// Receives the transcript's bytes and the ledger's entries.
pub(crate) trait LedgerSink {
    fn transcript(&mut self, bytes: &[u8]);

    fn entry(&mut self, entry: &LedgerEntry);
}

pub(crate) struct LedgerWriter<P> {
    pub(crate) pages: P,
    root: String,
    /// For a resumed thread, its usage before this run: Codex reports the sum.
    before: Option<Option<Usage>>,
    /// Words the activity lines.
    reducer: Reducer,
    number: u64,
    /// The length of the transcript.
    bytes: u64,
    lines: u64,
    running: Vec<RunningCommand>,
    /// The command whose first line was written last, with nothing after it.
    headed: Option<String>,
    told: EditsAndRefusals,
}

/// What the events report besides commands.
#[derive(Debug, Default)]
pub(crate) struct EditsAndRefusals {
    pub(crate) edits: Edits,
    pub(crate) refusals: Refusals,
}

impl<P: LedgerSink> LedgerWriter<P> {
    pub(crate) fn new(request: &Request, pages: P) -> Self {
        let root = request.cwd.to_string_lossy().into_owned();
        let told = EditsAndRefusals { edits: Edits::new(&root), refusals: Refusals::default() };
        Self {
            pages,
            root,
            before: request.resume.as_ref().map(|resumed| resumed.usage_before),
            reducer: Reducer::new(),
            number: 0,
            bytes: 0,
            lines: 0,
            running: Vec::new(),
            headed: None,
            told,
        }
    }

    /// Writes one event. `printed` is a command's output, given at its end; `at` is when the event arrived,
    /// if known.
    pub(crate) fn event(&mut self, event: &Event, printed: Option<&str>, at: Option<Timestamp>) {
        self.told.edits.note(event);
        self.told.refusals.note(event);
        match event {
            Event::CommandStarted { item, command } => self.started(item, command, at),
            Event::CommandEnded { item, command, exit_code, status, .. } => {
                self.ended(item, command, *exit_code, *status, printed.unwrap_or_default(), at);
            }
            other => self.note(other),
        }
    }

    fn note(&mut self, event: &Event) {
        let mut event = event.clone();
        if let (Event::TurnCompleted { usage }, Some(before)) = (&mut event, self.before) {
            *usage = usage.zip(before).and_then(|(total, before)| total.since(before));
        }
        self.reducer.apply(&event, Timestamp::from_millis(0));
        if let Some(line) = transcript_text::line(&event, &self.reducer) {
            self.write(&format!("{line}\n"));
            self.headed = None;
        }
    }

    fn started(&mut self, item: &str, command: &str, at: Option<Timestamp>) {
        if self.running.len() == MOST_RUNNING {
            self.running.remove(0);
        }
        self.running.push(RunningCommand { item: item.to_owned(), command: command.to_owned(), since: at });
        self.head(item, command);
    }

    fn head(&mut self, item: &str, command: &str) {
        self.write(&format!("{}\n", transcript_text::command(command)));
        self.headed = Some(item.to_owned());
    }

    fn ended(
        &mut self,
        item: &str,
        command: &str,
        exit_code: Option<i64>,
        status: ItemStatus,
        text: &str,
        at: Option<Timestamp>,
    ) {
        let known = self.running.iter().position(|running| running.item == item);
        let since = known.and_then(|known| self.running.remove(known).since);
        if self.headed.as_deref() != Some(item) {
            self.head(item, command);
        }
        let span = self.print(text);
        self.write(&format!("{}\n", transcript_text::ended(status, exit_code)));
        self.headed = None;
        let printed = Printed { text, is_whole: text.len() < MOST_PRINTED, span };
        let ran = RunningCommand { item: item.to_owned(), command: command.to_owned(), since };
        self.enter(&ran, at, exit_code, status, printed);
    }

    /// Appends a command's output, ended by a newline, and returns its span.
    fn print(&mut self, text: &str) -> Option<Span> {
        let (start, lines) = (self.bytes, self.lines);
        self.write(text);
        let end = self.bytes;
        if !text.is_empty() && !text.ends_with('\n') {
            self.write("\n");
        }
        (end > start).then(|| Span { start, end, first_line: lines + 1, last_line: self.lines })
    }

    fn write(&mut self, text: &str) {
        self.bytes += text.len() as u64;
        self.lines += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        self.pages.transcript(text.as_bytes());
    }

    fn enter(
        &mut self,
        ran: &RunningCommand,
        ended_at: Option<Timestamp>,
        exit_code: Option<i64>,
        status: ItemStatus,
        printed: Printed<'_>,
    ) {
        self.number += 1;
        let (number, root) = (self.number, self.root.clone());
        let end = CommandEnd {
            number,
            item: &ran.item,
            line: &ran.command,
            directory: &root,
            root: &root,
            started_at: ran.since,
            ended_at,
            exit_code,
            status,
        };
        // A bug triggered by a strange command line costs this entry, not the run.
        let entry = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| judge(&end, printed)));
        if let Ok(entry) = entry {
            self.pages.entry(&entry);
        }
    }

    /// The command that has been running longest, if any.
    pub(crate) fn oldest_running(&self) -> Option<&str> {
        self.running.first().map(|running| running.command.as_str())
    }

    pub(crate) fn running(&self) -> &[RunningCommand] {
        &self.running
    }

    /// Enters unfinished commands at the end of the run.
    pub(crate) fn finish(mut self, at: Option<Timestamp>) -> (P, EditsAndRefusals) {
        for running in std::mem::take(&mut self.running) {
            let printed = Printed { is_whole: true, ..Printed::default() };
            self.enter(&running, at, None, ItemStatus::Running, printed);
        }
        (self.pages, self.told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::testing::request;
    use crate::evidence::CommandOutcome;

    /// Keeps both files in memory.
    #[derive(Debug, Default)]
    struct Kept {
        transcript: String,
        entries: Vec<LedgerEntry>,
    }

    impl LedgerSink for Kept {
        fn transcript(&mut self, bytes: &[u8]) {
            self.transcript.push_str(std::str::from_utf8(bytes).unwrap());
        }

        fn entry(&mut self, entry: &LedgerEntry) {
            self.entries.push(entry.clone());
        }
    }

    fn started(item: &str, command: &str) -> Event {
        Event::CommandStarted { item: item.into(), command: format!("/bin/bash -lc '{command}'") }
    }

    fn ended(item: &str, command: &str, exit_code: i64) -> Event {
        let status = if exit_code == 0 { ItemStatus::Completed } else { ItemStatus::Failed };
        let command = format!("/bin/bash -lc '{command}'");
        Event::CommandEnded {
            item: item.into(),
            command,
            exit_code: Some(exit_code),
            output_bytes: 0,
            status,
        }
    }

    fn write(events: &[(Event, &str)]) -> Kept {
        let mut writer = LedgerWriter::new(&request(), Kept::default());
        for (event, printed) in events {
            writer.event(event, Some(printed), Some(Timestamp::from_millis(5)));
        }
        writer.finish(None).0
    }

    #[test]
    fn a_command_stands_in_the_transcript_with_its_output_and_in_the_ledger_with_its_place() {
        let says = Event::Message { text: "two\nlines".into(), delta: false };
        let kept = write(&[(started("1", "make"), ""), (ended("1", "make", 2), "no\nrule"), (says, "")]);
        assert_eq!(kept.transcript, "$ make\nno\nrule\n[exit 2]\nsays: two lines\n");
        let entry = &kept.entries[0];
        assert_eq!(
            (entry.number, entry.outcome, entry.exit_of.as_deref()),
            (1, CommandOutcome::Failed, Some("make"))
        );
        let span = entry.output.unwrap();
        assert_eq!(&kept.transcript[span.start as usize..span.end as usize], "no\nrule");
        assert_eq!((span.first_line, span.last_line), (2, 3));
    }

    #[test]
    fn commands_that_run_at_once_are_told_apart() {
        let events = [
            (started("1", "a"), ""),
            (started("2", "b"), ""),
            (ended("1", "a", 0), "of a\n"),
            (ended("2", "b", 0), ""),
        ];
        let kept = write(&events);
        assert_eq!(kept.transcript, "$ a\n$ b\n$ a\nof a\n[exit 0]\n$ b\n[exit 0]\n");
        assert_eq!(kept.entries[1].output, None);
    }

    #[test]
    fn what_has_not_ended_is_unfinished() {
        let kept = write(&[(started("1", "make"), "")]);
        assert_eq!(kept.entries[0].outcome, CommandOutcome::Unfinished);
    }
}
